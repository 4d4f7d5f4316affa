#include "base/stored.h"
#include "process/spark_master/create_request.h"
#include "process/spark_master/standalone_application.h"
#include "process/spark_master/standalone_cluster.h"

// Drivers that run on workers (--deploy-mode cluster).

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
namespace sa = model::standalone;

namespace {

/// Drivers that have not ended: of all, and of one address.
constexpr size_t kDriversMax = 2000;
constexpr size_t kDriversOfAddressMax = 1000;
constexpr size_t kDriverBytesMax = size_t{32} << 20;

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

void StandaloneCluster::AddDriver(uint32_t index, std::shared_ptr<const Submission> submission) {
  DriverRecord& record = drivers_.Add();
  record.id = ids_.NewDriver(loop_.Wall(), index);
  if (settings_.driver_ids_as_names) {
    auto named = std::make_shared<Submission>();
    named->description = submission->description;
    named->from = submission->from;
    named->bytes = submission->bytes;
    NameApplication(named->description, record.id);
    submission = std::move(named);
  }
  record.submission = std::move(submission);
  record.submitted = loop_.Wall();
}

std::string StandaloneCluster::WhyNoDriver(const Submission& submission) const {
  size_t all = 0, its = 0, bytes = submission.bytes;
  const auto count = [&](const Submission& one) {
    ++all;
    its += one.from == submission.from ? 1 : 0;
    bytes += one.bytes;
  };
  for (const auto& [i, driver] : core_.drivers()) {
    if (driver.known) count(*drivers_[i].submission);
  }
  for (const Fed& fed : queue_) {
    if (fed.submission) count(*fed.submission);
  }
  if (all < kDriversMax && its < kDriversOfAddressMax && bytes <= kDriverBytesMax) return "";
  return "too many drivers have not ended: " + std::to_string(all) + ", of your address " + std::to_string(its) +
         ", together " + std::to_string(bytes >> 20) + " MiB; submit again when some have ended";
}

void StandaloneCluster::SubmitDriver(Submission submission, std::function<void(base::Result<std::string>)> done) {
  constexpr size_t kFactor = 2;  // as it came, and in the core
  submission.bytes += kFactor * base::EncodeStored(submission.description).size();
  if (std::string why = WhyNoDriver(submission); !why.empty()) {
    master_.peers->refusals().Count(spark_rpc::Refusal::kMany);
    return done(base::Error{std::move(why)});
  }
  sa::DriverSubmitted event = EventOf(submission.description);
  event.token = ++last_token_;
  accepted_[event.token] = std::move(done);
  Feed(std::move(event), std::make_shared<const Submission>(std::move(submission)));
}

sa::DriverSubmitted StandaloneCluster::EventOf(const es::DriverDescription& driver) {
  sa::DriverSubmitted event;
  event.cores = driver.cores;
  event.memory = driver.memory_mib;
  event.supervise = driver.supervise;
  for (const auto& [name, amount] : driver.resources) event.resources.push_back({name, amount});
  return event;
}

void StandaloneCluster::Apply(const sa::DriverAccepted& effect) {
  const std::string& id = drivers_[effect.driver.value].id;
  log_.Info("a driver is submitted", {{"driver", id}});
  const auto waiting = accepted_.extract(effect.token);
  if (!waiting.empty()) waiting.mapped()(id);
}

void StandaloneCluster::Apply(const sa::LaunchDriver& effect) {
  const DriverRecord& driver = drivers_[effect.driver.value];
  log_.Info("a driver is launched", {{"driver", driver.id}, {"worker", workers_[effect.worker.value].said.id}});
  Tell(effect.worker, es::LaunchDriver{driver.id, driver.submission->description, ToWire(effect.resources)},
       driver.submission->kept);
}

void StandaloneCluster::Apply(const sa::KillDriver& effect) {
  Tell(effect.worker, es::KillDriver{drivers_[effect.driver.value].id});
}

void StandaloneCluster::Apply(const sa::DriverEnded& effect) {
  DriverRecord& driver = drivers_[effect.driver.value];
  constexpr size_t kExceptionMax = 4096;
  driver.exception = effect.exception.substr(0, kExceptionMax);
  log_.Info("a driver is over", {{"driver", driver.id}, {"state", std::string(EnumName(effect.state))}});
  DriverGone(effect.driver.value);
}

std::optional<uint32_t> StandaloneCluster::DriverIndexOf(const std::string& id) const {
  const auto index = ids_.Driver(id);
  return index && !drivers_[*index].cleared ? index : std::nullopt;
}

void StandaloneCluster::ApplicationGone(uint32_t index) {
  const ApplicationRecord& record = applications_[index];
  size_t bytes = sizeof record + record.description.name.size() + record.description.user.size() +
                 record.description.ui_url.size();
  for (const auto& [number, executor] : record.executors) {
    bytes += sizeof executor + executor.worker.size() + executor.message.size();
  }
  gone_applications_.Add(index, record.from, bytes);
  ClearExcess(gone_applications_, applications_);
}

void StandaloneCluster::DriverGone(uint32_t index) {
  DriverRecord& record = drivers_[index];
  record.submission = Shown(*record.submission);
  size_t bytes = sizeof record + sizeof(Submission) + record.exception.size();
  for (const std::string& argument : record.submission->description.command.arguments) bytes += argument.size();
  gone_drivers_.Add(index, record.submission->from, bytes);
  ClearExcess(gone_drivers_, drivers_);
}

void StandaloneCluster::ClearCompleted() {
  for (auto& [i, application] : applications_) {
    if (application.ended.ms == 0) continue;
    application.cleared = true;
    gone_applications_.Remove(i);
  }
  for (const auto& [i, driver] : core_.drivers()) {
    if (driver.known) continue;
    drivers_[i].cleared = true;
    gone_drivers_.Remove(i);
  }
}

void StandaloneCluster::DropUnshown() {
  if (stepping_ || !queue_.empty()) return;
  added_ = 0;
  for (const auto& [i, worker] : core_.workers()) {
    WorkerRecord& record = workers_[i];
    if (record.counted || worker.state != sa::WorkerState::kDead || worker.id.empty()) continue;
    record.counted = true;
    const es::RegisterWorker& said = record.said;
    gone_workers_.Add(i, record.from, kWorkerBytes + 2 * base::EncodeStored(ToStored(said)).size());
  }
  while (const auto number = gone_workers_.TakeExcess()) workers_[*number].forgotten = true;
  scheduler::standalone::Gone gone;
  std::set<uint32_t> named;  // workers of drivers that are shown
  for (const auto& [i, app] : core_.apps()) {
    if (applications_[i].cleared) gone.apps.insert(i);
  }
  for (const auto& [i, driver] : core_.drivers()) {
    (drivers_[i].cleared ? gone.drivers : named).insert(drivers_[i].cleared ? i : driver.worker);
  }
  for (const auto& [i, worker] : core_.workers()) {
    if (Shows(i) || named.contains(i)) continue;
    gone.workers.insert(i);
    gone_workers_.Remove(i);
  }
  const auto drop = [](auto& numbers, const std::set<uint32_t>& dropped) {
    std::erase_if(numbers, [&](const auto& one) { return dropped.contains(one.second); });
  };
  ids_.Drop(gone.apps, gone.drivers);
  drop(members_, gone.workers);
  drop(alive_workers_, gone.workers);  // one whose place was taken before it had answered after a restart
  applications_.Drop(gone.apps);
  drivers_.Drop(gone.drivers);
  workers_.Drop(gone.workers);
  core_.Forget(gone);
}

void StandaloneCluster::KillDriver(const std::string& id, std::function<void(bool)> done) {
  const auto index = DriverIndexOf(id);
  if (!index) return done(false);
  Feed(sa::DriverKilled{NewToken(std::move(done)), {*index}});
}

void StandaloneCluster::KillApplication(const std::string& id) {
  const auto index = ids_.Application(id);
  if (!index) return;
  log_.Warn("an application is killed on request", {{"application", id}});
  Feed(sa::AppKilled{{*index}});
}

int StandaloneCluster::DecommissionHost(const std::string& host) {
  std::vector<uint32_t> there;
  for (const auto& [id, index] : alive_workers_) {
    const bool alive = core_.workers()[index].state == sa::WorkerState::kAlive;
    if (alive && workers_[index].said.host == host) there.push_back(index);
  }
  for (const uint32_t index : there) {
    log_.Info("a worker is decommissioned on request", {{"worker", workers_[index].said.id}});
    Tell({index}, es::DecommissionWorker{});
    Feed(sa::WorkerDecommissioned{{index}});
  }
  return static_cast<int>(there.size());
}

std::vector<std::string> StandaloneCluster::LiveDrivers() const {
  std::vector<std::string> ids;
  for (const auto& [i, driver] : core_.drivers()) {
    if (driver.known) ids.push_back(drivers_[i].id);
  }
  return ids;
}

void StandaloneCluster::On(Peers::PeerId peer, std::optional<int64_t> request, const es::DriverStateChanged& message) {
  const auto worker = WorkerOf(peer);
  const auto index = DriverIndexOf(message.driver);
  if (worker && index) {
    Feed(sa::DriverStateChanged{{*index},
                                static_cast<sa::DriverState>(message.state),
                                sa::WorkerIndex{*worker},
                                message.exception.value_or("")});
  }
  Answer(peer, request, true);
}

}  // namespace fairlead::process::spark_master
