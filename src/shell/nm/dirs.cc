#include "shell/nm/dirs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "process/nm/layout.h"
#include "shell/nm/beneath.h"

namespace fairlead::shell {

namespace {
std::string Percent(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f%%", value);
  return text;
}

/// The directory below which all is one account's (process/nm/layout.h): usercache/USER, filecache/NUMBER, and of the
/// log directories' the application's.
std::string TopOf(const std::string& below) {
  const bool two = below.starts_with("usercache/") || below.starts_with("filecache/");
  const size_t first = below.find('/');
  return below.substr(0, two ? below.find('/', first + 1) : first);
}
}  // namespace

NmDirs::NmDirs(NmDirsOptions options) : options_(std::move(options)) { Check(); }

bool NmDirs::IsGood(const std::string& directory, Troubles& troubles) const {
  const auto bad = [&](std::vector<std::string>& kind, const std::string& why) {
    kind.push_back(directory + " : " + why);
    return false;
  };
  if (options_.run_as.switch_user) {
    const UnixUser& agent = options_.run_as.agent;
    if (base::Status safe = CheckRootIsSafe(directory, agent.user, agent.group); !safe)
      return bad(troubles.errors, safe.error().message);
  }
  const base::Status there = MakeRoot(directory, 0755);
  const base::Result<Fd> root = OpenRoot(directory);
  if (!root) {
    const bool is_file = root.error().code == ENOTDIR;
    return bad(troubles.errors, is_file ? "Not a directory: " + directory
                                        : "Cannot create directory: " + directory + " (" +
                                              (there ? root.error() : there.error()).message + ")");
  }
  const std::string probe = ".fairlead-probe-" + std::to_string(::getpid());
  const bool made = ::mkdirat(root->get(), probe.c_str(), 0700) == 0 || errno == EEXIST;
  const int why = errno;
  ::unlinkat(root->get(), probe.c_str(), AT_REMOVEDIR);
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
    base::Status made;
    for (const auto& [name, mode] : {std::pair{"filecache", mode_t{0755}},
                                     {"usercache", mode_t{0755}},
                                     {process::nm::kPrivateDir, mode_t{0700}}}) {
      if (made) made = MakeRoot(directory + "/" + name, mode);
    }
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

Place NmDirs::PlaceOf(const std::string& path) const {
  for (const auto* roots : {&options_.local, &options_.logs}) {
    for (const std::string& root : *roots) {
      const std::string below = Below(root, path);
      if (!below.empty()) return {root, below};
    }
  }
  return {};
}

// What lies in a directory of the agent's may be the agent's, too (nmPrivate), or a user's, who has emptied it.
base::Status NmDirs::RemoveOwn(const Place& place) {
  const size_t slash = place.below.rfind('/');
  const base::Result<Fd> root = OpenRoot(place.root);
  if (!root) return {};  // a disk that is gone holds nothing
  const base::Result<Fd> holder =
      OpenDirectory(root->get(), slash == std::string::npos ? "" : place.below.substr(0, slash));
  if (!holder) return {};
  const std::string name = place.below.substr(slash == std::string::npos ? 0 : slash + 1);
  if (::unlinkat(holder->get(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  return ErrnoOf("cannot remove " + place.root + "/" + place.below);
}

void NmDirs::Remove(std::vector<std::string> paths, std::function<void(std::vector<std::string>)> done) {
  struct Open {
    std::vector<std::string> errors;
    size_t left = 1;
    std::function<void(std::vector<std::string>)> done;
  };
  const auto open = std::make_shared<Open>();
  open->done = std::move(done);
  const auto one_less = [open] {
    if (--open->left == 0) open->done(std::move(open->errors));
  };
  for (const std::string& path : paths) {
    const Place place = PlaceOf(path);
    if (place.below.empty()) {
      open->errors.push_back(path + " lies in no directory of this node");
      continue;
    }
    const std::string top = TopOf(place.below);
    Order order;
    order.tops = {{place.root, top, 0}};
    ++open->left;
    const RemoveErrand errand{{place}, top == place.below};
    errands_->RunOn(*loop_, "remove " + top, std::move(order), errand,
                    [open, one_less, place, emptied = errand.contents_only](const base::Result<std::string>& result) {
                      const bool gone = !result && result.error().code == ENOENT;
                      if (!result && !gone) open->errors.push_back(place.below + ": " + result.error().message);
                      const base::Status removed = result && emptied ? RemoveOwn(place) : base::Status();
                      if (!removed) open->errors.push_back(removed.error().message);
                      one_less();
                    });
  }
  loop_->Post(one_less);
}

}  // namespace fairlead::shell
