#include "shell/nm/localizer.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <deque>
#include <filesystem>
#include <mutex>
#include <regex>
#include <thread>
#include <vector>

#include "process/nm/layout.h"
#include "shell/nm/files_as.h"
#include "shell/nm/localizer_archive.h"
#include "shell/nm/localizer_web.h"

namespace fairlead::shell {

namespace {

namespace fs = std::filesystem;
using model::nm::ResourceType;
using model::nm::Visibility;
using process::nm::Fetched;
using process::nm::FetchPlan;

constexpr size_t kPatternBytesMax = 1024;
constexpr size_t kEntryNameBytesMax = 1024;

base::Error Errno(const std::string& what) { return {what + ": " + std::strerror(errno), errno}; }

/// "2026-01-31T12:34:56.789+0000", as Hadoop's Times.formatISO8601 in UTC.
std::string Iso8601(int64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms >= 0 ? ms / 1000 : (ms - 999) / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03d+0000", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>(((ms % 1000) + 1000) % 1000));
  return text;
}

/// scheme://authority/path, or a bare path.
struct Url {
  std::string scheme;
  std::string authority;
  std::string path;
};
Url ParseUrl(const std::string& text) {
  Url url;
  const size_t colon = text.find(':');
  if (colon == std::string::npos || text.front() == '/') return {"file", "", text};
  url.scheme = text.substr(0, colon);
  std::string rest = text.substr(colon + 1);
  if (rest.starts_with("//")) {
    const size_t slash = rest.find('/', 2);
    url.authority = rest.substr(2, slash == std::string::npos ? std::string::npos : slash - 2);
    rest = slash == std::string::npos ? "/" : rest.substr(slash);
  }
  url.path = rest;
  return url;
}

int64_t ModifiedMs(const struct stat& info) { return info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000; }

/// Everybody may read the file and pass through all its directories.
bool IsPublic(const std::string& path, const struct stat& info) {
  const mode_t wanted = S_ISDIR(info.st_mode) ? 0005 : 0004;
  if ((info.st_mode & wanted) != wanted) return false;
  for (fs::path parent = fs::path(path).parent_path();; parent = parent.parent_path()) {
    struct stat above {};
    if (::stat(parent.c_str(), &above) < 0 || (above.st_mode & 0001) == 0) return false;
    if (parent == parent.parent_path()) return true;
  }
}

base::Status CopyFile(const std::string& from, const std::string& to, int64_t bytes_max) {
  const int in = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (in < 0) return Errno("cannot read " + from);
  const int out = ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (out < 0) {
    const base::Error error = Errno("cannot write " + to);
    ::close(in);
    return error;
  }
  base::Status status;
  for (int64_t total = 0;;) {
    const ssize_t n = ::copy_file_range(in, nullptr, out, nullptr, size_t{64} << 20, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)) {
      ssize_t sent = 0;
      while ((sent = ::sendfile(out, in, nullptr, size_t{64} << 20)) > 0) total += sent;
      if (sent < 0) status = Errno("cannot copy " + from);
      break;
    }
    if (n < 0) status = Errno("cannot copy " + from);
    if (n <= 0) break;
    total += n;
    if (total > bytes_max) {
      status = base::Error{from + " is larger than " + std::to_string(bytes_max) + " bytes"};
      break;
    }
  }
  ::close(in);
  ::close(out);
  return status;
}

base::Status CopyTree(const std::string& from, const std::string& to, const LocalizerLimits& limits) {
  std::error_code error;
  if (!fs::create_directory(to, error)) return base::Error{"cannot make " + to + ": " + error.message()};
  for (const fs::directory_entry& entry : fs::directory_iterator(from, error)) {
    const std::string target = to + "/" + entry.path().filename().string();
    base::Status copied;
    if (entry.is_directory()) {
      copied = CopyTree(entry.path(), target, limits);
    } else if (entry.is_regular_file()) {
      copied = CopyFile(entry.path(), target, limits.bytes_max);
    }
    if (!copied) return copied;
  }
  if (error) return base::Error{"cannot read " + from + ": " + error.message()};
  return {};
}

/// 0755/0555 for everybody, 0700/0500 for one user, as FSDownload.changePermissions; adds up the sizes.
int64_t SettlePermissions(const std::string& path, bool is_public) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) < 0 || S_ISLNK(info.st_mode)) return 0;
  if (!S_ISDIR(info.st_mode)) {
    ::chmod(path.c_str(), is_public ? 0555 : 0500);
    return info.st_size;
  }
  ::chmod(path.c_str(), is_public ? 0755 : 0700);
  int64_t bytes = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    bytes += SettlePermissions(entry.path(), is_public);
  }
  return bytes;
}

