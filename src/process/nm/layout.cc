#include "process/nm/layout.h"

namespace fairlead::process::nm {

namespace {
bool HasControl(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return true;
  }
  return false;
}
}  // namespace

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
         name.find('/') == std::string_view::npos && !HasControl(name);
}

bool IsPlainLink(std::string_view link) {
  if (link.empty() || link.size() > 4096 || link.front() == '/' || HasControl(link)) return false;
  while (!link.empty()) {
    const size_t slash = link.find('/');
    const std::string_view part = link.substr(0, slash);
    if (part == "..") return false;
    if (slash == std::string_view::npos) return true;
    link.remove_prefix(slash + 1);
  }
  return true;
}

std::string UserDir(const std::string& local, const std::string& user) { return local + "/usercache/" + user; }

std::string AppDir(const std::string& local, const std::string& user, const model::ApplicationId& app) {
  return UserDir(local, user) + "/appcache/" + model::ToString(app);
}

std::string WorkDir(const std::string& local, const std::string& user, const model::ContainerId& container) {
  return AppDir(local, user, container.attempt.app) + "/" + model::ToString(container);
}

std::string PrivateAppDir(const std::string& local, const model::ApplicationId& app) {
  return local + "/" + kPrivateDir + "/" + model::ToString(app);
}

std::string AppLogDir(const std::string& logs, const model::ApplicationId& app) {
  return logs + "/" + model::ToString(app);
}

std::string LogDir(const std::string& logs, const model::ContainerId& container) {
  return AppLogDir(logs, container.attempt.app) + "/" + model::ToString(container);
}

std::string ResourceDir(const std::string& local, model::nm::Visibility visibility, const std::string& user,
                        const model::ApplicationId& app, model::nm::ResourceNumber number) {
  const std::string leaf = "/filecache/" + std::to_string(number);
  switch (visibility) {
    case model::nm::Visibility::kPublic:
      return local + leaf;
    case model::nm::Visibility::kPrivate:
      return UserDir(local, user) + leaf;
    case model::nm::Visibility::kApplication:
      return AppDir(local, user, app) + leaf;
  }
  return local + leaf;
}

}  // namespace fairlead::process::nm
