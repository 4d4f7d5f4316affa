// Submissions a second: so many applications as fast as a resource manager acknowledges them, a fixed number of them at
// a time, from one thread. An application counts when its client would go on (org.apache.hadoop.yarn.client.api.impl
// .YarnClientImpl.submitApplication): its report says ACCEPTED. Prints one JSON line.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "env_posix/posix_loop.h"
#include "process/rpc/rpc_client.h"
#include "wire/yarn/client.h"
#include "wire/yarn/protocols.h"

namespace {

using namespace fairlead;
namespace yarn = wire::yarn;
using base::Duration;
using process::rpc::RpcError;
using Clock = std::chrono::steady_clock;

constexpr Duration kTimeout = Duration::Seconds(120);
constexpr Duration kPoll = Duration::Millis(5);

struct Options {
  uint16_t client = 0;
  int applications = 10'000;
  int outstanding = 64;
  std::string queue = "default";
};

class Load {
 public:
  Load(const Options& options, env_posix::PosixLoop& loop)
      : options_(options),
        loop_(loop),
        rpc_(loop, loop),
        target_{{"127.0.0.1", options.client}, std::string(yarn::kApplicationClientProtocol), {"bench", "", {}}} {}

  /// Milliseconds that each took, in ascending order, and all together.
  std::pair<std::vector<double>, double> Run() {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < options_.outstanding; ++i) Next();
    loop_.Run();
    std::sort(took_ms_.begin(), took_ms_.end());
    return {took_ms_, std::chrono::duration<double>(Clock::now() - begin).count()};
  }

 private:
  template <class Response, class Request>
  void Call(const char* method, const Request& request, std::function<void(const Response&)> then) {
    rpc_.Call<Response>(target_, method, request, kTimeout,
                        [method, then = std::move(then)](const base::Result<Response, RpcError>& answer) {
                          if (answer.ok()) return then(*answer);
                          std::fprintf(stderr, "submit_load: %s: %s %s\n", method, answer.error().message.c_str(),
                                       answer.error().remote.message.c_str());
                          std::exit(1);
                        });
  }

  void Next() {
    if (begun_ == options_.applications) return;
    ++begun_;
    Call<yarn::GetNewApplicationResponseProto>(
        "getNewApplication", yarn::GetNewApplicationRequestProto{},
        [this, since = Clock::now()](const auto& fresh) { Submit(fresh.ApplicationId(), since); });
  }

  void Submit(const yarn::ApplicationIdProto& id, Clock::time_point since) {
    yarn::SubmitApplicationRequestProto request;
    auto& context = request.application_submission_context.emplace();
    context.application_id = id;
    context.application_name = "load";
    context.queue = options_.queue;
    context.resource.emplace().memory = 256;
    context.resource->virtual_cores = 1;
    context.am_container_spec.emplace().command.push_back("sleep 1000");
    Call<yarn::SubmitApplicationResponseProto>("submitApplication", request,
                                               [this, id, since](const auto&) { AwaitAccepted(id, since); });
  }

  void AwaitAccepted(const yarn::ApplicationIdProto& id, Clock::time_point since) {
    yarn::GetApplicationReportRequestProto request;
    request.application_id = id;
    Call<yarn::GetApplicationReportResponseProto>(
        "getApplicationReport", request, [this, id, since](const auto& answer) {
          if (answer.ApplicationReport().YarnApplicationState() < yarn::YarnApplicationStateProto::kAccepted) {
            loop_.After(kPoll, [this, id, since] { AwaitAccepted(id, since); });
            return;
          }
          took_ms_.push_back(std::chrono::duration<double, std::milli>(Clock::now() - since).count());
          if (static_cast<int>(took_ms_.size()) == options_.applications) return loop_.Stop();
          Next();
        });
  }

  const Options options_;
  env_posix::PosixLoop& loop_;
  process::rpc::RpcClient rpc_;
  const process::rpc::RpcTarget target_;
  int begun_ = 0;
  std::vector<double> took_ms_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Submits applications to a resource manager of this machine");
  app.add_option("--client", options.client, "port of ApplicationClientProtocol")->required();
  app.add_option("--applications", options.applications)->check(CLI::PositiveNumber);
  app.add_option("--outstanding", options.outstanding, "at a time")->check(CLI::PositiveNumber);
  app.add_option("--queue", options.queue);
  CLI11_PARSE(app, argc, argv);
  const auto loop = env_posix::MakePosixLoop();
  const auto [took_ms, seconds] = Load(options, *loop).Run();
  const auto at = [&took = took_ms](double part) {
    return took[static_cast<size_t>(part * static_cast<double>(took.size() - 1))];
  };
  std::puts(nlohmann::json{{"applications", took_ms.size()},
                           {"seconds", seconds},
                           {"per_second", static_cast<double>(took_ms.size()) / seconds},
                           {"p50_ms", at(0.5)},
                           {"p99_ms", at(0.99)}}
                .dump()
                .c_str());
  return 0;
}
