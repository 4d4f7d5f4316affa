#include "process/rm/stored_state.h"

#include <set>
#include <utility>

#include "process/rm/draining.h"
#include "rm/core.h"
#include "rm/labels.h"

namespace fairlead::process::rm {

namespace {

namespace m = model::rm;

/// Without them nothing can be decided.
base::Status TakeKeysAndEpoch(env::Store& store, StoredState& state) {
  base::Result<KeyRing::Stored> keys = KeyRing::Load(store);
  if (!keys.ok()) return keys.error();
  state.keys = std::move(*keys);
  const auto epochs = env::LoadRecords<int32_t>(store, kEpochTable);
  if (!epochs.ok()) return epochs.error();
  for (const auto& [key, epoch] : *epochs) state.started.epoch = epoch + 1;
  return {};
}

template <class Record>
base::Status Take(env::Store& store, const char* table, std::vector<Record>& records,
                  std::vector<env::UnreadRow>& unread) {
  auto rows = env::LoadRecords<Record>(store, table, &unread);
  if (!rows.ok()) return rows.error();
  for (auto& [key, record] : *rows) records.push_back(std::move(record));
  return {};
}

/// Applications with an attempt that cannot be read.
void DropHalfRead(StoredState& state) {
  std::set<model::ApplicationId> half;
  for (const env::UnreadRow& row : state.unread) {
    const auto attempt = model::ParseApplicationAttemptId(row.key);
    if (row.table == fairlead::rm::kAttemptTable && attempt.ok()) half.insert(attempt->app);
  }
  for (const m::AppRecord& app : state.started.apps) {
    if (!half.contains(app.submission.id)) continue;
    state.unread.push_back(
        {fairlead::rm::kAppTable, ToString(app.submission.id), "one of its attempts cannot be read"});
  }
  std::erase_if(state.started.apps, [&](const m::AppRecord& app) { return half.contains(app.submission.id); });
  std::erase_if(state.started.attempts, [&](const m::AttemptRecord& attempt) { return half.contains(attempt.id.app); });
}

}  // namespace

base::Result<StoredState> ReadState(env::Store& store) {
  const base::Result<std::vector<env::Row>> restoring = store.Load(kRestoringTable);
  if (!restoring.ok()) return restoring.error();
  if (!restoring->empty()) return base::Error{kInterruptedRestore};
  StoredState state;
  base::Status read = TakeKeysAndEpoch(store, state);
  if (read.ok()) read = Take(store, fairlead::rm::kAppTable, state.started.apps, state.unread);
  if (read.ok()) read = Take(store, fairlead::rm::kAttemptTable, state.started.attempts, state.unread);
  if (read.ok()) read = Take(store, fairlead::rm::kLearnedUseTable, state.started.learned, state.unread);
  if (read.ok()) read = Take(store, Learning::kTable, state.started.runs, state.unread);
  if (!read.ok()) return read.error();
  const auto draining = env::LoadRecords<int64_t>(store, Draining::kTable, &state.unread);
  if (!draining.ok()) return draining.error();
  state.started.draining = {draining->begin(), draining->end()};
  std::vector<m::LabelsRecord> labels;
  if (read = Take(store, fairlead::rm::kLabelsTable, labels, state.unread); !read.ok()) return read.error();
  if (!labels.empty()) state.started.labels = std::move(labels.front());
  DropHalfRead(state);
  return state;
}

base::Result<StoredState> ForgetState(env::Store& store) {
  StoredState state;
  if (base::Status read = TakeKeysAndEpoch(store, state); !read.ok()) return read.error();
  for (const std::string table : {fairlead::rm::kAppTable, fairlead::rm::kAttemptTable, fairlead::rm::kLearnedUseTable,
                                  Learning::kTable, Draining::kTable, Draining::kOrderTable, Maintenance::kTable}) {
    const base::Result<std::vector<env::Row>> rows = store.Load(table);
    if (!rows.ok()) return rows.error();
    if (table == fairlead::rm::kAppTable) state.forgotten_apps = rows->size();
    for (const env::Row& row : *rows) state.forgotten.push_back({row.table, row.key, std::nullopt});
  }
  return state;
}

}  // namespace fairlead::process::rm
