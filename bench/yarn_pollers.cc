// Readers of a resource manager: each asks once a second for one of the addresses in turn and drops the answer, until
// this process is ended. Run by bench/yarn.py beside bench_yarn_load.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "env_posix/posix_loop.h"
#include "process/http/client.h"

namespace {

using namespace fairlead;

/// Hadoop's REST and what the pages ask for.
constexpr const char* kTargets[] = {
    "/ws/v1/cluster/metrics",     "/ws/v1/cluster/apps", "/ws/v1/cluster/scheduler",    "/fairlead/v1/cluster",
    "/fairlead/v1/apps?limit=50", "/fairlead/v1/queues", "/fairlead/v1/events?limit=50"};

class Poller {
 public:
  Poller(env_posix::PosixLoop& loop, env::Endpoint web, std::vector<std::string> targets, size_t first)
      : loop_(loop), web_(std::move(web)), targets_(std::move(targets)), next_(first) {}

  void Poll() {
    process::http::ClientRequest request;
    request.endpoint = web_;
    request.target = targets_[next_++ % targets_.size()];
    request.headers = {{"Accept", "application/json"}};
    process::http::Fetch(loop_, loop_, request,
                         [target = request.target](base::Result<process::http::Response> answer) {
                           if (answer.ok() && answer->status == 200 && !answer->body.empty()) return;
                           std::fprintf(stderr, "yarn_pollers: %s: %s\n", target.c_str(),
                                        answer.ok() ? answer->body.c_str() : answer.error().message.c_str());
                           std::exit(1);
                         });
    loop_.After(base::Duration::Seconds(1), [this] { Poll(); });
  }

 private:
  env_posix::PosixLoop& loop_;
  env::Endpoint web_;
  std::vector<std::string> targets_;
  size_t next_;
};

}  // namespace

int main(int argc, char** argv) {
  uint16_t port = 0;
  size_t count = 20;
  std::vector<std::string> targets(std::begin(kTargets), std::end(kTargets));
  CLI::App app{"Readers of a resource manager's web port"};
  app.add_option("--web", port, "its port")->required();
  app.add_option("--count", count, "how many");
  app.add_option("--target", targets, "what they ask for");
  CLI11_PARSE(app, argc, argv);
  const auto loop = env_posix::MakePosixLoop();
  std::vector<std::unique_ptr<Poller>> pollers;
  for (size_t i = 0; i < count; ++i) {
    pollers.push_back(std::make_unique<Poller>(*loop, env::Endpoint{"127.0.0.1", port}, targets, i));
    loop->After(base::Duration::Millis(static_cast<int64_t>(i * 1000 / count)), [&pollers, i] { pollers[i]->Poll(); });
  }
  loop->Run();
}
