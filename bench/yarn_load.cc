// Load for a resource manager: fake nodes, idle masters and busy masters over YARN's own protocols, from one thread.
//
// Busy masters ask for --batch containers a call; calls fall due at random (Poisson) so that --rate containers a second
// are asked for, whatever the answers take: a call's latency counts from when it was due (open loop). A container ends
// with its node's next heartbeat. One container token in 64 is verified with the key its node was given.
// Prints one JSON line for each window in which it measures.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/check.h"
#include "endpoints/yarn/tokens.h"
#include "env_posix/posix_loop.h"
#include "process/rpc/rpc_client.h"
#include "wire/yarn/client.h"
#include "wire/yarn/master.h"
#include "wire/yarn/protocols.h"
#include "wire/yarn/tracker.h"

namespace {

using namespace fairlead;
namespace yarn = wire::yarn;
using base::Duration;
using process::rpc::RpcClient;
using process::rpc::RpcError;
using process::rpc::RpcTarget;
using Clock = std::chrono::steady_clock;

constexpr Duration kTimeout = Duration::Seconds(120);
constexpr int kVerifyOneIn = 64;
/// Of the containers that busy masters ask for, in MiB, and of those that waiting masters want and keep.
constexpr int64_t kShortMiB = 1024, kKeptMiB = 8192;
/// Nodes that register at once, and masters that submit.
constexpr int kTogether = 32;
/// How often a master asks for its token: on a machine that is busy these calls are in the way of what they wait for.
constexpr Duration kFirstAsk = Duration::Millis(20), kLastAsk = Duration::Millis(500);

struct Options {
  uint16_t tracker = 0, scheduler = 0, client = 0;
  int nodes = 100, idle = 0, waiting = 0, busy = 50, batch = 100;
  int64_t node_mb = 1 << 20;
  double rate = 10000, seconds = 10, warm_up = 2;
  int64_t heartbeat_ms = 1000, master_heartbeat_ms = 1000;
  std::string queue = "default";
  std::string others_to = "127.0.0.1";
  uint32_t seed = 1;
  int windows = 1;
};

template <class Value>
Value Must(base::Result<Value, RpcError> answer, const char* call) {
  if (!answer.ok()) {
    std::fprintf(stderr, "yarn_load: %s: %s %s\n", call, answer.error().message.c_str(),
                 answer.error().remote.message.c_str());
    std::exit(1);
  }
  return std::move(*answer);
}

/// Makes a call again whose connection is lost, as Hadoop's clients do: a manager closes those whose login takes ten
/// seconds, as it may on a busy machine.
class Caller {
 public:
  Caller(env::Loop& loop, env::Net& net, process::rpc::RpcClientLimits limits)
      : loop_(loop), rpc_(loop, net, std::move(limits)) {}

  template <class Response, class Request>
  void Call(const RpcTarget& target, const char* method, const Request& request,
            std::function<void(base::Result<Response, RpcError>)> done) {
    Try(target, method, request.Encode(), kTries, [done = std::move(done)](base::Result<std::string, RpcError> bytes) {
      if (!bytes.ok()) return done(bytes.error());
      Response response;
      FL_CHECK(response.ParseFrom(*bytes, wire::hadoop_rpc::kAnswer).ok(), "an answer cannot be read");
      done(std::move(response));
    });
  }

 private:
  static constexpr int kTries = 20;

  void Try(const RpcTarget& target, const char* method, std::string request, int tries, RpcClient::Done done) {
    rpc_.Call(target, method, request, kTimeout,
              [=, this, done = std::move(done)](base::Result<std::string, RpcError> answer) {
                using enum process::rpc::RpcErrorKind;
                const bool lost = !answer.ok() && (answer.error().kind == kConnect || answer.error().kind == kCut);
                if (!lost || tries == 1) return done(std::move(answer));
                loop_.After(Duration::Seconds(1), [=, this] { Try(target, method, request, tries - 1, done); });
              });
  }

