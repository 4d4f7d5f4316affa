#include "shell/nm/rolled_logs.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>

#include "shell/nm/beneath.h"

namespace fairlead::shell {

namespace {

constexpr size_t kLogEntriesMax = 100'000;

std::string OnItsWay(int64_t time) { return "rolled-" + std::to_string(time); }
std::string HasArrived(int64_t time) { return "gathered-" + std::to_string(time); }

/// Moves a file to another directory, unless there is one of its name.
void MoveFile(int from, int to, const std::string& name) {
  [[maybe_unused]] const int moved = ::renameat2(from, name.c_str(), to, name.c_str(), RENAME_NOREPLACE);
}

}  // namespace

template <class Visit>
void RolledLogs::ForEachDirectory(Visit visit) const {
  for (const std::string& logs : plan_.log_dirs) {
    const base::Result<Fd> root = OpenRoot(logs);
    const base::Result<Fd> app = root ? OpenDirectory(root->get(), model::ToString(plan_.app)) : root.error();
    if (app) visit(app->get());
  }
}

std::set<int64_t> RolledLogs::Times(const std::string& prefix) const {
  std::set<int64_t> times;
  ForEachDirectory([&](int app) {
    const auto entries = List(app, kLogEntriesMax);
    if (!entries) return;
    for (const DirectoryEntry& entry : *entries) {
      if (!entry.name.starts_with(prefix)) continue;
      const char* end = entry.name.data() + entry.name.size();
      int64_t time = 0;
      const auto read = std::from_chars(entry.name.data() + prefix.size(), end, time);
      if (read.ec == std::errc() && read.ptr == end && time >= 0) times.insert(time);
    }
  });
  return times;
}

void RolledLogs::Move(const TakesLog& takes) {
  for (const auto& [container, files] : FindLogs(plan_, "", takes)) {
    for (const LogSource& file : files) {
      const std::string here = model::ToString(plan_.app) + "/" + container;
      const std::string there = model::ToString(plan_.app) + "/" + OnItsWay(plan_.now.ms) + "/" + container;
      const base::Result<Fd> root = OpenRoot(file.root);
      const base::Result<Fd> from = root ? OpenDirectory(root->get(), here) : root.error();
      const base::Result<Fd> to = from ? MakeDirectories(root->get(), there, 0750) : from.error();
      if (to) MoveFile(from->get(), to->get(), file.name);
    }
  }
}

LogSources RolledLogs::Of(int64_t time) const { return FindLogs(plan_, OnItsWay(time), {}); }

base::Status RolledLogs::Arrived(int64_t time, bool remember) {
  base::Status status;
  ForEachDirectory([&](int app) {
    Budget budget;
    if (remember) {
      const base::Result<Fd> mark = MakeDirectories(app, HasArrived(time), 0750);
      if (!mark && status) status = mark.error();
      remember = false;
    }
    const base::Status removed = RemoveTree(app, OnItsWay(time), budget);
    if (!removed && status) status = removed;
  });
  return status;
}

void RolledLogs::Forget(int64_t time) {
  ForEachDirectory([&](int app) {
    Budget budget;
    (void)RemoveTree(app, HasArrived(time), budget);
  });
}

void RolledLogs::PutBack() {
  for (const int64_t time : OnTheirWay()) {
    for (const auto& [container, files] : Of(time)) {
      for (const LogSource& file : files) {
        const std::string app = model::ToString(plan_.app);
        const base::Result<Fd> root = OpenRoot(file.root);
        const base::Result<Fd> from =
            root ? OpenDirectory(root->get(), app + "/" + OnItsWay(time) + "/" + container) : root.error();
        const base::Result<Fd> to = from ? MakeDirectories(root->get(), app + "/" + container, 0750) : from.error();
        if (to) MoveFile(from->get(), to->get(), file.name);
      }
    }
  }
}

}  // namespace fairlead::shell
