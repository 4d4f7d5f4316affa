#include "shell/nm/log_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <functional>

#include "base/bytes.h"
#include "shell/nm/ifile.h"
#include "shell/nm/tfile.h"

namespace fairlead::shell {

namespace {

using process::nm::AggregationPlan;
using process::nm::LogPatterns;

constexpr size_t kLogCopyBytes = 1 << 18;
constexpr size_t kFilesOfContainerMax = 10'000;  // of one container
constexpr size_t kLogContainersMax = 100'000;    // of one application

base::Status ReadInto(const std::string& text, std::optional<Pattern>& out) {
  if (text.empty()) return {};
  const base::Result<Pattern> pattern = Pattern::Read(text);
  if (!pattern)
    return base::Error{"the pattern " + text + " of the log aggregation context: " + pattern.error().message};
  out = *pattern;
  return {};
}

std::string Utf(std::string_view text) {
  std::string out;
  TFileWriter::PutUtf(out, text);
  return out;
}

/// The open log gives so many bytes as `size` says; what was cut off meanwhile is zeros.
base::Status CopyLog(int file, int64_t size, const std::function<base::Status(std::string_view)>& put) {
  base::Status status;
  for (int64_t at = 0; status && at < size;) {
    const int64_t end = std::min<int64_t>(at + kLogCopyBytes, size);
    base::Result<std::string> bytes = ReadRange(file, at, end);
    if (!bytes || bytes->empty()) bytes = std::string(static_cast<size_t>(end - at), '\0');
    status = put(*bytes);
    at += static_cast<int64_t>(bytes->size());
  }
  return status;
}

/// Calls `write` with each log that can be opened and what it is now; the others are left out, as Hadoop does.
base::Status ForEachOpened(const std::vector<LogSource>& sources,
                           const std::function<base::Status(const LogSource&, int, const struct stat&)>& write) {
  for (const LogSource& source : sources) {
    const base::Result<Fd> root = OpenRoot(source.root);
    const base::Result<Fd> file = root ? OpenRegular(root->get(), source.below) : root.error();
    struct stat info {};
    if (!file || ::fstat(file->get(), &info) < 0) continue;
    if (base::Status written = write(source, file->get(), info); !written) return written;
  }
  return {};
}

base::Status WriteTFile(TFileWriter writer, const AggregationPlan& plan, const LogSources& logs) {
  std::string version, acls;
  base::ByteWriter(version).U32(1);
  if (!plan.view_acl.empty()) acls += Utf("VIEW_APP") + Utf(plan.view_acl);
  if (!plan.modify_acl.empty()) acls += Utf("MODIFY_APP") + Utf(plan.modify_acl);
  base::Status status = writer.Begin();
  if (status) status = writer.Append(Utf("VERSION"), version);
  if (status) status = writer.Append(Utf("APPLICATION_ACL"), acls);
  if (status) status = writer.Append(Utf("APPLICATION_OWNER"), Utf(plan.user));
  for (const auto& [id, sources] : logs) {
    if (status) status = writer.BeginValue(Utf(id));
    if (status) {
      status = ForEachOpened(sources, [&](const LogSource& source, int file, const struct stat& info) {
        base::Status put = writer.ValueBytes(Utf(source.name) + Utf(std::to_string(info.st_size)));
        if (!put) return put;
        return CopyLog(file, info.st_size, [&](std::string_view bytes) { return writer.ValueBytes(bytes); });
      });
    }
    if (status) status = writer.EndValue();
  }
  return status ? writer.Finish() : status;
}

base::Status WriteIFile(IFileWriter writer, const LogSources& logs) {
  base::Status status = writer.Begin();
  for (const auto& [id, sources] : logs) {
    if (!status) break;
    status = ForEachOpened(sources, [&, container = id](const LogSource& source, int file, const struct stat& info) {
      const base::WallTime modified{info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000};
      base::Status put = writer.BeginLog(container, source.name, modified);
      if (put) put = CopyLog(file, info.st_size, [&](std::string_view bytes) { return writer.LogBytes(bytes); });
      return put ? writer.EndLog() : put;
    });
  }
  return status ? writer.Finish() : status;
}

}  // namespace

base::Result<LogChoice> LogChoice::Of(const AggregationPlan& plan) {
  LogChoice choice;
  choice.is_over_ = plan.is_over;
  choice.left_out_ = {plan.left_out.begin(), plan.left_out.end()};
  choice.live_ = {plan.live.begin(), plan.live.end()};
  for (const base::Status& read :
       {ReadInto(plan.at_end.include, choice.at_end_.include), ReadInto(plan.at_end.exclude, choice.at_end_.exclude)}) {
    if (read) continue;
    choice.unread_ += (choice.unread_.empty() ? "" : "; ") + read.error().message + " (it decides nothing)";
  }
  base::Status read = ReadInto(plan.rolled.include, choice.rolled_.include);
  if (read) read = ReadInto(plan.rolled.exclude, choice.rolled_.exclude);
  if (!read && !plan.is_over) return read.error();
  return choice;
}

bool LogChoice::Takes(const model::ContainerId& container, const std::string& file) const {
  if (left_out_.contains(container)) return false;
  const bool at_end = is_over_ || !live_.contains(container);
  return (at_end && at_end_.Takes(file)) || (!is_over_ && rolled_.Takes(file));
}

LogSources FindLogs(const AggregationPlan& plan, const std::string& below, const TakesLog& takes) {
  LogSources found;
  const std::string app_dir = model::ToString(plan.app) + (below.empty() ? "" : "/" + below);
  for (const std::string& logs : plan.log_dirs) {
    const base::Result<Fd> root = OpenRoot(logs);
    const base::Result<Fd> app = root ? OpenDirectory(root->get(), app_dir) : root.error();
    const auto containers = app ? List(app->get(), kLogContainersMax) : app.error();
    if (!containers) continue;
    for (const DirectoryEntry& container : *containers) {
      const base::Result<model::ContainerId> id = model::ParseContainerId(container.name);
      if (!id) continue;
      const base::Result<Fd> directory = OpenDirectory(app->get(), container.name);
      const auto files = directory ? List(directory->get(), kFilesOfContainerMax) : directory.error();
      if (!files) continue;
      for (const DirectoryEntry& file : *files) {
        if (!S_ISREG(file.info.st_mode) || (takes && !takes(*id, file.name))) continue;
        found[container.name].push_back({file.name, logs, app_dir + "/" + container.name + "/" + file.name});
      }
    }
  }
  for (auto& [id, files] : found)
    std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return found;
}

base::Status WriteLogFile(int file, const AggregationPlan& plan, const LogSources& logs,
                          const LogAggregationOptions& options) {
  const auto sink = [file](std::string_view bytes) { return WriteAll(file, bytes); };
  if (options.format == LogFileFormat::kTFile) return WriteTFile(TFileWriter(sink, options.compress), plan, logs);
  IFileHead head;
  head.app = model::ToString(plan.app);
  head.user = plan.user;
  head.view_acl = plan.view_acl;
  head.modify_acl = plan.modify_acl;
  head.node_id = plan.node_id;
  head.file_name = LogFileName(plan);
  head.uploaded = plan.now;
  head.compress = options.compress;
  return WriteIFile(IFileWriter(std::move(head), sink), logs);
}

std::string LogFileName(const AggregationPlan& plan) {
  std::string name = plan.node_id;
  std::replace(name.begin(), name.end(), ':', '_');
  return name;
}

}  // namespace fairlead::shell