  env::Loop& loop_;
  RpcClient rpc_;
};

struct Totals {
  int64_t granted = 0, ended = 0, verified = 0, calls = 0;
  std::vector<double> latencies_us;
};

/// A node that starts nothing: it reports the end of what was granted on it, but for what waiting masters keep.
class Node {
 public:
  Node(const Options& options, env::Loop& loop, Caller& rpc, int number, Totals& totals)
      : options_(options), loop_(loop), rpc_(rpc), totals_(totals) {
    // An address: Hadoop would look a name up.
    id_.host = "127.1." + std::to_string(number / 250) + "." + std::to_string(number % 250 + 1);
    id_.port = 40000;
    // A port lets one address have 10,000 connections.
    target_ = {{number % 2 == 0 ? "127.0.0.1" : options.others_to, options.tracker},
               std::string(yarn::kResourceTracker),
               {*id_.host, "", {}}};
  }

  void Register(std::function<void()> done) {
    yarn::RegisterNodeManagerRequestProto request;
    request.node_id = id_;
    request.http_port = 8042;
    request.resource.emplace().memory = options_.node_mb;
    request.resource->virtual_cores = 1024;
    request.nm_version = "3.3.6";
    rpc_.Call<yarn::RegisterNodeManagerResponseProto>(
        target_, "registerNodeManager", request, [this, done](auto answer) {
          const auto response = Must(std::move(answer), "registerNodeManager");
          FL_CHECK(response.NodeAction() == yarn::NodeActionProto::kNormal, "the node is refused");
          container_key_ = response.container_token_master_key;
          nm_key_ = response.nm_token_master_key;
          tokens_.SetNode(*id_.host, *id_.port);
          tokens_.SetContainerTokenKey({container_key_->KeyId(), std::string(container_key_->Bytes())});
          done();
        });
  }

  void Beat() {
    yarn::NodeHeartbeatRequestProto request;
    auto& status = request.node_status.emplace();
    status.node_id = id_;
    status.response_id = response_id_;
    status.node_health_status.emplace().is_node_healthy = true;
    status.node_health_status->last_health_report_time = 1;
    for (auto& container : granted_) {
      auto& ended = status.containers_statuses.emplace_back();
      ended.container_id = std::move(container);
      ended.state = yarn::ContainerStateProto::kComplete;
      ended.exit_status = 0;
    }
    totals_.ended += static_cast<int64_t>(granted_.size());
    granted_.clear();
    request.last_known_container_token_master_key = container_key_;
    request.last_known_nm_token_master_key = nm_key_;
    rpc_.Call<yarn::NodeHeartbeatResponseProto>(target_, "nodeHeartbeat", request, [this](auto answer) {
      const auto response = Must(std::move(answer), "nodeHeartbeat");
      FL_CHECK(response.NodeAction() == yarn::NodeActionProto::kNormal, "the node is sent away");
      response_id_ = response.ResponseId();
      loop_.After(Duration::Millis(options_.heartbeat_ms), [this] { Beat(); });
    });
  }

  void Granted(const yarn::ContainerProto& container) {
    FL_CHECK(container.container_token.has_value(), "a grant without a token");
    if (++totals_.granted % kVerifyOneIn == 0) {
      FL_CHECK(tokens_.VerifyContainerToken(*container.container_token).ok(), "a container token is not valid");
      ++totals_.verified;
    }
    if (container.Resource().Memory() < kKeptMiB) granted_.push_back(container.Id());
  }

  const std::string& host() const { return *id_.host; }

 private:
  const Options& options_;
  env::Loop& loop_;
  Caller& rpc_;
  Totals& totals_;
  yarn::NodeIdProto id_;
  RpcTarget target_;
  std::optional<yarn::MasterKeyProto> container_key_, nm_key_;
  endpoints::yarn::NodeTokens tokens_;
  int32_t response_id_ = 0;
  std::vector<yarn::ContainerIdProto> granted_;
};

/// An unmanaged application master.
class Master {
 public:
  Master(const Options& options, env::Loop& loop, Caller& rpc, int number, std::map<std::string, Node*>& nodes,
         Totals& totals)
      : options_(options), loop_(loop), rpc_(rpc), nodes_(nodes), totals_(totals) {
    client_ = {{"127.0.0.1", options.client},
               std::string(yarn::kApplicationClientProtocol),
               {"user" + std::to_string(number % 20), "", {}}};
    const bool loopback = number % 3 == 0;
    scheduler_ = {{loopback ? "127.0.0.1" : options.others_to, options.scheduler},
                  std::string(yarn::kApplicationMasterProtocol),
                  {}};
  }

