#include "shuffle/core.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/stored.h"

namespace fairlead::shuffle {
namespace {

using model::shuffle::Answered;
using model::shuffle::Executor;
using model::shuffle::LocalDir;
using model::shuffle::StoreRow;

constexpr std::string_view kForeignDir =
    "java.lang.IllegalArgumentException: localDirs entry is not under any of the service's local directories: ";

/// Names of a path without "." and with ".." resolved by name.
std::vector<std::string_view> Components(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      out.push_back(part);
    } else if (!out.empty()) {
      out.pop_back();
    }
  }
  return out;
}

std::string Join(std::span<const std::string_view> parts) {
  std::string out;
  for (const std::string_view part : parts) {
    if (!out.empty()) out.push_back('/');
    out.append(part);
  }
  return out;
}

std::string ExecutorKey(const std::string& app, const std::string& executor) {
  std::string key;
  base::Encode(key, app);
  base::Encode(key, executor);
  return key;
}

/// A stored row, read.
struct StoredRow {
  std::string app;
  std::string executor;                    // empty in the table of applications
  std::optional<std::string> secret;       // of an application
  std::shared_ptr<Executor> registration;  // of an executor
};

base::Result<StoredRow> Read(const model::shuffle::Restore& row) {
  const auto unreadable = [](const std::string& why) { return base::Error{"a registration cannot be read: " + why}; };
  StoredRow out;
  base::Budget budget(base::kStoredKind, row.key.size());
  base::ByteReader key(row.key, budget);
  base::Decode(key, out.app);
  if (row.table == kExecutorTable) base::Decode(key, out.executor);
  if (!key.done()) return unreadable("its key is damaged");
  if (row.table == kAppTable) {
    auto secret = base::DecodeStored<std::string>(row.value);
    if (!secret.ok()) return unreadable("secret of " + out.app + ": " + secret.error().message);
    out.secret = std::move(*secret);
  } else {
    auto registration = base::DecodeStored<Executor>(row.value);
    if (!registration.ok()) {
      return unreadable("executor " + out.executor + " of " + out.app + ": " + registration.error().message);
    }
    out.registration = std::make_shared<Executor>(std::move(*registration));
  }
  return out;
}

/// Memory of a registration.
size_t BytesOf(const std::string& id, const Executor& executor) {
  constexpr size_t kBesides = 64;  // of the counted pointer, and of the allocator
  size_t bytes = sizeof(std::pair<std::string, Registry::ExecutorRef>) + id.size() + sizeof(Executor) + kBesides +
                 executor.shuffle_manager.size();
  for (const LocalDir& dir : executor.dirs) bytes += sizeof(LocalDir) + dir.path.size() + dir.below_root.size();
  return bytes;
}

bool ById(const std::pair<std::string, Registry::ExecutorRef>& entry, std::string_view id) { return entry.first < id; }

}  // namespace

const Registry::App* Registry::FindApp(std::string_view app) const {
  const auto found = apps_.find(app);
  return found == apps_.end() ? nullptr : found->second.get();
}

Registry::ExecutorRef Registry::FindShared(std::string_view app, std::string_view executor) const {
  const App* entry = FindApp(app);
  if (entry == nullptr) return nullptr;
  const auto found = std::lower_bound(entry->executors.begin(), entry->executors.end(), executor, ById);
  return found != entry->executors.end() && found->first == executor ? found->second : nullptr;
}

const Executor* Registry::Find(std::string_view app, std::string_view executor) const {
  return FindShared(app, executor).get();
}

LocalDir PlaceDir(std::string path, std::span<const std::string> roots) {
  LocalDir out;
  if (!path.empty() && path[0] == '/' && path.find('\0') == std::string::npos) {
    const auto parts = Components(path);
    size_t best = 0;
    for (size_t i = 0; i < roots.size(); ++i) {
      const auto root = Components(roots[i]);
      if (root.size() > parts.size() || !std::equal(root.begin(), root.end(), parts.begin())) continue;
      if (out.root != LocalDir::kNoRoot && root.size() <= best) continue;
      best = root.size();
      out.root = static_cast<uint32_t>(i);
      out.below_root = Join(std::span(parts).subspan(root.size()));
    }
  }
  out.path = std::move(path);
  return out;
}

