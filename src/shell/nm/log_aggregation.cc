#include "shell/nm/log_aggregation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <regex>

#include "base/bytes.h"
#include "process/nm/layout.h"
#include "shell/nm/tfile.h"

namespace fairlead::shell {

namespace {

namespace fs = std::filesystem;
using process::nm::AggregationPlan;

constexpr size_t kCopyBytes = 1 << 18;
constexpr size_t kPatternBytesMax = 1024;

/// Whether the pattern is found in the name (java.util.regex.Matcher.find); a pattern that cannot be read takes all.
bool Found(const std::string& pattern, const std::string& name, bool otherwise) {
  if (pattern.empty() || pattern.size() > kPatternBytesMax) return otherwise;
  try {
    return std::regex_search(name, std::regex(pattern, std::regex::ECMAScript));
  } catch (const std::regex_error&) {
    return otherwise;
  }
}

/// Log files of each container, from all log directories, by container and name.
std::map<std::string, std::vector<fs::path>> FindLogs(const AggregationPlan& plan) {
  std::map<std::string, std::vector<fs::path>> found;
  std::error_code error;
  for (const std::string& logs : plan.log_dirs) {
    for (const fs::directory_entry& container : fs::directory_iterator(process::nm::AppLogDir(logs, plan.app), error)) {
      const std::string id = container.path().filename();
      if (!model::ParseContainerId(id) || container.is_symlink()) continue;
      for (const fs::directory_entry& file : fs::directory_iterator(container.path(), error)) {
        const std::string name = file.path().filename();
        if (file.is_symlink() || !file.is_regular_file()) continue;
        if (!Found(plan.include, name, true) || Found(plan.exclude, name, false)) continue;
        found[id].push_back(file.path());
      }
    }
  }
  for (auto& [id, files] : found) std::sort(files.begin(), files.end());
  return found;
}

std::string Utf(std::string_view text) {
  std::string out;
  TFileWriter::PutUtf(out, text);
  return out;
}

/// One log: its name, its length as text, its bytes; exactly so many as its length says, though it may still grow.
base::Status AppendLog(TFileWriter& writer, const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) < 0) {
    if (fd >= 0) ::close(fd);
    return {};  // gone or unreadable: left out, as Hadoop does
  }
  int64_t left = info.st_size;
  base::Status status = writer.ValueBytes(Utf(path.filename().string()) + Utf(std::to_string(left)));
  std::string buffer(kCopyBytes, '\0');
  while (status && left > 0) {
    const ssize_t n = ::read(fd, buffer.data(), std::min<size_t>(buffer.size(), static_cast<size_t>(left)));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {  // cut meanwhile: the announced length must be kept
      buffer.assign(std::min<size_t>(kCopyBytes, static_cast<size_t>(left)), '\0');
      status = writer.ValueBytes(buffer);
      left -= static_cast<int64_t>(buffer.size());
      continue;
    }
    status = writer.ValueBytes(std::string_view(buffer.data(), static_cast<size_t>(n)));
    left -= n;
  }
  ::close(fd);
  return status;
}

base::Status WriteAll(TFileWriter& writer, const AggregationPlan& plan,
                      const std::map<std::string, std::vector<fs::path>>& logs) {
  std::string version, acls;
  base::ByteWriter(version).U32(1);
  if (!plan.view_acl.empty()) acls += Utf("VIEW_APP") + Utf(plan.view_acl);
  if (!plan.modify_acl.empty()) acls += Utf("MODIFY_APP") + Utf(plan.modify_acl);
  base::Status status = writer.Begin();
  if (status) status = writer.Append(Utf("VERSION"), version);
  if (status) status = writer.Append(Utf("APPLICATION_ACL"), acls);
  if (status) status = writer.Append(Utf("APPLICATION_OWNER"), Utf(plan.user));
  for (const auto& [id, files] : logs) {
    if (status) status = writer.BeginValue(Utf(id));
    for (const fs::path& file : files) {
      if (status) status = AppendLog(writer, file);
    }
    if (status) status = writer.EndValue();
  }
  return status ? writer.Finish() : status;
}

class Aggregator final : public process::nm::LogAggregator {
 public:
  Aggregator(env::Loop& loop, LogAggregationOptions options) : loop_(loop), options_(std::move(options)) {}
  void Aggregate(AggregationPlan plan, std::function<void(std::string)> done) override {
    const auto error = std::make_shared<std::string>();
    loop_.Offload([plan = std::move(plan), options = options_, error] { *error = AggregateLogs(plan, options); },
                  [done = std::move(done), error] { done(*error); });
  }

 private:
  env::Loop& loop_;
  const LogAggregationOptions options_;
};

}  // namespace

std::string AggregateLogs(const AggregationPlan& plan, const LogAggregationOptions& options) {
  if (!process::nm::IsPlainName(plan.user)) return "the user name cannot be used as a directory name";
  const std::map<std::string, std::vector<fs::path>> logs = FindLogs(plan);
  if (logs.empty()) return {};
  char bucket[16];
  std::snprintf(bucket, sizeof bucket, "%04d", plan.app.number % 10000);
  std::error_code error;
  fs::create_directories(options.root, error);
  std::string directory = options.root;
  for (const std::string& part :
       {plan.user, "bucket-" + options.suffix + "-tfile", std::string(bucket), model::ToString(plan.app)}) {
    directory += "/" + part;
    if (::mkdir(directory.c_str(), 0770) == 0) {
      ::chmod(directory.c_str(), 0770);
    } else if (errno != EEXIST) {
      return "cannot make " + directory + ": " + std::strerror(errno);
    }
  }
  const std::string target = directory + "/" + plan.node;
  const std::string temporary = target + ".tmp";
  ::unlink(temporary.c_str());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
  if (fd < 0) return "cannot write " + temporary + ": " + std::strerror(errno);
  TFileWriter writer([fd, &temporary](std::string_view bytes) -> base::Status {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return base::Error{"cannot write " + temporary + ": " + std::strerror(errno)};
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return {};
  });
  const base::Status written = WriteAll(writer, plan, logs);
  ::close(fd);
  if (!written) {
    ::unlink(temporary.c_str());
    return written.error().message;
  }
  if (::rename(temporary.c_str(), target.c_str()) < 0)
    return "cannot rename " + temporary + ": " + std::strerror(errno);
  return {};
}

std::unique_ptr<process::nm::LogAggregator> MakeLogAggregator(env::Loop& loop, LogAggregationOptions options) {
  return std::make_unique<Aggregator>(loop, std::move(options));
}

}  // namespace fairlead::shell
