#include "sim/cluster/master.h"

#include <algorithm>

#include "endpoints/yarn/tokens.h"
#include "model/exit_status.h"
#include "wire/yarn/protocols.h"

namespace fairlead::sim {
namespace {

using base::Duration;
using process::rpc::RpcError;
using process::rpc::RpcErrorKind;
namespace yarn = wire::yarn;

constexpr Duration kCallTimeout = Duration::Seconds(10);
constexpr Duration kHeartbeat = Duration::Millis(500);
constexpr Duration kRetryPause = Duration::Millis(700);

bool Says(const RpcError& error, std::string_view exception) {
  return error.remote.class_name.find(exception) != std::string::npos;
}

std::string NodeKey(const yarn::NodeIdProto& node) {
  return node.host.value_or("") + ":" + std::to_string(node.port.value_or(0));
}

yarn::ResourceRequestProto AskFor(const JobSpec& job, const std::string& name, int count) {
  yarn::ResourceRequestProto ask;
  ask.priority.emplace().priority = 1;
  ask.resource_name = name;
  ask.capability.emplace().memory = job.task_size.memory_mib();
  ask.capability->virtual_cores = static_cast<int32_t>(job.task_size.vcores());
  ask.num_containers = count;
  ask.relax_locality = true;
  return ask;
}

}  // namespace

std::string MasterCommand(const JobSpec& job) {
  const char* const program = job.kind == JobSpec::Kind::kCount ? "simulate-driver " : "simulate-master ";
  return program + std::to_string(job.number) + " end";
}

std::string TaskCommand(const JobSpec& job, int task) {
  return "simulate-task " + std::to_string(job.number) + " " + std::to_string(task) + " end";
}

Master::Master(env_sim::World& world, env_sim::Machine& machine, process::rpc::Members scheduler, JobSpec job,
               model::ApplicationAttemptId attempt, endpoints::yarn::RpcToken token, Ledger& ledger,
               std::function<void(int exit_code)> exit)
    : world_(world),
      machine_(machine),
      scheduler_(std::move(scheduler)),
      job_(std::move(job)),
      attempt_(attempt),
      token_(std::move(token)),
      ledger_(ledger),
      exit_(std::move(exit)),
      rpc_(machine.loop(), machine.net()),
      done_(static_cast<size_t>(job_.tasks), false) {
  for (int task = job_.tasks - 1; task >= 0; --task) waiting_.push_back(task);
  if (world_.rng().Chance(job_.master_failure)) {
    const Duration when{world_.rng().Between(0, job_.task_time.ns * 2)};
    machine_.loop().After(when, alive_([this] {
                            ++world_.counts()["master dies"];
                            Exit(1);
                          }));
  }
  Later(Duration::Millis(100), &Master::Register);
}

Master::~Master() = default;

void Master::Later(Duration delay, void (Master::*step)()) {
  machine_.loop().After(delay, alive_([this, step] {
                          if (!exited_) (this->*step)();
                        }));
}

process::rpc::RpcTarget Master::SchedulerTarget() const {
  return {scheduler_.current(), std::string(yarn::kApplicationMasterProtocol), {life(), "", token_}};
}

void Master::Exit(int code) {
  if (std::exchange(exited_, true)) return;
  exit_(code);
}

/// Connections that fail are tried again, as clients of Hadoop do; a verdict about this attempt ends it.
void Master::OnError(const RpcError& error, void (Master::*again)()) {
  scheduler_.Failed(error);
  if (Says(error, "ApplicationMasterNotRegisteredException")) {
    ++world_.counts()["master registers again"];
    ++registration_;
    unanswered_.reset();
    response_id_ = 0;
    asked_ = -1;
    return Later(Duration::Millis(50), &Master::Register);
  }
  if (Says(error, "ApplicationAttemptNotFoundException") || Says(error, "InvalidToken")) {
    ++world_.counts()["master is disowned"];
    return Exit(1);
  }
  if (Says(error, "InvalidApplicationMasterRequestException") && again == &Master::Register) {
    // An earlier try took effect, and its reply was lost.
    ++world_.counts()["registration had taken effect"];
    return Later(Duration::Millis(50), &Master::Allocate);
  }
  if (Says(error, "InvalidApplicationMasterRequestException") && again == &Master::Finish) {
    // The attempt is over without it: its node was taken for lost, or an earlier try took effect.
    ++world_.counts()["master is disowned"];
    return Exit(1);
  }
  if (error.kind == RpcErrorKind::kRemote && process::rpc::IsRefusal(error)) {
    ledger_.Violation(life() + " was refused: " + error.remote.class_name + ": " + error.remote.message);
    return Exit(1);
  }
  ++world_.counts()["call tried again"];
  Later(kRetryPause, again);
}

void Master::Register() {
  yarn::RegisterApplicationMasterRequestProto request;
  request.host = machine_.host();
  request.rpc_port = -1;
  request.tracking_url = "";
  rpc_.Call<yarn::RegisterApplicationMasterResponseProto>(SchedulerTarget(), "registerApplicationMaster", request,
                                                          kCallTimeout, alive_([this](auto answer) {
                                                            if (exited_) return;
                                                            if (!answer)
                                                              return OnError(answer.error(), &Master::Register);
                                                            Allocate();
                                                          }));
}

yarn::AllocateRequestProto Master::NextRequest() {
  yarn::AllocateRequestProto request;
  request.response_id = response_id_;
  request.progress = static_cast<float>(std::count(done_.begin(), done_.end(), true)) / static_cast<float>(job_.tasks);
  const int wanted = static_cast<int>(waiting_.size());
  if (wanted != asked_) {
    request.ask.push_back(AskFor(job_, "*", wanted));
    if (!job_.preferred_host.empty()) {
      request.ask.push_back(AskFor(job_, job_.preferred_host, wanted));
      request.ask.push_back(AskFor(job_, "/default-rack", wanted));
    }
    asked_ = wanted;
  }
  request.release = std::exchange(releases_, {});
  return request;
}

void Master::Allocate() {
  if (!unanswered_) unanswered_ = NextRequest();
  rpc_.Call<yarn::AllocateResponseProto>(SchedulerTarget(), "allocate", *unanswered_, kCallTimeout,
                                         alive_([this](auto answer) {
                                           if (exited_) return;
                                           if (!answer) return OnError(answer.error(), &Master::Allocate);
                                           unanswered_.reset();
                                           OnAllocated(*answer);
                                         }));
}

void Master::OnAllocated(const yarn::AllocateResponseProto& response) {
  response_id_ = response.response_id.value_or(0);
  if (response.am_rm_token) token_ = endpoints::yarn::FromWire(*response.am_rm_token);
  for (const auto& token : response.nm_tokens) {
    node_tokens_[NodeKey(token.NodeId())] = endpoints::yarn::FromWire(token.Token());
  }
  for (const auto& container : response.allocated_containers) {
    if (asked_ > 0) --asked_;  // each grant took one off the ask
    if (waiting_.empty()) {
      releases_.push_back(container.Id());
      continue;
    }
    const int task = waiting_.back();
    waiting_.pop_back();
    StartTask(container, task);
  }
  for (const auto& status : response.completed_container_statuses) OnCompleted(status);
  if (std::all_of(done_.begin(), done_.end(), [](bool d) { return d; })) return Finish();
  Later(kHeartbeat, &Master::Allocate);
}

void Master::StartTask(const yarn::ContainerProto& container, int task) {
  const model::ContainerId id = endpoints::yarn::ContainerOf(container.Id());
  launched_[id] = {task};
  yarn::StartContainersRequestProto request;
  auto& start = request.start_container_request.emplace_back();
  start.container_token = container.container_token;
  start.container_launch_context.emplace().command.push_back(TaskCommand(job_, task));
  const std::string node = NodeKey(container.NodeId());
  const process::rpc::RpcTarget target{
      {container.NodeId().host.value_or(""), static_cast<uint16_t>(container.NodeId().port.value_or(0))},
      std::string(yarn::kContainerManagementProtocol),
      {life(), "", node_tokens_[node]}};
  rpc_.Call<yarn::StartContainersResponseProto>(target, "startContainers", request, kCallTimeout,
                                                alive_([this, id, proto = container.Id()](auto answer) {
                                                  if (exited_) return;
                                                  const auto found = launched_.find(id);
                                                  if (found == launched_.end()) return;
                                                  if (answer.ok() && answer->failed_requests.empty()) {
                                                    found->second.started = true;
                                                    return;
                                                  }
                                                  // Whether it runs is not known: give it back, take another.
                                                  ++world_.counts()["start of a container failed"];
                                                  waiting_.push_back(found->second.task);
                                                  launched_.erase(found);
                                                  releases_.push_back(proto);
                                                }));
}

void Master::OnCompleted(const Completed& status) {
  const model::ContainerId id = endpoints::yarn::ContainerOf(status.ContainerId());
  ledger_.MasterHeardEnd(life(), registration_, id);
  const auto found = launched_.find(id);
  if (found == launched_.end()) return;
  const int task = found->second.task;
  launched_.erase(found);
  if (status.exit_status.value_or(model::kExitInvalid) == 0) {
    done_[static_cast<size_t>(task)] = true;
  } else {
    ++world_.counts()["task runs again"];
    waiting_.push_back(task);
  }
}

void Master::Finish() {
  yarn::FinishApplicationMasterRequestProto request;
  request.final_application_status = yarn::FinalApplicationStatusProto::kSucceeded;
  request.diagnostics = "";
  request.tracking_url = "";
  rpc_.Call<yarn::FinishApplicationMasterResponseProto>(SchedulerTarget(), "finishApplicationMaster", request,
                                                        kCallTimeout, alive_([this](auto answer) {
                                                          if (exited_) return;
                                                          if (!answer) return OnError(answer.error(), &Master::Finish);
                                                          if (answer->IsUnregistered()) return Exit(0);
                                                          Later(Duration::Millis(200), &Master::Finish);
                                                        }));
}

}  // namespace fairlead::sim
