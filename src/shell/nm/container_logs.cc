#include "shell/nm/container_logs.h"

#include <algorithm>
#include <set>

#include "base/codec.h"
#include "process/nm/layout.h"
#include "shell/nm/beneath.h"

namespace fairlead::shell {

using process::nm::LogAnswer;
using process::nm::LogFile;
using process::nm::LogQuery;

namespace {

constexpr size_t kFilesMax = 10'000;
constexpr int64_t kBytesMax = 15 << 20;  // of one answer, which an errand brings: kErrandBytesMax

/// Bytes [start, end) of a log; negative values count from its end.
base::Result<std::string> ReadLog(int directory, const std::string& name, int64_t start, int64_t end) {
  const base::Result<Fd> file = OpenRegular(directory, name);
  if (!file) return file.error();
  struct stat info {};
  if (::fstat(file->get(), &info) < 0) return ErrnoOf("cannot read " + name);
  const int64_t size = info.st_size;
  const auto place = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? std::max(size + at, int64_t{0}) : at, 0, size);
  };
  const int64_t from = place(start);
  return ReadRange(file->get(), from, std::min(std::max(place(end), from), from + kBytesMax));
}

/// Containers of the application that have a directory below one of these.
std::vector<model::ContainerId> WithLogs(const model::ApplicationId& app, const std::vector<std::string>& log_dirs) {
  std::set<model::ContainerId> found;
  for (const std::string& logs : log_dirs) {
    const base::Result<Fd> root = OpenRoot(logs);
    if (!root) continue;
    const base::Result<Fd> directory = OpenDirectory(root->get(), Below(logs, process::nm::AppLogDir(logs, app)));
    const auto list = directory ? List(directory->get(), kFilesMax) : directory.error();
    if (!list) continue;
    for (const DirectoryEntry& entry : *list) {
      const base::Result<model::ContainerId> id = model::ParseContainerId(entry.name);
      if (id && id->attempt.app == app) found.insert(*id);
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace

LogAnswer ReadContainerLogs(const LogQuery& query, const std::vector<std::string>& log_dirs) {
  LogAnswer answer;
  for (const model::ContainerId& id : query.containers.empty() ? WithLogs(query.app, log_dirs) : query.containers) {
    std::vector<LogFile>& files = answer.files[id];
    for (const std::string& logs : log_dirs) {
      const base::Result<Fd> root = OpenRoot(logs);
      if (!root) continue;
      const base::Result<Fd> directory = OpenDirectory(root->get(), Below(logs, process::nm::LogDir(logs, id)));
      const auto list = directory ? List(directory->get(), kFilesMax) : directory.error();
      if (!list) continue;
      for (const DirectoryEntry& entry : *list) {
        if (!S_ISREG(entry.info.st_mode)) continue;
        files.push_back({entry.name,
                         static_cast<int64_t>(entry.info.st_size),
                         {entry.info.st_mtim.tv_sec * 1000 + entry.info.st_mtim.tv_nsec / 1'000'000}});
        if (entry.name != query.file || answer.found) continue;
        answer.found = true;
        const base::Result<std::string> text = ReadLog(directory->get(), entry.name, query.start, query.end);
        (text ? answer.text : answer.error) = text ? *text : text.error().message;
      }
    }
  }
  return answer;
}

void UsersLogs::Read(LogQuery query, std::function<void(LogAnswer)> done) {
  const model::ApplicationId app = query.app;
  Order order;
  for (const std::string& logs : dirs_.all_logs())
    order.tops.push_back({logs, Below(logs, process::nm::AppLogDir(logs, app)), 0});
  LogsErrand errand{std::move(query), dirs_.all_logs()};
  errands_.RunOn(loop_, "logs " + model::ToString(app), std::move(order), std::move(errand),
                 [done = std::move(done), app](const base::Result<std::string>& result) {
                   LogAnswer answer;
                   if (result) {
                     base::Budget budget(kErrandKind, result->size());
                     base::ByteReader in(*result, budget);
                     base::Decode(in, answer);
                     if (!in.done()) (answer = {}).error = "the logs cannot be read";
                   } else {
                     answer.error = result.error().message;
                   }
                   // The errand ran as the user: it has no say about others.
                   std::erase_if(answer.files, [&](const auto& of) { return of.first.attempt.app != app; });
                   done(std::move(answer));
                 });
}

}  // namespace fairlead::shell
