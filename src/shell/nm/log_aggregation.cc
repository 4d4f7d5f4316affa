#include "shell/nm/log_aggregation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>

#include "base/bytes.h"
#include "process/nm/layout.h"
#include "shell/nm/beneath.h"
#include "shell/nm/pattern.h"
#include "shell/nm/tfile.h"
#include "shell/nm/web_hdfs.h"

namespace fairlead::shell {

namespace {

using process::nm::AggregationPlan;

constexpr size_t kCopyBytes = 1 << 18;
constexpr size_t kFilesMax = 10'000;        // of one container
constexpr size_t kContainersMax = 100'000;  // of one application

/// A pattern of the application's; one that cannot be read, or is not given, decides nothing.
std::optional<Pattern> ReadPattern(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const base::Result<Pattern> pattern = Pattern::Read(text);
  return pattern ? std::optional(*pattern) : std::nullopt;
}

struct LogSource {
  std::string name;
  Fd directory;  // of its container
};

/// Log files of each container, from all log directories, by container and name. Regular files alone, without links.
std::map<std::string, std::vector<LogSource>> FindLogs(const AggregationPlan& plan) {
  const std::optional<Pattern> include = ReadPattern(plan.include), exclude = ReadPattern(plan.exclude);
  std::map<std::string, std::vector<LogSource>> found;
  for (const std::string& logs : plan.log_dirs) {
    const base::Result<Fd> root = OpenRoot(logs);
    const base::Result<Fd> app = root ? OpenDirectory(root->get(), model::ToString(plan.app)) : root.error();
    const auto containers = app ? List(app->get(), kContainersMax) : app.error();
    if (!containers) continue;
    for (const DirectoryEntry& container : *containers) {
      if (!model::ParseContainerId(container.name)) continue;
      const base::Result<Fd> directory = OpenDirectory(app->get(), container.name);
      const auto files = directory ? List(directory->get(), kFilesMax) : directory.error();
      if (!files) continue;
      for (const DirectoryEntry& file : *files) {
        if (!S_ISREG(file.info.st_mode)) continue;
        if ((include && !include->IsFoundIn(file.name)) || (exclude && exclude->IsFoundIn(file.name))) continue;
        base::Result<Fd> again = OpenDirectory(directory->get(), "");
        if (again) found[container.name].push_back({file.name, std::move(*again)});
      }
    }
  }
  for (auto& [id, files] : found)
    std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return found;
}

std::string Utf(std::string_view text) {
  std::string out;
  TFileWriter::PutUtf(out, text);
  return out;
}

/// One log: its name, its length as text, its bytes; exactly so many as its length says, though it may still grow.
base::Status AppendLog(TFileWriter& writer, const LogSource& source) {
  const base::Result<Fd> file = OpenRegular(source.directory.get(), source.name);
  struct stat info {};
  if (!file || ::fstat(file->get(), &info) < 0) return {};  // gone or unreadable: left out, as Hadoop does
  base::Status status = writer.ValueBytes(Utf(source.name) + Utf(std::to_string(info.st_size)));
  for (int64_t at = 0; status && at < info.st_size;) {
    const int64_t end = std::min<int64_t>(at + kCopyBytes, info.st_size);
    base::Result<std::string> bytes = ReadRange(file->get(), at, end);
    // Cut meanwhile: the announced length must be kept.
    if (!bytes || bytes->empty()) bytes = std::string(static_cast<size_t>(end - at), '\0');
    status = writer.ValueBytes(*bytes);
    at += static_cast<int64_t>(bytes->size());
  }
  return status;
}

base::Status WriteLogs(TFileWriter& writer, const AggregationPlan& plan,
                       const std::map<std::string, std::vector<LogSource>>& logs) {
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
    for (const LogSource& file : files) {
      if (status) status = AppendLog(writer, file);
    }
    if (status) status = writer.EndValue();
  }
  return status ? writer.Finish() : status;
}

class Aggregator final : public process::nm::LogAggregator {
 public:
  Aggregator(env::Loop& loop, Errands& errands, LogAggregationOptions options)
      : loop_(loop), errands_(errands), options_(std::move(options)) {}
  void Aggregate(AggregationPlan plan, std::function<void(std::string)> done) override {
    Order order;
    order.submitter = plan.user;
    const std::string lane = "aggregate " + plan.user;
    errands_.RunOn(loop_, lane, std::move(order), AggregateErrand{std::move(plan), options_},
                   [done = std::move(done)](const base::Result<std::string>& result) {
                     done(result ? "" : result.error().message);
                   });
  }

 private:
  env::Loop& loop_;
  Errands& errands_;
  const LogAggregationOptions options_;
};

/// Below the user's directory.
std::string DirectoryOf(const AggregationPlan& plan, const LogAggregationOptions& options) {
  char bucket[16];
  std::snprintf(bucket, sizeof bucket, "%04d", plan.app.number % 10000);
  return "bucket-" + options.suffix + "-tfile/" + bucket + "/" + model::ToString(plan.app);
}

/// The place of one application's logs, below the user's own directory.
base::Result<Fd> OpenTarget(const AggregationPlan& plan, const LogAggregationOptions& options) {
  const base::Result<Fd> root = OpenRoot(options.root);
  if (!root) return root.error();
  base::Result<Fd> user = MakeDirectories(root->get(), plan.user, 0770);
  struct stat info {};
  if (!user) return user;
  if (::fstat(user->get(), &info) < 0) return ErrnoOf(plan.user);
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    return base::Error{options.root + "/" + plan.user + " belongs to user id " + std::to_string(info.st_uid) +
                       ": logs are not given to somebody else"};
  }
  return MakeDirectories(user->get(), DirectoryOf(plan, options), 0770);
}