Core::Core(Config config) : config_(std::move(config)), registry_(std::make_shared<Registry>()) {}

void Core::Step(base::Instant now, std::span<const model::shuffle::Event> in, Effects& out) {
  if (!started_) {
    started_ = true;
    next_sweep_ = now + config_.sweep_interval;
  }
  for (const auto& event : in) {
    std::visit([&](const auto& alternative) { On(now, alternative, out); }, event);
  }
  if (now >= NextDeadline()) {
    next_sweep_ = now + (draining_ ? config_.drain_interval : config_.sweep_interval);
    Sweep(out);
  }
  LookIfDrained(now, out);
  if (!draft_) return;
  for (auto& [name, app] : draft_apps_) {
    if (app->executors.empty() && !app->secret) {
      draft_->apps_.erase(name);
    } else {
      draft_->apps_[name] = std::move(app);
    }
  }
  draft_apps_.clear();
  registry_ = std::exchange(draft_, nullptr);
}

base::Instant Core::NextDeadline() const {
  const bool draining = draining_ && !draining_->told;
  return config_.sweep || draining ? next_sweep_ : base::Instant::Max();
}

void Core::On(base::Instant, const model::shuffle::Restore& event, Effects&) {
  base::Result<StoredRow> row = Read(event);
  if (!row.ok()) return;  // CheckRow has told
  if (row->secret) {
    Edit(row->app).secret = std::move(row->secret);
    return;
  }
  // Roots may have changed since: the stored place is not trusted.
  for (LocalDir& dir : row->registration->dirs) dir = PlaceDir(std::move(dir.path), config_.local_roots);
  row->registration->generation = ++last_generation_;
  AddExecutor(row->app, row->executor, std::move(row->registration));
}

base::Status Core::CheckRow(const model::shuffle::Restore& row) {
  const base::Result<StoredRow> read = Read(row);
  return read.ok() ? base::Status{} : read.error();
}

std::string Core::Validate(const model::shuffle::RegisterExecutor& event, const Executor& executor) const {
  if (draining_) return "java.lang.IllegalStateException: this shuffle service drains and takes no more executors";
  if (registry_->executors_ + pending_.size() >= config_.executors_max) {
    return "java.lang.IllegalStateException: too many registered executors: " + std::to_string(config_.executors_max);
  }
  if (!config_.refuse_foreign_dirs) return "";
  for (const LocalDir& dir : executor.dirs) {
    if (dir.path.empty()) {
      return "java.lang.IllegalArgumentException: localDirs entries must be non-null and non-empty";
    }
    if (dir.path.find('\0') != std::string::npos) {
      return "java.lang.IllegalArgumentException: localDirs entry could not be canonicalized: " + dir.path;
    }
    if (dir.root == LocalDir::kNoRoot) return std::string(kForeignDir) + dir.path;
    if (config_.app_scoped_dirs) {
      const auto parts = Components(dir.path);
      if (event.app.empty() || std::find(parts.begin(), parts.end(), event.app) == parts.end()) {
        return "java.lang.IllegalArgumentException: localDirs entry is not within application " + event.app +
               "'s directory: " + dir.path;
      }
    }
  }
  return "";
}

