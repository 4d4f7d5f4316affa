#include "process/spark_master/yarn_source.h"

#include "process/spark_master/set_aside.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;

void YarnSource::Attach(const Master& master) {
  settings_.host = master.address.host;
  settings_.port = master.address.port;
}

std::unique_ptr<Application> YarnSource::Make(const es::SparkBuild& build, es::RegisterApplication registration,
                                              Application::Callbacks callbacks) {
  if (!registration.application.profile.other.empty()) {
    log_.Warn("executors get no resources besides cores and memory",
              {{"name", registration.application.name}, {"asked", registration.application.profile.other.front()}});
  }
  return std::make_unique<YarnApplication>(loop_, net_, store_, log_, settings_, build, std::move(registration),
                                           std::move(callbacks));
}

base::Result<std::vector<ExecutorSource::Stored>> YarnSource::Load() {
  std::vector<Stored> all;
  if (store_ == nullptr) return all;
  std::vector<BadRow> bad;
  auto records = LoadReadable<StoredApplication>(*store_, kApplicationTable, bad);
  if (!records) return records.error();
  std::erase_if(*records, [&](const auto& record) {
    const base::Status fit = CheckStored(record.second);
    if (!fit.ok())
      bad.push_back({kApplicationTable, record.first, base::EncodeStored(record.second), fit.error().message});
    return !fit.ok();
  });
  for (const BadRow& row : bad) SetRowAside(*store_, log_, row);
  for (auto& [id, stored] : *records) {
    all.push_back({id, stored.registration});
    loaded_[id] = std::move(stored);
  }
  return all;
}

std::unique_ptr<Application> YarnSource::MakeStored(const std::string& id, const es::SparkBuild& build,
                                                    es::RegisterApplication registration,
                                                    Application::Callbacks callbacks) {
  return std::make_unique<YarnApplication>(loop_, net_, store_, log_, settings_, build, std::move(registration),
                                           std::move(callbacks), id, std::move(loaded_.extract(id).mapped()));
}

void YarnSource::SetAside(const std::string& id, const std::string& why) {
  const auto stored = loaded_.extract(id);
  SetRowAside(*store_, log_, {kApplicationTable, id, base::EncodeStored(stored.mapped()), why});
}

void YarnSource::Forget(const std::string& id) {
  loaded_.erase(id);
  store_->Commit({{kApplicationTable, id, std::nullopt}}, [](const env::CommitStatus&) {});
}

}  // namespace fairlead::process::spark_master
