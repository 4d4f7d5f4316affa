#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/stored.h"
#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/tokens.h"
#include "process/rm/web.h"
#include "process/rpc/rpc_client.h"
#include "sim/cluster/small_cluster.h"
#include "wire/yarn/admin.h"
#include "wire/yarn/client.h"
#include "wire/yarn/container_manager.h"
#include "wire/yarn/master.h"
#include "wire/yarn/protocols.h"
#include "wire/yarn/tracker.h"

// A stranger's calls, through the lives of a resource manager and a node agent: read, stepped, stored, launched, and
// after a restart of both from what they stored, shown to others.

namespace {

using namespace fairlead;
namespace w = wire::yarn;
namespace y = endpoints::yarn;
using base::Duration;

constexpr int kCallsMax = 6;

void Must(bool good) {
  if (!good) std::abort();
}

/// Whoever calls the cluster, and those who look at it afterwards.
class Callers {
 public:
  Callers() { Start(); }

  /// Calls what the first byte says with the rest, as it is; or with what nobody could know set right.
  void Call(std::string_view input) {
    const std::string_view bytes = input.substr(1);
    switch (static_cast<uint8_t>(input[0]) % 9) {
      case 0:
        return Submit(bytes);
      case 1:
        return CallMaster("registerApplicationMaster", bytes);
      case 2:
        return CallMaster("allocate", bytes);
      case 3:
        return CallMaster("finishApplicationMaster", bytes);
      case 4:
        return StartContainers(bytes);
      case 5:
        return CallAny(Where::kTracker, w::kResourceTracker, w::kResourceTrackerMethods, bytes, std::nullopt);
      case 6:
        return CallAny(Where::kClient, w::kApplicationClientProtocol, w::kApplicationClientProtocolMethods, bytes,
                       std::nullopt);
      case 7:
        return CallAny(Where::kAdmin, w::kResourceManagerAdministrationProtocol,
                       w::kResourceManagerAdministrationProtocolMethods, bytes, std::nullopt);
      default:
        return CallAny(cluster_.node_address(), w::kContainerManagementProtocol, w::kContainerManagementProtocolMethods,
                       bytes, NmToken());
    }
  }

  void Restart() {
    const std::map<model::ApplicationId, std::string> before = Submissions();
    web_.reset();
    cluster_.Stop();
    Start();
    Must(cluster_.rm().unread().empty() && cluster_.node().unread().empty());
    Must(Submissions() == before);
  }

  /// What others ask is answered, and can be read.
  void Show() {
    Shown<w::GetApplicationsResponseProto>("getApplications", w::GetApplicationsRequestProto{});
    Shown<w::GetClusterNodesResponseProto>("getClusterNodes", w::GetClusterNodesRequestProto{});
    for (const auto& [id, submission] : Submissions()) {
      w::GetApplicationReportRequestProto report;
      report.application_id = y::ToWire(id);
      Shown<w::GetApplicationReportResponseProto>("getApplicationReport", report);
      w::GetApplicationAttemptsRequestProto attempts;
      attempts.application_id = y::ToWire(id);
      Shown<w::GetApplicationAttemptsResponseProto>("getApplicationAttempts", attempts);
    }
    for (const char* path : {"/ws/v1/cluster/apps", "/ws/v1/cluster/nodes", "/ws/v1/cluster/scheduler",
                             "/fairlead/v1/apps", "/fairlead/v1/nodes", "/fairlead/v1/events", "/metrics", "/jmx"}) {
      process::http::Request request;
      request.method = "GET";
      request.path = request.target = path;
      request.headers = {{"Accept", "application/json"}};
      request.asker = web_;  // long answers are made for those who still wait
      int status = 0;
      web_->Serve(request, [&](const process::http::Response& response) { status = response.status; });
      Pass(Duration::Seconds(1));
      Must(status == 200);
    }
  }

 private:
  using Where = sim::SmallCluster;
  using Token = std::optional<y::RpcToken>;

  void Start() {
    Must(cluster_.Start().ok());
    auto web =
        process::rm::Web::Start(cluster_.rm_host().loop(), {cluster_.rm_host().net()}, {"rm", 8088}, {}, cluster_.rm());
    Must(web.ok());
    web_ = std::move(*web);
  }

  void Pass(Duration time) { cluster_.Pass(time); }

  /// Without what is to be launched, which is not kept of those that have ended.
  std::map<model::ApplicationId, std::string> Submissions() const {
    std::map<model::ApplicationId, std::string> all;
    cluster_.rm().core().ForEachApp([&](const rm::App& app) {
      model::rm::Submission submission = app.submission;
      submission.context.clear();
      all[app.submission.id] = base::EncodeStored(submission);
    });
    return all;
  }