/// What to do with the file at `copy`, which is to become `target` (FSDownload.unpack).
base::Status Settle(const FetchPlan& plan, const std::string& copy, const std::string& target,
                    const LocalizerLimits& limits) {
  const model::nm::LocalResource& resource = plan.resource;
  const std::string name = fs::path(target).filename();
  if (resource.type == ResourceType::kFile || !IsArchiveName(name) || fs::is_directory(copy)) {
    std::error_code error;
    fs::rename(copy, target, error);
    if (error) return base::Error{"cannot rename " + copy + ": " + error.message()};
    return {};
  }
  std::error_code error;
  fs::create_directory(target, error);
  const bool by_pattern = resource.type == ResourceType::kPattern && name.ends_with(".jar");
  if (!by_pattern) {
    if (base::Status unpacked = Unpack(copy, target, limits); !unpacked) return unpacked;
    fs::remove(copy, error);
    return {};
  }
  if (resource.pattern.size() > kPatternBytesMax) return base::Error{"the resource's pattern is too long"};
  try {
    const std::regex wanted(resource.pattern.empty() ? ".*" : resource.pattern, std::regex::ECMAScript);
    const auto matches = [&](const std::string& entry) {
      return entry.size() <= kEntryNameBytesMax && std::regex_match(entry, wanted);
    };
    if (base::Status unpacked = Unpack(copy, target, limits, matches); !unpacked) return unpacked;
  } catch (const std::regex_error& e) {
    return base::Error{"the resource's pattern " + resource.pattern + " cannot be read: " + e.what()};
  }
  fs::rename(copy, target + "/" + name, error);
  if (error) return base::Error{"cannot rename " + copy + ": " + error.message()};
  return {};
}

base::Status CheckLocalSource(const model::nm::LocalResource& resource, const std::string& path, base::WallTime now) {
  struct stat info {};
  if (::stat(path.c_str(), &info) < 0) {
    if (errno == ENOENT) return base::Error{"File file:" + path + " does not exist", ENOENT};
    return Errno("file:" + path);
  }
  const int64_t modified = ModifiedMs(info);
  const bool whole_seconds = resource.timestamp_ms % 1000 == 0 && modified / 1000 == resource.timestamp_ms / 1000;
  if (modified != resource.timestamp_ms && !whole_seconds) {
    return base::Error{"Resource file:" + path + " changed on src filesystem - expected: \"" +
                       Iso8601(resource.timestamp_ms) + "\", was: \"" + Iso8601(modified) + "\", current time: \"" +
                       Iso8601(now.ms) + "\""};
  }
  if (resource.visibility == Visibility::kPublic && !IsPublic(path, info)) {
    return base::Error{"Resource file:" + path +
                       " is not publicly accessible and as such cannot be part of the public cache."};
  }
  return {};
}

/// Hadoop's exception for an error.
std::string Thrown(const base::Error& error) {
  switch (error.code) {
    case ENOENT:
      return "java.io.FileNotFoundException: " + error.message;
    case EPROTONOSUPPORT:
      return "org.apache.hadoop.fs.UnsupportedFileSystemException: " + error.message;
    default:
      return "java.io.IOException: " + error.message;
  }
}

/// As SerializedException.toString() prints an exception, without the frames of its trace.
Fetched Failure(const base::Error& error) {
  const std::string thrown = Thrown(error);
  return {{}, 0, error.message + "\n" + thrown + "\n", thrown};
}

/// What fails after the checks FSDownload wraps twice: in a YarnException, and, where it acts as the user, in what doAs
/// throws. Each prints the causes in its trace, and they follow once more.
Fetched UnpackFailure(const base::Error& error) {
  const std::string message = "Download and unpack failed";
  const std::string thrown = "org.apache.hadoop.yarn.exceptions.YarnException: " + message;
  const std::string cause = "Caused by: " + Thrown(error) + "\n";
  return {{},
          0,
          "\njava.lang.reflect.UndeclaredThrowableException\nCaused by: " + thrown + "\n" + cause +
              "Caused by: " + message + "\n" + thrown + "\n" + cause + "Caused by: " + Failure(error).error,
          thrown};
}

