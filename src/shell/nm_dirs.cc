#include "shell/nm_dirs.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "process/nm/layout.h"

namespace fairlead::shell {

namespace fs = std::filesystem;

namespace {
std::string Percent(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", value);
  return text;
}

base::Status MakeOwned(const std::string& path, mode_t mode, const UnixUser* owner) {
  if (::mkdir(path.c_str(), mode) < 0) {
    if (errno == EEXIST) return {};
    return base::Error{"cannot make " + path + ": " + std::strerror(errno), errno};
  }
  ::chmod(path.c_str(), mode);
  if (owner && ::chown(path.c_str(), owner->user, owner->group) < 0)
    return base::Error{"chown " + path + ": " + std::strerror(errno), errno};
  return {};
}
}  // namespace

NmDirs::NmDirs(NmDirsOptions options) : options_(std::move(options)) { Check(); }

std::string NmDirs::WhyBad(const std::string& directory) const {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return "cannot be made: " + error.message();
  const std::string probe = directory + "/.fairlead-probe-" + std::to_string(::getpid());
  if (::mkdir(probe.c_str(), 0700) < 0 && errno != EEXIST)
    return std::string("is not writable: ") + std::strerror(errno);
  ::rmdir(probe.c_str());
  if (!options_.check) return {};
  struct statvfs info {};
  if (::statvfs(directory.c_str(), &info) < 0) return std::strerror(errno);
  const double total = static_cast<double>(info.f_blocks) * static_cast<double>(info.f_frsize);
  const double free = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
  if (total > 0 && 100.0 * (total - free) / total > options_.max_utilization)
    return "used space above threshold of " + Percent(options_.max_utilization);
  if (free < static_cast<double>(options_.min_free_mib) * (1 << 20))
    return "free space below limit of " + std::to_string(options_.min_free_mib) + "MB";
  return {};
}

bool NmDirs::Check() {
  const std::vector<std::string> local_before = good_local_, logs_before = good_logs_;
  good_local_.clear();
  good_logs_.clear();
  bad_.clear();
  for (const std::string& directory : options_.local) {
    const std::string why = WhyBad(directory);
    if (!why.empty()) {
      bad_.push_back(directory + " : " + why);
      continue;
    }
    base::Status made = MakeOwned(directory + "/filecache", 0755, nullptr);
    if (made) made = MakeOwned(directory + "/usercache", 0755, nullptr);
    if (made) made = MakeOwned(directory + "/" + process::nm::kPrivateDir, 0700, nullptr);
    if (made) {
      good_local_.push_back(directory);
    } else {
      bad_.push_back(directory + " : " + made.error().message);
    }
  }
  for (const std::string& directory : options_.logs) {
    const std::string why = WhyBad(directory);
    if (why.empty()) {
      good_logs_.push_back(directory);
    } else {
      bad_.push_back(directory + " : " + why);
    }
  }
  return good_local_ != local_before || good_logs_ != logs_before;
}

bool NmDirs::healthy() const {
  const auto enough = [&](const std::vector<std::string>& good, const std::vector<std::string>& all) {
    return !good.empty() && static_cast<double>(good.size()) >= options_.min_healthy * static_cast<double>(all.size());
  };
  return enough(good_local_, options_.local) && enough(good_logs_, options_.logs);
}

std::string NmDirs::Report() const {
  if (bad_.empty()) return {};
  const auto part = [](size_t good, size_t all, const char* what) {
    return std::to_string(all - good) + "/" + std::to_string(all) + " " + what + " are bad";
  };
  std::string text = part(good_local_.size(), options_.local.size(), "local-dirs") + ", " +
                     part(good_logs_.size(), options_.logs.size(), "log-dirs") + ": [ ";
  for (size_t i = 0; i < bad_.size(); ++i) text += (i == 0 ? "" : ", ") + bad_[i];
  return text + " ]";
}

std::string NmDirs::PickLocal() {
  std::string best;
  uint64_t most = 0;
  for (const std::string& directory : good_local_) {
    struct statvfs info {};
    if (::statvfs(directory.c_str(), &info) < 0) continue;
    const uint64_t free = static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
    if (best.empty() || free > most) {
      best = directory;
      most = free;
    }
  }
  return best;
}

base::Status NmDirs::MakeAppDirs(const std::string& user, const model::ApplicationId& app) {
  UnixUser unix_user;
  const UnixUser* owner = nullptr;
  if (options_.run_as.switch_user) {
    base::Result<UnixUser> found = FindUnixUser(options_.run_as.NameFor(user));
    if (!found) return found.error();
    unix_user = std::move(*found);
    owner = &unix_user;
  }
  for (const std::string& local : good_local_) {
    const std::string user_dir = process::nm::UserDir(local, user);
    for (const auto& [path, mode] : {std::pair{user_dir, mode_t{0750}},
                                     {user_dir + "/appcache", mode_t{0710}},
                                     {user_dir + "/filecache", mode_t{0710}},
                                     {process::nm::AppDir(local, user, app), mode_t{0710}}}) {
      if (base::Status made = MakeOwned(path, mode, owner); !made) return made;
    }
  }
  for (const std::string& logs : good_logs_) {
    if (base::Status made = MakeOwned(process::nm::AppLogDir(logs, app), 0710, owner); !made) return made;
  }
  return {};
}

}  // namespace fairlead::shell