  void Send(const env::Endpoint& to, std::string_view protocol, std::string_view method, std::string request,
            Token token) {
    const process::rpc::RpcTarget target{to, std::string(protocol), {"stranger", "", std::move(token)}};
    rpc_.Call(target, method, std::move(request), Duration::Seconds(2),
              [](const base::Result<std::string, process::rpc::RpcError>&) {});
    Pass(Duration::Seconds(3));
  }

  void CallAny(const env::Endpoint& to, std::string_view protocol, std::span<const wire::proto::MethodInfo> methods,
               std::string_view bytes, Token token) {
    if (bytes.empty() || (protocol == w::kContainerManagementProtocol && !token)) return;
    const auto method = static_cast<uint8_t>(bytes[0]) % methods.size();
    Send(to, protocol, methods[method].name, std::string(bytes.substr(1)), std::move(token));
  }

  void Submit(std::string_view bytes) {
    Send(Where::kClient, w::kApplicationClientProtocol, "submitApplication", std::string(bytes), std::nullopt);
    w::SubmitApplicationRequestProto request;
    if (!request.ParseFrom(bytes, wire::hadoop_rpc::kMasterCall)) return;
    app_ = cluster_.NewApplication();
    auto& context = request.application_submission_context;
    if (!context) context.emplace();
    context->application_id = y::ToWire(app_);
    if (!context->am_container_spec) context->am_container_spec.emplace();
    Send(Where::kClient, w::kApplicationClientProtocol, "submitApplication", request.Encode(), std::nullopt);
  }

  const rm::Attempt* Attempt() const { return cluster_.AttemptOf(app_); }

  void CallMaster(const char* method, std::string_view bytes) {
    if (!Attempt()) return;
    Send(Where::kScheduler, w::kApplicationMasterProtocol, method, std::string(bytes),
         cluster_.rm().keys().AmRmToken(Attempt()->id));
  }

  Token NmToken() const { return Attempt() ? Token(cluster_.NmToken(Attempt()->id)) : std::nullopt; }

  /// Containers that the manager signs for.
  void StartContainers(std::string_view bytes) {
    w::StartContainersRequestProto request;
    if (!Attempt() || !request.ParseFrom(bytes, wire::hadoop_rpc::kMasterCall)) return;
    for (w::StartContainerRequestProto& one : request.start_container_request) {
      w::ContainerTokenIdentifierProto identifier;
      const std::string signed_for = one.container_token ? one.container_token->identifier : "";
      if (!identifier.ParseFrom(signed_for, wire::hadoop_rpc::kTokenIdentifier)) continue;
      if (!identifier.container_id) identifier.container_id.emplace();
      identifier.container_id->app_attempt_id = y::ToWire(Attempt()->id);
      identifier.nm_host_addr = cluster_.node_address().ToString();
      identifier.rm_identifier = cluster_.rm().core().cluster_timestamp();
      identifier.expiry_time_stamp = cluster_.rm_host().loop().Wall().ms + 600'000;
      one.container_token = y::ToWire(y::MintContainerToken(
          std::move(identifier), cluster_.rm().keys().container().current, cluster_.node_address().ToString()));
    }
    Send(cluster_.node_address(), w::kContainerManagementProtocol, "startContainers", request.Encode(), NmToken());
  }

  template <class Response, class Request>
  void Shown(const char* method, const Request& request) {
    bool shown = false;
    const process::rpc::RpcTarget target{Where::kClient, std::string(w::kApplicationClientProtocol), {"other", "", {}}};
    rpc_.Call<Response>(target, method, request, Duration::Seconds(2),
                        [&](const base::Result<Response, process::rpc::RpcError>& answer) { shown = answer.ok(); });
    Pass(Duration::Seconds(3));
    Must(shown);
  }

  sim::SmallCluster cluster_;
  env_sim::Machine& host_ = cluster_.world().AddMachine("stranger");
  process::rpc::RpcClient rpc_{host_.loop(), host_.net()};
  std::shared_ptr<process::rm::Web> web_;
  model::ApplicationId app_;
};

}  // namespace

/// Calls, each behind its length in two bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  Callers callers;
  for (int call = 0; call < kCallsMax && input.size() > 2; ++call) {
    const size_t length = static_cast<uint8_t>(input[0]) | static_cast<size_t>(static_cast<uint8_t>(input[1])) << 8;
    input.remove_prefix(2);
    const std::string_view one = input.substr(0, length);
    input.remove_prefix(one.size());
    if (!one.empty()) callers.Call(one);
  }
  callers.Restart();
  callers.Show();
  return 0;
}
