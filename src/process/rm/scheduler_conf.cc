#include "process/rm/scheduler_conf.h"

#include <utility>

#include "base/stored.h"

namespace fairlead::process::rm {

base::Result<std::optional<SchedulerConfRecord>> LoadSchedulerConf(env::Store& store) {
  auto rows = env::LoadRecords<SchedulerConfRecord>(store, kSchedulerConfTable);
  if (!rows.ok()) return rows.error();
  if (rows->empty()) return std::optional<SchedulerConfRecord>();
  return std::optional(std::move(rows->front().second));
}

env::Row SchedulerConf::Row() const { return {kSchedulerConfTable, "all", base::EncodeStored(now_)}; }

std::vector<env::Row> SchedulerConf::AtStart() {
  if (now_.version > 0) return {};
  now_.version = 1;
  if (!options_.kept) return {};
  return {Row()};
}

void SchedulerConf::Change(config::CapacityChange change, Done done) {
  Add([change = std::move(change)](const config::Properties& now) { return config::WithChange(now, change); },
      std::move(done));
}

void SchedulerConf::Format(Done done) {
  Add([this](const config::Properties&) { return options_.read_file(); }, std::move(done));
}

void SchedulerConf::Add(Make make, Done done) {
  waiting_.emplace_back(std::move(make), std::move(done));
  if (waiting_.size() == 1) Next();
}

void SchedulerConf::Next() {
  base::Result<config::Properties> keys = waiting_.front().first(now_.keys);
  if (!keys.ok()) return Ended(keys.error());
  use_(*keys, [this, keys = *keys](const base::Status& used) {
    if (!used.ok()) return Ended(used);
    now_ = {now_.version + 1, keys};
    if (!options_.kept) return Ended({});
    store_({Row()}, [this] { Ended({}); });
  });
}

void SchedulerConf::Ended(const base::Status& status) {
  const Done done = std::move(waiting_.front().second);
  waiting_.pop_front();
  const bool more = !waiting_.empty();  // before `done` may add one
  done(status);
  if (more) Next();
}

}  // namespace fairlead::process::rm
