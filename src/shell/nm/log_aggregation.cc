#include "shell/nm/log_aggregation.h"

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
    errands_.RunOn(loop_, lane, std::move(order), AggregateErrand{std::move(plan), options_.root, options_.suffix},
                   [done = std::move(done)](const base::Result<std::string>& result) {
                     done(result ? "" : result.error().message);
                   });
  }

 private:
  env::Loop& loop_;
  Errands& errands_;
  const LogAggregationOptions options_;
};

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
  char bucket[16];
  std::snprintf(bucket, sizeof bucket, "%04d", plan.app.number % 10000);
  return MakeDirectories(user->get(), "bucket-" + options.suffix + "-tfile/" + bucket + "/" + model::ToString(plan.app),
                         0770);
}

}  // namespace

std::string AggregateLogs(const AggregationPlan& plan, const LogAggregationOptions& options) {
  if (!process::nm::IsPlainName(plan.user)) return "the user name cannot be used as a directory name";
  const std::map<std::string, std::vector<LogSource>> logs = FindLogs(plan);
  if (logs.empty()) return {};
  const base::Result<Fd> directory = OpenTarget(plan, options);
  if (!directory) return "logs cannot be written below " + options.root + ": " + directory.error().message;
  const std::string temporary = plan.node + ".tmp";
  const base::Result<Fd> file = CreateFile(directory->get(), temporary, 0640);
  if (!file) return file.error().message;
  TFileWriter writer([&](std::string_view bytes) { return WriteAll(file->get(), bytes); });
  if (const base::Status written = WriteLogs(writer, plan, logs); !written) {
    ::unlinkat(directory->get(), temporary.c_str(), 0);
    return written.error().message;
  }
  if (::renameat(directory->get(), temporary.c_str(), directory->get(), plan.node.c_str()) < 0)
    return ErrnoOf("cannot rename " + temporary).message;
  return {};
}

std::unique_ptr<process::nm::LogAggregator> MakeLogAggregator(env::Loop& loop, Errands& errands,
                                                              LogAggregationOptions options) {
  // Where it cannot be made, each application's report says so.
  [[maybe_unused]] const base::Status made = MakeRoot(options.root, errands.switches_user() ? 01777 : 0755);
  return std::make_unique<Aggregator>(loop, errands, std::move(options));
}

}  // namespace fairlead::shell