  void Submit(std::function<void()> done) {
    ready_ = std::move(done);
    rpc_.Call<yarn::GetNewApplicationResponseProto>(
        client_, "getNewApplication", yarn::GetNewApplicationRequestProto{}, [this](auto answer) {
          app_ = Must(std::move(answer), "getNewApplication").ApplicationId();
          yarn::SubmitApplicationRequestProto request;
          auto& context = request.application_submission_context.emplace();
          context.application_id = app_;
          context.application_name = "load";
          context.queue = options_.queue;
          context.unmanaged_am = true;
          context.max_app_attempts = 1;
          context.am_container_spec.emplace();
          context.resource.emplace().memory = 256;
          context.resource->virtual_cores = 1;
          rpc_.Call<yarn::SubmitApplicationResponseProto>(client_, "submitApplication", request,
                                                          [this](auto submitted) {
                                                            (void)Must(std::move(submitted), "submitApplication");
                                                            FetchToken();
                                                          });
        });
  }

  bool busy() const { return calling_; }

  /// One allocate call that was due at `due`, with a wish for `more` containers; no call may be open.
  void Allocate(Clock::time_point due, int more, bool counted) { Call(due, more, kShortMiB, counted); }
  /// Wants so many containers that it keeps.
  void Want(int containers) { Call(Clock::now(), containers, kKeptMiB, false); }

 private:
  void Call(Clock::time_point due, int more, int64_t memory, bool counted) {
    calling_ = true;
    yarn::AllocateRequestProto request;
    request.response_id = response_id_;
    request.progress = 0.5F;
    wanted_ += more;
    if (more > 0) {
      auto& ask = request.ask.emplace_back();
      ask.priority.emplace().priority = 1;
      ask.resource_name = "*";
      ask.capability.emplace().memory = memory;
      ask.capability->virtual_cores = 1;
      ask.num_containers = wanted_;
      ask.relax_locality = true;
    }
    rpc_.Call<yarn::AllocateResponseProto>(scheduler_, "allocate", request, [this, due, counted](auto answer) {
      const auto response = Must(std::move(answer), "allocate");
      calling_ = false;
      response_id_ = response.ResponseId();
      for (const auto& container : response.allocated_containers) {
        nodes_.at(std::string(container.NodeId().Host()))->Granted(container);
      }
      wanted_ -= static_cast<int>(response.allocated_containers.size());
      ++totals_.calls;
      if (counted) {
        totals_.latencies_us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - due).count());
      }
    });
  }
  void FetchToken() {
    yarn::GetApplicationReportRequestProto request;
    request.application_id = app_;
    rpc_.Call<yarn::GetApplicationReportResponseProto>(client_, "getApplicationReport", request, [this](auto answer) {
      const auto response = Must(std::move(answer), "getApplicationReport");
      const auto& report = response.ApplicationReport();
      if (!report.am_rm_token) {
        loop_.After(ask_again_, [this] { FetchToken(); });
        ask_again_ = std::min(ask_again_ * 2, kLastAsk);
        return;
      }
      scheduler_.user.token = endpoints::yarn::FromWire(*report.am_rm_token);
      Register();
    });
  }

  void Register() {
    yarn::RegisterApplicationMasterRequestProto request;
    request.host = "localhost";
    request.rpc_port = 0;
    rpc_.Call<yarn::RegisterApplicationMasterResponseProto>(
        scheduler_, "registerApplicationMaster", request, [this](auto answer) {
          // It was registered when the connection was lost.
          const bool again =
              !answer.ok() && answer.error().remote.class_name.ends_with("InvalidApplicationMasterRequestException");
          if (!again) (void)Must(std::move(answer), "register");
          ready_();
        });
  }

  const Options& options_;
  env::Loop& loop_;
  Caller& rpc_;
  std::map<std::string, Node*>& nodes_;
  Totals& totals_;
  RpcTarget client_, scheduler_;
  yarn::ApplicationIdProto app_;
  std::function<void()> ready_;
  int32_t response_id_ = 0;
  int wanted_ = 0;
  bool calling_ = false;
  Duration ask_again_ = kFirstAsk;
};

