#include "process/spark_master/standalone_records.h"

#include "process/spark_master/create_request.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;

namespace {

/// Of all that have gone.
constexpr size_t kGoneBytesMax = size_t{4} << 20;

/// What pages show of a driver that has ended: no environment, no options, of its arguments those that name its class.
std::shared_ptr<const Submission> Shown(const Submission& submission) {
  constexpr size_t kArguments = 3, kTextMax = 1024;
  auto shown = std::make_shared<Submission>();
  es::DriverDescription& description = shown->description;
  description.cores = submission.description.cores;
  description.memory_mib = submission.description.memory_mib;
  description.supervise = submission.description.supervise;
  for (const std::string& argument : submission.description.command.arguments) {
    if (description.command.arguments.size() == kArguments) break;
    description.command.arguments.push_back(argument.substr(0, kTextMax));
  }
  shown->from = submission.from;
  return shown;
}

/// Of the gone ones the next that are too many are not shown any more.
template <class Records>
void ClearExcess(peers::GoneList& gone, Records& records) {
  while (const auto number = gone.TakeExcess()) {
    if (records.contains(*number)) records[*number].cleared = true;
  }
}

}  // namespace

StandaloneRecords::StandaloneRecords(const StandaloneSettings& settings)
    : driver_ids_as_names_(settings.driver_ids_as_names),
      ids_(settings.ids),
      gone_applications_({settings.retained_applications, kGoneBytesMax}),
      gone_drivers_({settings.retained_drivers, kGoneBytesMax}) {}

std::pair<uint32_t, ApplicationRecord&> StandaloneRecords::AddApplication(const std::string& name, base::WallTime now) {
  return TakeApplication(ids_.NewApplication(name, now, applications_.next()));
}

std::pair<uint32_t, ApplicationRecord&> StandaloneRecords::TakeApplication(const std::string& id) {
  const uint32_t index = applications_.next();
  ids_.TakeApplication(id, index);
  ApplicationRecord& record = applications_.Add();
  record.id = id;
  return {index, record};
}

DriverRecord& StandaloneRecords::TakeDriver(const std::string& id) {
  ids_.TakeDriver(id, drivers_.next());
  DriverRecord& record = drivers_.Add();
  record.id = id;
  return record;
}

DriverRecord& StandaloneRecords::AddDriver(std::shared_ptr<const Submission> submission, base::WallTime now) {
  DriverRecord& record = TakeDriver(ids_.NewDriver(now, drivers_.next()));
  if (driver_ids_as_names_) {
    auto named = std::make_shared<Submission>();
    named->description = submission->description;
    named->from = submission->from;
    named->bytes = submission->bytes;
    NameApplication(named->description, record.id);
    submission = std::move(named);
  }
  record.submission = std::move(submission);
  record.submitted = now;
  return record;
}

void StandaloneRecords::ApplicationGone(uint32_t index, base::WallTime now) {
  ApplicationRecord& record = applications_[index];
  record.machine = nullptr;
  record.ended = now;
  size_t bytes = sizeof record + record.description.name.size() + record.description.user.size() +
                 record.description.ui_url.size();
  for (const auto& [number, executor] : record.executors) {
    bytes += sizeof executor + executor.worker.size() + executor.message.size();
  }
  gone_applications_.Add(index, record.from, bytes);
  ClearExcess(gone_applications_, applications_);
}

void StandaloneRecords::DriverGone(uint32_t index, const std::string& exception) {
  constexpr size_t kExceptionMax = 4096;
  DriverRecord& record = drivers_[index];
  record.exception = exception.substr(0, kExceptionMax);
  record.gone = true;
  record.submission = Shown(*record.submission);
  size_t bytes = sizeof record + sizeof(Submission) + record.exception.size();
  for (const std::string& argument : record.submission->description.command.arguments) bytes += argument.size();
  gone_drivers_.Add(index, record.submission->from, bytes);
  ClearExcess(gone_drivers_, drivers_);
}

void StandaloneRecords::ClearCompleted() {
  for (auto& [i, application] : applications_) {
    if (application.ended.ms == 0) continue;
    application.cleared = true;
    gone_applications_.Remove(i);
  }
  for (auto& [i, driver] : drivers_) {
    if (!driver.gone) continue;
    driver.cleared = true;
    gone_drivers_.Remove(i);
  }
}

void StandaloneRecords::CollectUnshown(scheduler::standalone::Gone& gone) const {
  for (const auto& [i, application] : applications_) {
    if (application.cleared) gone.apps.insert(i);
  }
  for (const auto& [i, driver] : drivers_) {
    if (driver.cleared) gone.drivers.insert(i);
  }
}

void StandaloneRecords::Drop(const scheduler::standalone::Gone& gone) {
  ids_.Drop(gone.apps, gone.drivers);
  applications_.Drop(gone.apps);
  drivers_.Drop(gone.drivers);
}

std::optional<uint32_t> StandaloneRecords::ShownApplication(const std::string& id) const {
  const auto index = ids_.Application(id);
  return index && !applications_[*index].cleared ? index : std::nullopt;
}

std::optional<uint32_t> StandaloneRecords::ShownDriver(const std::string& id) const {
  const auto index = ids_.Driver(id);
  return index && !drivers_[*index].cleared ? index : std::nullopt;
}

}  // namespace fairlead::process::spark_master