std::string Core::MakeRoom(base::Instant now, const std::string& app, size_t bytes, Effects& out) {
  const auto full = [&](const std::string& whose, size_t most) {
    ++refused_;
    return "java.lang.IllegalStateException: too many registrations of " + whose + ": they take more than " +
           std::to_string(most) + " bytes";
  };
  const auto draft = draft_apps_.find(app);
  const Registry::App* known = draft != draft_apps_.end() ? draft->second.get() : registry_->FindApp(app);
  if ((known != nullptr ? known->bytes : 0) + bytes > config_.app_bytes_max) {
    return full("application " + app, config_.app_bytes_max);
  }
  while ((draft_ ? *draft_ : *registry_).bytes_ + pending_bytes_ + bytes > config_.bytes_max) {
    const auto longest = std::min_element(gone_.begin(), gone_.end(), [](const auto& a, const auto& b) {
      return (a.second.looks > 0 ? a.second.since : base::Instant::Max()) <
             (b.second.looks > 0 ? b.second.since : base::Instant::Max());
    });
    if (longest == gone_.end() || longest->second.looks == 0) {
      next_sweep_ = std::min(next_sweep_, now + config_.full_interval);
      return full("all applications", config_.bytes_max);
    }
    const std::string name = longest->first;
    SendPersist(Forget(name), Pending{0, false, name, {}, nullptr, {}}, out);
    out.push_back(model::shuffle::Forgotten{name, "its directories are gone, and others need the room"});
  }
  return "";
}

void Core::On(base::Instant now, const model::shuffle::RegisterExecutor& event, Effects& out) {
  auto executor = std::make_shared<Executor>();
  for (const std::string& dir : event.local_dirs) executor->dirs.push_back(PlaceDir(dir, config_.local_roots));
  executor->sub_dirs_per_local_dir = event.sub_dirs_per_local_dir;
  executor->shuffle_manager = event.shuffle_manager;
  const size_t bytes = BytesOf(event.executor, *executor);
  std::string error = Validate(event, *executor);
  if (error.empty()) error = MakeRoom(now, event.app, bytes, out);
  if (!error.empty()) {
    out.push_back(Answered{event.token, std::move(error)});
    return;
  }
  executor->generation = ++last_generation_;
  StoreRow row{std::string(kExecutorTable), ExecutorKey(event.app, event.executor), {}, false};
  row.value = base::EncodeStored(*executor);
  SendPersist({std::move(row)}, Pending{event.token, true, event.app, event.executor, std::move(executor), {}, bytes},
              out);
}

void Core::On(base::Instant, const model::shuffle::StartApp& event, Effects& out) {
  StoreRow row{std::string(kAppTable), {}, {}, false};
  base::Encode(row.key, event.app);
  row.value = base::EncodeStored(event.secret);
  SendPersist({std::move(row)}, Pending{event.token, true, event.app, {}, nullptr, event.secret}, out);
}

void Core::On(base::Instant, const model::shuffle::StopApp& event, Effects& out) {
  std::vector<LocalDir> dirs;
  const auto draft = draft_apps_.find(event.app);
  const Registry::App* app = draft != draft_apps_.end() ? draft->second.get() : registry_->FindApp(event.app);
  if (app != nullptr && event.remove_dirs) {
    for (const auto& [id, executor] : app->executors) {
      dirs.insert(dirs.end(), executor->dirs.begin(), executor->dirs.end());
    }
  }
  // What was on its way for this application must not come back after its end.
  for (auto& [txn, pending] : pending_) {
    if (pending.app != event.app || (!pending.registration && !pending.secret)) continue;
    pending.registration = nullptr;
    pending.secret.reset();
    if (pending.answer) {
      out.push_back(
          Answered{pending.token, "java.lang.IllegalStateException: application " + event.app + " has ended"});
    }
    pending.answer = false;
  }
  SendPersist(Forget(event.app), Pending{event.token, true, event.app, {}, nullptr, {}}, out);
  if (!dirs.empty()) out.push_back(model::shuffle::RemoveDirs{event.app, std::move(dirs)});
}

void Core::On(base::Instant, const model::shuffle::ExecutorGone& event, Effects& out) {
  const Executor* executor = registry_->Find(event.app, event.executor);
  if (executor == nullptr) return;
  out.push_back(model::shuffle::RemoveUnserved{event.app, executor->dirs, config_.keep_rdd_blocks});
}