class Load {
 public:
  explicit Load(Options options)
      : options_(std::move(options)),
        loop_(env_posix::MakePosixLoop()),
        rpc_(*loop_, *loop_, Limits()),
        rng_(options_.seed) {}

  void Run() {
    for (int i = 0; i < options_.nodes; ++i) {
      nodes_.push_back(std::make_unique<Node>(options_, *loop_, rpc_, i, totals_));
      by_host_[nodes_.back()->host()] = nodes_.back().get();
    }
    for (int i = 0; i < options_.busy + options_.waiting + options_.idle; ++i) {
      masters_.push_back(std::make_unique<Master>(options_, *loop_, rpc_, i, by_host_, totals_));
    }
    for (int lane = 0; lane < std::min(kTogether, options_.nodes); ++lane) RegisterNext();
    loop_->Run();
  }

 private:
  static process::rpc::RpcClientLimits Limits() {
    process::rpc::RpcClientLimits limits;
    limits.idle = Duration::Seconds(600);
    return limits;
  }

  void RegisterNext() {
    if (registering_ == nodes_.size()) return;
    const size_t i = registering_++;
    nodes_[i]->Register([this, i] {
      loop_->After(Duration::Millis(static_cast<int64_t>(i) % options_.heartbeat_ms), [this, i] { nodes_[i]->Beat(); });
      if (++registered_ < nodes_.size()) return RegisterNext();
      for (int lane = 0; lane < kTogether; ++lane) SubmitNext();
    });
  }

  void SubmitNext() {
    if (submitted_ == masters_.size()) return;
    masters_[submitted_++]->Submit([this] {
      if (++ready_ == masters_.size()) return Begin();
      SubmitNext();
    });
  }

  void Begin() {
    begin_ = Clock::now();
    count_from_ = begin_ + Seconds(options_.warm_up);
    end_ = count_from_ + Seconds(options_.seconds);
    next_due_ = begin_;
    // Twice as many as there are nodes, of which each takes one.
    for (int i = 0; i < options_.waiting; ++i) {
      masters_[static_cast<size_t>(options_.busy + i)]->Want(2 * options_.nodes / options_.waiting);
    }
    IdleBeats(static_cast<size_t>(options_.busy));
    Tick();
  }

