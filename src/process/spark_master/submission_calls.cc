#include "process/spark_master/submission_calls.h"

#include <utility>
#include <variant>

#include "endpoints/spark/known_description.h"
#include "process/spark_master/standalone_cluster.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;

namespace {

/// One call and how it is answered.
struct Asked {
  StandaloneCluster& cluster;
  const ExecutorSource::Master& master;
  const es::SparkBuild& build;
  const SubmissionCall& call;

  /// May be kept until there is an answer: `master` and `build` outlive the cluster, and it its connections.
  auto Reply() const {
    return [&to = master, &of = build, peer = call.peer, request = call.request](const auto& response) {
      to.peers->Reply(peer, request, es::Encode(of, response));
    };
  }

  void operator()(const es::RequestSubmitDriver& submit) const {
    const es::RpcAddress& here = master.address;
    if (cluster.standby()) {
      return Reply()(es::SubmitDriverResponse{here, false, std::nullopt, OnlyWhenAlive("accept driver submissions")});
    }
    auto kept = es::KeptDescription(build, call.came.content, submit.stored);
    if (!kept.ok()) return master.peers->Refuse(call.peer, call.request, kept.error().message);
    const size_t bytes = kept->size() + call.came.bytes;
    cluster.SubmitDriver({submit.description, std::move(*kept), master.peers->AddressOf(call.peer), bytes},
                         [reply = Reply(), &here](const base::Result<std::string>& id) {
                           if (!id.ok())
                             return reply(es::SubmitDriverResponse{here, false, std::nullopt, id.error().message});
                           reply(es::SubmitDriverResponse{here, true, *id, "Driver successfully submitted as " + *id});
                         });
  }

  void operator()(const es::RequestKillDriver& kill) const {
    const es::RpcAddress& here = master.address;
    if (cluster.standby()) {
      return Reply()(es::KillDriverResponse{here, kill.driver, false, OnlyWhenAlive("kill drivers")});
    }
    cluster.KillDriver(kill.driver, [reply = Reply(), &here, id = kill.driver](bool known) {
      reply(es::KillDriverResponse{here, id, known,
                                   known ? "Kill request for " + id + " submitted"
                                         : "Driver " + id + " has already finished or does not exist"});
    });
  }

  void operator()(const es::RequestKillAllDrivers&) const {
    if (cluster.standby()) {
      return Reply()(es::KillAllDriversResponse{master.address, false, OnlyWhenAlive("kill drivers")});
    }
    for (const std::string& id : cluster.LiveDrivers()) cluster.KillDriver(id, [](bool) {});
    Reply()(es::KillAllDriversResponse{master.address, true, "Kill request for all drivers submitted"});
  }

  void operator()(const es::RequestDriverStatus& status) const {
    es::DriverStatusResponse response;
    const auto index = cluster.standby() ? std::nullopt : cluster.records().ShownDriver(status.driver);
    if (index) {
      const scheduler::standalone::Driver& driver = cluster.core().drivers()[*index];
      response.found = true;
      response.state = static_cast<es::DriverState>(driver.state);
      if (driver.worker != UINT32_MAX) {
        const es::RegisterWorker& worker = cluster.workers().all()[driver.worker].said;
        response.worker = worker.id;
        response.worker_address = worker.host + ":" + std::to_string(worker.port);
      }
    }
    Reply()(response);
  }
};

}  // namespace

std::string OnlyWhenAlive(const char* what) {
  return std::string("Current state is not alive: STANDBY. Can only ") + what + " in ALIVE state.";
}

void AnswerSubmission(StandaloneCluster& cluster, const ExecutorSource::Master& master, const es::SparkBuild& build,
                      const SubmissionCall& call) {
  std::visit(Asked{cluster, master, build, call}, call.message);
}

}  // namespace fairlead::process::spark_master