void Core::On(base::Instant, const model::shuffle::Persisted& event, Effects& out) {
  const auto found = pending_.find(event.txn);
  if (found == pending_.end()) return;
  Pending pending = std::move(found->second);
  pending_.erase(found);
  pending_bytes_ -= pending.bytes;
  if (event.error.empty()) {
    if (pending.registration) AddExecutor(pending.app, pending.executor, std::move(pending.registration));
    if (pending.secret) Edit(pending.app).secret = std::move(pending.secret);
  }
  if (!pending.answer) return;
  out.push_back(
      Answered{pending.token, event.error.empty() ? "" : "java.io.IOException: cannot store: " + event.error});
}

void Core::On(base::Instant now, const model::shuffle::Probed& event, Effects& out) {
  if (registry_->FindApp(event.app) == nullptr) return;
  if (draining_) {
    if (event.connections == 0 && event.idle >= draining_->idle) {
      draining_->quiet.insert(event.app);
    } else {
      draining_->quiet.erase(event.app);
    }
  }
  Gone& gone = gone_[event.app];
  if (gone.looks == 0) gone.since = now;
  gone.looks = event.dirs_exist || event.connections > 0 ? 0 : gone.looks + 1;
  std::string reason;
  if (gone.looks >= 2) {
    reason = "its directories are gone";
  } else if (event.connections == 0 && event.idle > config_.app_idle_max) {
    reason = "nothing was asked of it for " + std::to_string(event.idle.millis() / 1000) + " s";
  } else {
    return;
  }
  SendPersist(Forget(event.app), Pending{0, false, event.app, {}, nullptr, {}}, out);
  out.push_back(model::shuffle::Forgotten{event.app, std::move(reason)});
}

void Core::On(base::Instant now, const model::shuffle::Drain& event, Effects&) {
  if (!draining_) draining_.emplace();
  draining_->idle = event.idle;
  draining_->until = now + event.limit;
  draining_->quiet.clear();
  next_sweep_ = now;
}

void Core::LookIfDrained(base::Instant now, Effects& out) {
  if (!draining_ || draining_->told) return;
  const bool quiet = std::all_of(registry_->apps_.begin(), registry_->apps_.end(), [&](const auto& app) {
    return app.second->executors.empty() || draining_->quiet.contains(app.first);
  });
  if ((!quiet || !pending_.empty()) && now < draining_->until) return;
  draining_->told = true;
  out.push_back(model::shuffle::Drained{quiet ? "nothing is asked for any more" : "the time limit has passed"});
}

void Core::Sweep(Effects& out) {
  for (const auto& [name, app] : registry_->apps_) {
    if (app->executors.empty()) continue;  // YARN tells of its end
    model::shuffle::Probe probe{name, {}};
    for (const auto& [id, executor] : app->executors) {
      probe.dirs.insert(probe.dirs.end(), executor->dirs.begin(), executor->dirs.end());
    }
    out.push_back(std::move(probe));
  }
}

std::vector<StoreRow> Core::Forget(const std::string& app) {
  std::vector<StoreRow> rows;
  gone_.erase(app);
  Registry::App& entry = Edit(app);
  for (const auto& [id, executor] : entry.executors) {
    rows.push_back({std::string(kExecutorTable), ExecutorKey(app, id), {}, true});
  }
  // Registrations that were stored but not yet seen here are removed by their keys too.
  for (const auto& [txn, pending] : pending_) {
    if (pending.app == app && !pending.executor.empty()) {
      rows.push_back({std::string(kExecutorTable), ExecutorKey(app, pending.executor), {}, true});
    }
  }
  StoreRow secret{std::string(kAppTable), {}, {}, true};
  base::Encode(secret.key, app);
  rows.push_back(std::move(secret));
  Edit().executors_ -= entry.executors.size();
  Edit().bytes_ -= std::exchange(entry.bytes, 0);
  entry.executors.clear();
  entry.secret.reset();
  return rows;
}

