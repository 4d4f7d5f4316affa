#include "sim/cluster/client.h"

#include <utility>

#include "endpoints/yarn/exceptions.h"
#include "wire/yarn/protocols.h"

namespace fairlead::sim {
namespace {

using base::Duration;
namespace yarn = wire::yarn;

constexpr Duration kCallTimeout = Duration::Seconds(10);
constexpr Duration kPollInterval = Duration::Seconds(1);

model::ApplicationId ToId(const yarn::ApplicationIdProto& proto) {
  return {proto.cluster_timestamp.value_or(0), proto.id.value_or(0)};
}

}  // namespace

JobClient::JobClient(env_sim::Machine& machine, process::rpc::Members rm, JobSpec job, Ledger& ledger)
    : machine_(machine),
      rm_(std::move(rm)),
      job_(std::move(job)),
      ledger_(ledger),
      rpc_(machine.loop(), machine.net()) {
  Later(Duration::Millis(1), &JobClient::GetId);
}

JobClient::~JobClient() = default;

void JobClient::Later(Duration delay, void (JobClient::*step)()) {
  machine_.loop().After(delay, alive_([this, step] { (this->*step)(); }));
}

template <class Response, class Request>
void JobClient::Call(const char* method, const Request& request, void (JobClient::*again)(),
                     std::function<void(const Response&)> then) {
  const process::rpc::RpcTarget target{rm_.current(),
                                       std::string(yarn::kApplicationClientProtocol),
                                       {"user" + std::to_string(job_.number % 3), "", std::nullopt}};
  rpc_.Call<Response>(target, method, request, kCallTimeout,
                      alive_([this, method, asked = machine_.loop().Now(), again, then = std::move(then)](auto answer) {
                        if (answer.ok()) {
                          failed_ = false;
                          return then(*answer);
                        }
                        if (answer.error().remote.class_name == endpoints::yarn::exceptions::kStandby) {
                          ledger_.SentElsewhere(rm_.current().host, method, asked);
                        }
                        rm_.Failed(answer.error());
                        if (process::rpc::IsRefusal(answer.error())) {
                          const auto& remote = answer.error().remote;
                          // A store that fails refuses the submission by name; the client tries again.
                          const bool store = remote.message.find("store") != std::string::npos;
                          if (acknowledged_ || !store) {
                            ledger_.Violation(ToString(ToId(id_)) + (acknowledged_ ? " (acknowledged)" : "") + " " +
                                              method + ": " + remote.class_name + ": " + remote.message);
                            if (acknowledged_) return;
                          }
                        }
                        Later(Wait(), again);
                      }));
}

base::Duration JobClient::Wait() { return std::exchange(failed_, true) ? Duration::Seconds(1) : Duration::Millis(1); }

void JobClient::GetId() {
  Call<yarn::GetNewApplicationResponseProto>("getNewApplication", yarn::GetNewApplicationRequestProto{},
                                             &JobClient::GetId, [this](const auto& answer) {
                                               id_ = answer.ApplicationId();
                                               Submit();
                                             });
}

void JobClient::Submit() {
  yarn::SubmitApplicationRequestProto request;
  auto& context = request.application_submission_context.emplace();
  context.application_id = id_;
  context.application_name = "job " + std::to_string(job_.number);
  context.queue = job_.queue;
  context.max_app_attempts = 3;
  context.resource.emplace().memory = 256;
  context.resource->virtual_cores = 1;
  context.am_container_spec.emplace().command.push_back(MasterCommand(job_));
  Call<yarn::SubmitApplicationResponseProto>("submitApplication", request, &JobClient::Submit, [this](const auto&) {
    acknowledged_ = true;
    ledger_.Acknowledged(ToId(id_));
    Later(kPollInterval, &JobClient::Poll);
  });
}

void JobClient::Poll() {
  yarn::GetApplicationReportRequestProto request;
  request.application_id = id_;
  Call<yarn::GetApplicationReportResponseProto>(
      "getApplicationReport", request, &JobClient::Poll, [this](const auto& answer) {
        const auto& report = answer.ApplicationReport();
        if (report.YarnApplicationState() < yarn::YarnApplicationStateProto::kFinished) {
          return Later(kPollInterval, &JobClient::Poll);
        }
        ended_ = true;
        const model::ApplicationId app = ToId(id_);
        const bool complete =
            job_.kind == JobSpec::Kind::kCount ? ledger_.result_right(app) : ledger_.tasks_done(app) == job_.tasks;
        ledger_.Ended(app, std::string(Name(report.FinalApplicationStatus())), complete);
        if (report.FinalApplicationStatus() != yarn::FinalApplicationStatusProto::kSucceeded &&
            report.Diagnostics().empty()) {
          ledger_.Violation(ToString(ToId(id_)) + " ended " + std::string(Name(report.YarnApplicationState())) +
                            " with " + std::string(Name(report.FinalApplicationStatus())) + " without a stated reason");
        }
      });
}

}  // namespace fairlead::sim