using Logs = std::map<std::string, std::vector<LogSource>>;

base::Status WriteTo(int file, const AggregationPlan& plan, const Logs& logs) {
  TFileWriter writer([&](std::string_view bytes) { return WriteAll(file, bytes); });
  return WriteLogs(writer, plan, logs);
}

base::Status PutIntoMounted(const AggregationPlan& plan, const Logs& logs, const LogAggregationOptions& options) {
  const base::Result<Fd> directory = OpenTarget(plan, options);
  if (!directory) return base::Error{"logs cannot be written below " + options.root + ": " + directory.error().message};
  const std::string temporary = plan.node + ".tmp";
  const base::Result<Fd> file = CreateFile(directory->get(), temporary, 0640);
  if (!file) return file.error();
  if (base::Status written = WriteTo(file->get(), plan, logs); !written) {
    ::unlinkat(directory->get(), temporary.c_str(), 0);
    return written;
  }
  if (::renameat(directory->get(), temporary.c_str(), directory->get(), plan.node.c_str()) < 0)
    return ErrnoOf("cannot rename " + temporary);
  return {};
}

/// The application's directory in HDFS, made where it is missing.
base::Result<std::string> MakeTarget(const WebHdfs& hdfs, const AggregationPlan& plan,
                                     const LogAggregationOptions& options) {
  const auto root = hdfs.StatusOf(options.root);
  if (!root) return root.error();
  if (!*root) {
    const base::Status made = WebHdfs(options.web_hdfs, options.agent_user).MakeDirectory(options.root, "1777");
    if (!made) return made.error();
  }
  const std::string own = options.root + "/" + plan.user;
  const auto user = hdfs.StatusOf(own);
  if (!user) return user.error();
  if (*user && (*user)->owner != plan.user && (*user)->owner != options.agent_user)
    return base::Error{own + " belongs to " + (*user)->owner + ": logs are not given to somebody else"};
  if (!*user) {
    if (base::Status made = hdfs.MakeDirectory(own, "770"); !made) return made.error();
  }
  const std::string directory = own + "/" + DirectoryOf(plan, options);
  if (base::Status made = hdfs.MakeDirectory(directory, "770"); !made) return made.error();
  return directory;
}

/// A file without a name in one of the application's own log directories.
base::Result<Fd> Unnamed(const AggregationPlan& plan) {
  base::Error why{"there is no log directory"};
  for (const std::string& logs : plan.log_dirs) {
    const base::Result<Fd> root = OpenRoot(logs);
    const base::Result<Fd> app = root ? OpenDirectory(root->get(), model::ToString(plan.app)) : root.error();
    if (!app) {
      why = app.error();
      continue;
    }
    Fd file(::openat(app->get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file.get() >= 0) return file;
    why = ErrnoOf("a file in " + logs);
  }
  return why;
}

base::Status PutIntoHdfs(const AggregationPlan& plan, const Logs& logs, const LogAggregationOptions& options) {
  const WebHdfs hdfs(options.web_hdfs, plan.user);
  const base::Result<std::string> directory = MakeTarget(hdfs, plan, options);
  if (!directory) return directory.error();
  const base::Result<Fd> file = Unnamed(plan);
  if (!file) return file.error();
  if (base::Status written = WriteTo(file->get(), plan, logs); !written) return written;
  struct stat info {};
  if (::fstat(file->get(), &info) < 0) return ErrnoOf("the file of logs");
  const std::string target = *directory + "/" + plan.node;
  base::Status put = hdfs.Put(target + ".tmp", file->get(), info.st_size, "640");
  if (put.ok()) put = hdfs.Rename(target + ".tmp", target);
  if (!put.ok()) (void)hdfs.Remove(target + ".tmp");
  return put;
}

}  // namespace

std::string AggregateLogs(const process::nm::AggregationPlan& plan, const LogAggregationOptions& options) {
  if (!process::nm::IsPlainName(plan.user)) return "the user name cannot be used as a directory name";
  const Logs logs = FindLogs(plan);
  if (logs.empty()) return {};
  const auto put = options.web_hdfs.empty() ? PutIntoMounted : PutIntoHdfs;
  const base::Status status = put(plan, logs, options);
  return status.ok() ? "" : status.error().message;
}

std::unique_ptr<process::nm::LogAggregator> MakeLogAggregator(env::Loop& loop, Errands& errands,
                                                              LogAggregationOptions options) {
  // Where it cannot be made, each application's report says so.
  if (options.web_hdfs.empty()) {
    [[maybe_unused]] const base::Status made = MakeRoot(options.root, errands.switches_user() ? 01777 : 0755);
  }
  return std::make_unique<Aggregator>(loop, errands, std::move(options));
}

}  // namespace fairlead::shell