uint64_t Core::SendPersist(std::vector<StoreRow> rows, Pending pending, Effects& out) {
  const uint64_t txn = ++last_txn_;
  pending_bytes_ += pending.bytes;
  pending_.emplace(txn, std::move(pending));
  out.push_back(model::shuffle::Persist{txn, std::move(rows)});
  return txn;
}

Registry& Core::Edit() {
  if (!draft_) draft_ = std::make_shared<Registry>(*registry_);
  return *draft_;
}

Registry::App& Core::Edit(const std::string& app) {
  std::shared_ptr<Registry::App>& draft = draft_apps_[app];
  if (!draft) {
    const auto& apps = Edit().apps_;
    const auto found = apps.find(app);
    draft = found == apps.end() ? std::make_shared<Registry::App>() : std::make_shared<Registry::App>(*found->second);
  }
  return *draft;
}

void Core::AddExecutor(const std::string& app, const std::string& executor, Registry::ExecutorRef registration) {
  Registry::App& entry = Edit(app);
  auto& executors = entry.executors;
  const size_t bytes = BytesOf(executor, *registration);
  entry.bytes += bytes;
  Edit().bytes_ += bytes;
  const auto place = std::lower_bound(executors.begin(), executors.end(), executor, ById);
  if (place != executors.end() && place->first == executor) {
    const size_t before = BytesOf(executor, *place->second);
    entry.bytes -= before;
    Edit().bytes_ -= before;
    place->second = std::move(registration);
    return;
  }
  executors.emplace(place, executor, std::move(registration));
  ++Edit().executors_;
}

std::string Core::CheckInvariants() const {
  size_t count = 0;
  size_t bytes = 0;
  for (const auto& [name, app] : registry_->apps_) {
    size_t of_app = 0;
    if (app->executors.empty() && !app->secret) return "application " + name + " is empty";
    for (size_t i = 0; i < app->executors.size(); ++i) {
      const auto& [id, executor] = app->executors[i];
      if (i > 0 && app->executors[i - 1].first >= id) return "executors of " + name + " are out of order";
      if (executor == nullptr || executor->generation > last_generation_)
        return "executor " + id + " has no generation";
      of_app += BytesOf(id, *executor);
      for (const LocalDir& dir : executor->dirs) {
        if (dir.root != LocalDir::kNoRoot && dir.root >= config_.local_roots.size()) return "root of " + dir.path;
      }
    }
    count += app->executors.size();
    bytes += of_app;
    if (of_app != app->bytes) return "bytes of " + name;
  }
  if (bytes != registry_->bytes_) return "bytes";
  if (count != registry_->executors_) return "count of executors";
  if (draft_) return "a draft outlived its Step";
  return "";
}

uint64_t Core::StateHash() const {
  base::StateHasher hasher;
  for (const auto& [name, app] : registry_->apps_) {
    hasher.Mix(name);
    hasher.Mix(app->secret.value_or(""));
    for (const auto& [id, executor] : app->executors) {
      hasher.Mix(id);
      base::HashInto(hasher, *executor);
    }
  }
  for (const auto& [txn, pending] : pending_) {
    hasher.Mix(txn);
    hasher.Mix(pending.app);
    hasher.Mix(pending.executor);
    hasher.Mix(pending.token);
  }
  for (const auto& [name, gone] : gone_) {
    hasher.Mix(name);
    hasher.Mix(static_cast<uint64_t>(gone.looks));
    hasher.Mix(static_cast<uint64_t>(gone.since.ns));
  }
  hasher.Mix(static_cast<uint64_t>(next_sweep_.ns));
  if (draining_) {
    hasher.Mix(static_cast<uint64_t>(draining_->until.ns));
    for (const std::string& app : draining_->quiet) hasher.Mix(app);
  }
  return hasher.value();
}

}  // namespace fairlead::shuffle