  static Clock::duration Seconds(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  /// Idle masters call once in a heartbeat each, spread evenly.
  void IdleBeats(size_t first) {
    for (size_t i = first; i < masters_.size(); ++i) {
      const auto offset = static_cast<int64_t>(i - first) * options_.master_heartbeat_ms /
                          static_cast<int64_t>(masters_.size() - first);
      loop_->After(Duration::Millis(offset), [this, i] { IdleBeat(i); });
    }
  }
  void IdleBeat(size_t i) {
    if (!masters_[i]->busy()) masters_[i]->Allocate(Clock::now(), 0, false);
    loop_->After(Duration::Millis(options_.master_heartbeat_ms), [this, i] { IdleBeat(i); });
  }

  void Tick() {
    const auto now = Clock::now();
    if (now >= count_from_ && !counting_) {
      counting_ = true;
      granted_before_ = totals_.granted;
      ended_before_ = totals_.ended;
      calls_before_ = totals_.calls;
    }
    if (now >= end_) return Report(now);
    for (; next_due_ <= now; next_due_ += Seconds(gap_(rng_) * options_.batch / options_.rate))
      due_.push_back(next_due_);
    while (!due_.empty()) {
      Master* master = FreeMaster();
      if (!master) break;
      master->Allocate(due_.front(), options_.batch, due_.front() >= count_from_);
      due_.pop_front();
    }
    loop_->After(Duration::Micros(200), [this] { Tick(); });
  }

  Master* FreeMaster() {
    for (int tried = 0; tried < options_.busy; ++tried) {
      Master* master = masters_[next_master_].get();
      next_master_ = (next_master_ + 1) % static_cast<size_t>(options_.busy);
      if (!master->busy()) return master;
    }
    return nullptr;
  }

  void Report(Clock::time_point now) {
    const double seconds = std::chrono::duration<double>(now - count_from_).count();
    auto& latencies = totals_.latencies_us;
    std::sort(latencies.begin(), latencies.end());
    const auto at = [&](double share) {
      return latencies.empty() ? 0 : latencies[static_cast<size_t>(share * static_cast<double>(latencies.size() - 1))];
    };
    const nlohmann::json line = {
        {"seconds", seconds},
        {"grants_per_second", static_cast<double>(totals_.granted - granted_before_) / seconds},
        {"ends_per_second", static_cast<double>(totals_.ended - ended_before_) / seconds},
        {"calls_per_second", static_cast<double>(totals_.calls - calls_before_) / seconds},
        {"waiting_calls", due_.size()},
        {"allocate_p50_ms", at(0.5) / 1000},
        {"allocate_p99_ms", at(0.99) / 1000},
        {"allocate_max_ms", at(1) / 1000},
        {"tokens_verified", totals_.verified}};
    std::puts(line.dump().c_str());
    std::fflush(stdout);
    if (--options_.windows == 0) ::_exit(0);
    latencies.clear();
    counting_ = false;
    count_from_ = now + Seconds(options_.warm_up);
    end_ = count_from_ + Seconds(options_.seconds);
    loop_->After(Duration::Micros(200), [this] { Tick(); });
  }

  Options options_;
  std::unique_ptr<env_posix::PosixLoop> loop_;
  Caller rpc_;
  std::mt19937_64 rng_;
  std::exponential_distribution<double> gap_{1.0};
  Totals totals_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::map<std::string, Node*> by_host_;
  std::vector<std::unique_ptr<Master>> masters_;
  size_t registering_ = 0, registered_ = 0;
  size_t submitted_ = 0, ready_ = 0;
  size_t next_master_ = 0;
  std::deque<Clock::time_point> due_;
  Clock::time_point begin_, count_from_, end_, next_due_;
  bool counting_ = false;
  int64_t granted_before_ = 0, ended_before_ = 0, calls_before_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Load for a resource manager over YARN's protocols"};
  app.add_option("--tracker", options.tracker, "port of ResourceTracker")->required();
  app.add_option("--scheduler", options.scheduler, "port of ApplicationMasterProtocol")->required();
  app.add_option("--client", options.client, "port of ApplicationClientProtocol")->required();
  app.add_option("--nodes", options.nodes, "fake nodes, one connection each");
  app.add_option("--idle", options.idle, "masters that only call");
  app.add_option("--waiting", options.waiting,
                 "masters that together want twice as many containers as there are nodes");
  app.add_option("--node-mb", options.node_mb, "memory of a node");
  app.add_option("--busy", options.busy, "masters that ask");
  app.add_option("--batch", options.batch, "containers asked for in one call");
  app.add_option("--rate", options.rate, "containers asked for in a second");
  app.add_option("--seconds", options.seconds, "how long to measure");
  app.add_option("--warm-up", options.warm_up, "seconds before that");
  app.add_option("--heartbeat-ms", options.heartbeat_ms, "of a node");
  app.add_option("--master-heartbeat-ms", options.master_heartbeat_ms, "of an idle master");
  app.add_option("--others-to", options.others_to, "the address that every second node and two of three masters call");
  app.add_option("--queue", options.queue, "of every application");
  app.add_option("--windows", options.windows, "how often to measure, each a line");
  app.add_option("--seed", options.seed, "of the arrivals");
  CLI11_PARSE(app, argc, argv);
  Load(options).Run();
}
