#include "shell/nm/dirs.h"

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

bool NmDirs::IsGood(const std::string& directory, Troubles& troubles) const {
  const auto bad = [&](std::vector<std::string>& kind, const std::string& why) {
    kind.push_back(directory + " : " + why);
    return false;
  };
  std::error_code error;
  fs::create_directories(directory, error);
  if (!fs::is_directory(directory)) {
    return bad(troubles.errors,
               (fs::exists(directory) ? "Not a directory: " : "Cannot create directory: ") + directory);
  }
  const std::string probe = directory + "/.fairlead-probe-" + std::to_string(::getpid());
  const bool made = ::mkdir(probe.c_str(), 0700) == 0 || errno == EEXIST;
  const int why = errno;
  ::rmdir(probe.c_str());
  // Space is looked at first: on a full disk nothing can be made either, and that is not the disk's error.
  struct statvfs info {};
  if (::statvfs(directory.c_str(), &info) < 0) return bad(troubles.errors, std::strerror(errno));
  const double total = static_cast<double>(info.f_blocks) * static_cast<double>(info.f_frsize);
  const double free = static_cast<double>(info.f_bavail) * static_cast<double>(info.f_frsize);
  if (options_.check && total > 0 && 100.0 * (total - free) / total > options_.max_utilization)
    return bad(troubles.full, "used space above threshold of " + Percent(options_.max_utilization));
  if (options_.check && free < static_cast<double>(options_.min_free_mib) * (1 << 20))
    return bad(troubles.full, "free space below limit of " + std::to_string(options_.min_free_mib) + "MB");
  if (!made) return bad(troubles.errors, "Directory is not writable: " + directory + " (" + std::strerror(why) + ")");
  return true;
}

bool NmDirs::Check() {
  const std::vector<std::string> local_before = good_local_, logs_before = good_logs_;
  good_local_.clear();
  good_logs_.clear();
  local_troubles_ = {};
  log_troubles_ = {};
  for (const std::string& directory : options_.local) {
    if (!IsGood(directory, local_troubles_)) continue;
    base::Status made = MakeOwned(directory + "/filecache", 0755, nullptr);
    if (made) made = MakeOwned(directory + "/usercache", 0755, nullptr);
    if (made) made = MakeOwned(directory + "/" + process::nm::kPrivateDir, 0700, nullptr);
    if (made) {
      good_local_.push_back(directory);
    } else {
      local_troubles_.errors.push_back(directory + " : " + made.error().message);
    }
  }
  for (const std::string& directory : options_.logs) {
    if (IsGood(directory, log_troubles_)) good_logs_.push_back(directory);
  }
  return good_local_ != local_before || good_logs_ != logs_before;
}

bool NmDirs::healthy() const {
  const auto enough = [&](const std::vector<std::string>& good, const std::vector<std::string>& all) {
    return !good.empty() && static_cast<double>(good.size()) >= options_.min_healthy * static_cast<double>(all.size());
  };
  return enough(good_local_, options_.local) && enough(good_logs_, options_.logs);
}

// LocalDirsHandlerService.getDisksHealthReport, its uneven spaces and separators included.
std::string NmDirs::Report() const {
  std::string text;
  const auto tell = [&](const std::vector<std::string>& bad, size_t all, const char* what, const char* end) {
    if (bad.empty()) return;
    text += std::to_string(bad.size()) + "/" + std::to_string(all) + what + " [ ";
    for (size_t i = 0; i < bad.size(); ++i) text += (i == 0 ? "" : " , ") + bad[i];
    text += std::string(" ] ") + end;
  };
  constexpr const char* kLocalFull =
      " local-dirs usable space is below configured utilization percentage/no more usable space";
  constexpr const char* kLogsFull =
      " log-dirs usable space is below configured utilization percentage/no more usable space";
  tell(local_troubles_.errors, options_.local.size(), " local-dirs have errors: ", "");
  tell(local_troubles_.full, options_.local.size(), kLocalFull, "; ");
  tell(log_troubles_.errors, options_.logs.size(), " log-dirs have errors: ", "");
  tell(log_troubles_.full, options_.logs.size(), kLogsFull, "");
  return text;
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