base::Result<std::string, Fetched> Bring(const FetchPlan& plan, const LocalizerOptions& options, base::WallTime now) {
  const Url url = ParseUrl(plan.resource.url);
  const std::string name = fs::path(url.path).filename();
  if (!process::nm::IsPlainName(name)) return Failure({"the resource " + plan.resource.url + " has no file name"});
  const std::string copy = plan.directory + "/." + name + ".part";
  const std::string target = plan.directory + "/" + name;
  if (url.scheme == "file") {
    if (base::Status good = CheckLocalSource(plan.resource, url.path, now); !good) return Failure(good.error());
    const base::Status copied = fs::is_directory(url.path) ? CopyTree(url.path, copy, options.limits)
                                                           : CopyFile(url.path, copy, options.limits.bytes_max);
    if (!copied) return UnpackFailure(copied.error());
  } else {
    const base::Status fetched = FetchFromWeb({url.scheme, url.authority, url.path, plan.user, options.web_address},
                                              plan.resource, copy, options.limits.bytes_max);
    if (!fetched) return Failure(fetched.error());
  }
  if (base::Status settled = Settle(plan, copy, target, options.limits); !settled)
    return UnpackFailure(settled.error());
  return target;
}

class Pool : public process::nm::Localizer {
 public:
  Pool(env::Loop& loop, LocalizerOptions options) : loop_(loop), options_(std::move(options)) {
    for (int i = 0; i < std::max(1, options_.threads); ++i) threads_.emplace_back([this] { Run(); });
  }
  ~Pool() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  void Fetch(FetchPlan plan, std::function<void(Fetched)> done) override {
    const base::WallTime now = loop_.Wall();
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back([this, plan = std::move(plan), done = std::move(done), now] {
        loop_.Post([done, fetched = FetchResource(plan, options_, now)] { done(fetched); });
      });
    }
    wake_.notify_one();
  }

 private:
  void Run() {
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
        if (stop_) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job();
    }
  }

  env::Loop& loop_;
  const LocalizerOptions options_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::deque<std::function<void()>> jobs_;
  std::vector<std::thread> threads_;
};

/// Makes the resource's directory and those above it that belong to its user.
base::Status MakeResourceDirectory(const FetchPlan& plan, const UnixUser* owner) {
  std::error_code error;
  const fs::path directory(plan.directory);
  fs::create_directories(directory.parent_path(), error);
  if (error) return base::Error{"cannot make " + plan.directory + ": " + error.message()};
  fs::remove_all(directory, error);  // a leftover of a run that did not end
  const bool is_public = plan.resource.visibility == Visibility::kPublic;
  if (::mkdir(directory.c_str(), is_public ? 0755 : 0700) < 0) return Errno("cannot make " + plan.directory);
  ::chmod(directory.c_str(), is_public ? 0755 : 0700);
  if (!owner) return {};
  for (const fs::path& path : {directory, directory.parent_path()}) {
    if (::chown(path.c_str(), owner->user, owner->group) < 0) return Errno("chown " + path.string());
  }
  return {};
}

}  // namespace

Fetched FetchResource(const FetchPlan& plan, const LocalizerOptions& options, base::WallTime now) {
  const auto fail = [&](Fetched failure) {
    std::error_code ignored;
    fs::remove_all(plan.directory, ignored);
    return failure;
  };
  UnixUser user;
  const UnixUser* owner = nullptr;
  if (options.run_as.switch_user && plan.resource.visibility != Visibility::kPublic) {
    base::Result<UnixUser> found = FindUnixUser(options.run_as.NameFor(plan.user));
    if (!found) return fail(Failure(found.error()));
    user = std::move(*found);
    owner = &user;
  }
  if (base::Status made = MakeResourceDirectory(plan, owner); !made) return fail(Failure(made.error()));
  base::Result<std::string, Fetched> brought = Fetched{};
  int64_t bytes = 0;
  {
    const FilesAs acting(owner);
    brought = Bring(plan, options, now);
    if (brought) bytes = SettlePermissions(*brought, plan.resource.visibility == Visibility::kPublic);
  }
  if (!brought) return fail(brought.error());
  return {*brought, bytes, {}, {}};
}

std::unique_ptr<process::nm::Localizer> MakeLocalizer(env::Loop& loop, LocalizerOptions options) {
  return std::make_unique<Pool>(loop, std::move(options));
}

}  // namespace fairlead::shell
