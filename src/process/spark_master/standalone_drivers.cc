#include "base/stored.h"
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

}  // namespace

std::string StandaloneCluster::WhyNoDriver(const Submission& submission) const {
  size_t all = 0, its = 0, bytes = submission.bytes;
  const auto count = [&](const Submission& one) {
    ++all;
    its += one.from == submission.from ? 1 : 0;
    bytes += one.bytes;
  };
  for (const auto& [i, driver] : core_.drivers()) {
    if (driver.known) count(*records_.drivers()[i].submission);
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
  awaited_[event.token] = std::move(done);
  Feed(std::move(event), std::make_shared<const Submission>(std::move(submission)));
}

sa::DriverSubmitted EventOf(const es::DriverDescription& driver) {
  sa::DriverSubmitted event;
  event.cores = driver.cores;
  event.memory = driver.memory_mib;
  event.supervise = driver.supervise;
  for (const auto& [name, amount] : driver.resources) event.resources.push_back({name, amount});
  return event;
}

void StandaloneCluster::Apply(const sa::DriverAccepted& effect) {
  const std::string& id = records_.drivers()[effect.driver.value].id;
  log_.Info("a driver is submitted", {{"driver", id}});
  const auto waiting = awaited_.extract(effect.token);
  if (!waiting.empty()) waiting.mapped()(id);
}

void StandaloneCluster::Apply(const sa::LaunchDriver& effect) {
  const DriverRecord& driver = records_.drivers()[effect.driver.value];
  log_.Info("a driver is launched", {{"driver", driver.id}, {"worker", workers_.all()[effect.worker.value].said.id}});
  workers_.Tell(effect.worker, es::LaunchDriver{driver.id, driver.submission->description, ToWire(effect.resources)},
                driver.submission->kept);
}

void StandaloneCluster::Apply(const sa::KillDriver& effect) {
  workers_.Tell(effect.worker, es::KillDriver{records_.drivers()[effect.driver.value].id});
}

void StandaloneCluster::Apply(const sa::DriverEnded& effect) {
  const std::string& id = records_.drivers()[effect.driver.value].id;
  log_.Info("a driver is over", {{"driver", id}, {"state", std::string(EnumName(effect.state))}});
  records_.DriverGone(effect.driver.value, effect.exception);
}

void StandaloneCluster::KillDriver(const std::string& id, std::function<void(bool)> done) {
  const auto index = records_.ShownDriver(id);
  if (!index) return done(false);
  Feed(sa::DriverKilled{Await(std::move(done)), {*index}});
}

void StandaloneCluster::KillApplication(const std::string& id) {
  const auto index = records_.Application(id);
  if (!index) return;
  log_.Warn("an application is killed on request", {{"application", id}});
  Feed(sa::AppKilled{{*index}});
}

int StandaloneCluster::DecommissionHost(const std::string& host) {
  const std::vector<uint32_t> there = workers_.AliveAt(host);
  for (const uint32_t index : there) {
    log_.Info("a worker is decommissioned on request", {{"worker", workers_.all()[index].said.id}});
    workers_.Tell({index}, es::DecommissionWorker{});
    Feed(sa::WorkerDecommissioned{{index}});
  }
  return static_cast<int>(there.size());
}

std::vector<std::string> StandaloneCluster::LiveDrivers() const {
  std::vector<std::string> ids;
  for (const auto& [i, driver] : core_.drivers()) {
    if (driver.known) ids.push_back(records_.drivers()[i].id);
  }
  return ids;
}

}  // namespace fairlead::process::spark_master
