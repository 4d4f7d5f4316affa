// Many Workers and applications at one Standalone Master, ours or Spark's own, over real sockets and from one thread:
// every application has one executor, and for some seconds so many executors at a time end and are replaced. A report
// that an executor has ended or runs is a change. Or, with --first, one application at a Master that has Workers: how
// long its first executor takes. Prints one JSON line.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "endpoints/spark/driver_requests.h"
#include "endpoints/spark/master_messages.h"
#include "endpoints/spark/worker_messages.h"
#include "env_posix/posix_loop.h"
#include "process/spark_rpc/connection.h"
#include "shell/spark/spark_home.h"

namespace {

using namespace fairlead;
namespace es = endpoints::spark;
using base::Duration;
using process::spark_rpc::Connection;
using Clock = std::chrono::steady_clock;

struct Options {
  std::string home;
  uint16_t port = 7077;
  int workers = 1000;
  int applications = 1000;
  int at_once = 64;
  double seconds = 5;
  bool first = false;
  int pid = 0;  // of the Master; 0: its memory and CPU time are not told
};

constexpr const char* kHost = "127.0.0.1";

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "standalone_load: %s\n", why.c_str());
  std::exit(1);
}

const process::spark_rpc::Security kNoSecurity;

/// Somebody at the Master's port.
class Member {
 public:
  Member(env_posix::PosixLoop& loop, const Options& options, const es::SparkBuild& build, es::RpcAddress own)
      : loop_(loop), options_(options), build_(build), own_(std::move(own)) {}
  virtual ~Member() = default;

  void Join() {
    loop_.Connect({kHost, options_.port}, Duration::Seconds(60), [this](auto stream) {
      if (!stream.ok()) Fail(stream.error().message);
      connection_ = std::make_unique<Connection>(std::move(*stream), loop_, kNoSecurity, Connection::Side::kDials);
      connection_->Start({[this](const process::spark_rpc::Incoming& message) { OnMessage(message.content); }, [] {},
                          [this](const std::string& why) {
                            if (!leaving_) Fail("the master has closed a connection: " + why);
                          }});
      Register();
    });
  }

 protected:
  virtual void Register() = 0;
  virtual void OnMessage(const wire::java_stream::Graph& message) = 0;
  es::RpcMessage ToMaster(const std::string& content) const {
    return {own_, es::RpcAddress{kHost, options_.port}, es::kMasterEndpoint, content};
  }

  env_posix::PosixLoop& loop_;
  const Options& options_;
  const es::SparkBuild& build_;
  const es::RpcAddress own_;
  std::unique_ptr<Connection> connection_;
  bool leaving_ = false;
};

/// What all of them have come to.
struct Counts {
  int workers = 0;
  int applications = 0;
  int running = 0;
  int64_t changes = 0;
  std::function<void()> on_change;
};

class LoadWorker final : public Member {
 public:
  LoadWorker(env_posix::PosixLoop& loop, const Options& options, const es::SparkBuild& build, int number,
             Counts& counts)
      : Member(loop, options, build, {kHost, 20'000 + number}),
        id_("worker-20260101000000-" + own_.host + "-" + std::to_string(own_.port)),
        counts_(counts) {}

  /// Its only executor has ended; false: it has none that runs.
  bool EndOne() {
    if (application_.empty()) return false;
    Report(es::ExecutorState::kExited, 0);
    application_.clear();
    --counts_.running;
    return true;
  }

 private:
  void Register() override {
    es::RegisterWorker message;
    message.id = id_;
    message.host = own_.host;
    message.port = own_.port;
    message.worker = {own_, "Worker"};
    message.cores = 1;
    message.memory_mib = 2048;
    message.web_url = "http://" + own_.ToString();
    message.master = {kHost, options_.port};
    connection_->Send(ToMaster(es::Encode(build_, message)));
    Beat();
  }
  void Beat() {
    connection_->Send(ToMaster(es::Encode(build_, es::Heartbeat{id_, {own_, "Worker"}})));
    loop_.After(Duration::Seconds(15), [this] { Beat(); });
  }
  void OnMessage(const wire::java_stream::Graph& graph) override {
    const auto message = es::DecodeMasterMessage(graph);
    if (!message.ok() || !message->has_value()) return;
    if (std::holds_alternative<es::RegisteredWorker>(**message)) ++counts_.workers;
    const auto* launch = std::get_if<es::LaunchExecutor>(&**message);
    if (launch == nullptr) return;
    application_ = launch->application;
    executor_ = launch->executor;
    ++counts_.running;
    Report(es::ExecutorState::kRunning, std::nullopt);
  }
  void Report(es::ExecutorState state, std::optional<int32_t> status) {
    connection_->Ask(ToMaster(es::Encode(build_, es::ExecutorStateChanged{application_, executor_, state, {}, status})),
                     [this](const auto& answer) {
                       if (!answer.ok()) Fail(answer.error().message);
                       ++counts_.changes;
                       if (counts_.on_change) counts_.on_change();
                     });
  }

  const std::string id_;
  Counts& counts_;
  std::string application_;
  int32_t executor_ = 0;
};

/// As long as those of Spark's own drivers.
es::ApplicationDescription DescriptionFor(const es::RpcAddress& driver) {
  es::ApplicationDescription application;
  application.name = "load " + std::to_string(driver.port);
  application.user = "load";
  application.ui_url = "http://" + driver.ToString();
  application.cores_max = 1;
  application.profile.cores = 1;
  application.profile.memory_mib = 1024;
  application.command.main_class = "org.apache.spark.executor.CoarseGrainedExecutorBackend";
  application.command.arguments = {"--driver-url",
                                   "spark://CoarseGrainedScheduler@" + driver.ToString(),
                                   "--executor-id",
                                   "{{EXECUTOR_ID}}",
                                   "--hostname",
                                   "{{HOSTNAME}}",
                                   "--cores",
                                   "{{CORES}}",
                                   "--app-id",
                                   "{{APP_ID}}",
                                   "--worker-url",
                                   "{{WORKER_URL}}",
                                   "--resourceProfileId",
                                   "0"};
  application.command.environment = {{"SPARK_USER", "load"}, {"SPARK_EXECUTOR_MEMORY", "1024m"}};
  application.command.java_options = {"-Dspark.driver.port=" + std::to_string(driver.port),
                                      "-Djava.net.preferIPv6Addresses=false"};
  for (const char* package :
       {"java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
        "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action"}) {
    application.command.java_options.push_back(std::string("--add-opens=java.base/") + package + "=ALL-UNNAMED");
  }
  return application;
}

/// An application whose first executor is waited for, and that leaves then.
class FirstDriver final : public Member {
 public:
  FirstDriver(env_posix::PosixLoop& loop, const Options& options, const es::SparkBuild& build)
      : Member(loop, options, build, {kHost, 40'000}) {}
  /// Milliseconds from its registration.
  double took_ms() const { return took_ms_; }

 private:
  void Register() override {
    began_ = Clock::now();
    connection_->Send(ToMaster(es::EncodeRegistration(build_, DescriptionFor(own_), {own_, "AppClient"})));
  }
  void OnMessage(const wire::java_stream::Graph& message) override {
    const std::string_view name = es::MessageName(message);
    es::Fields in(message);
    if (name == "RegisteredApplication") application_ = in.Text(message.Root(), "appId");
    if (name != "ExecutorUpdated") return;
    if (in.Enumerated(message.Root(), "state", 8) != static_cast<int32_t>(es::ExecutorState::kRunning)) return;
    took_ms_ = std::chrono::duration<double, std::milli>(Clock::now() - began_).count();
    connection_->Send(ToMaster(es::EncodeUnregisterApplication(build_, application_)));
    leaving_ = true;
    connection_->Close("it has what it came for");
    loop_.Stop();
  }

  Clock::time_point began_;
  std::string application_;
  double took_ms_ = 0;
};

class LoadDriver final : public Member {
 public:
  LoadDriver(env_posix::PosixLoop& loop, const Options& options, const es::SparkBuild& build, int number,
             Counts& counts)
      : Member(loop, options, build, {kHost, 40'000 + number}), counts_(counts) {}

 private:
  void Register() override {
    connection_->Send(ToMaster(es::EncodeRegistration(build_, DescriptionFor(own_), {own_, "AppClient"})));
  }
  void OnMessage(const wire::java_stream::Graph& message) override {
    const std::string_view name = es::MessageName(message);
    if (name == "RegisteredApplication") ++counts_.applications;
    if (name == "ApplicationRemoved") Fail("an application was removed");
  }
  Counts& counts_;
};

/// Seconds of CPU of a process so far, and what of it is resident in bytes.
std::pair<double, int64_t> UseOf(int pid) {
  if (pid == 0) return {0, 0};
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::stringstream text;
  text << stat.rdbuf();
  const std::string all = text.str();
  std::istringstream fields(all.substr(std::min(all.rfind(')') + 1, all.size())));
  std::string field;
  int64_t ticks = 0, pages = 0;
  for (int i = 3; fields >> field; ++i) {  // proc(5) counts from 1
    if (i == 14 || i == 15) ticks += std::stoll(field);
    if (i == 24) pages = std::stoll(field);
  }
  return {static_cast<double>(ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK)), pages * ::sysconf(_SC_PAGESIZE)};
}

class Load {
 public:
  Load(const Options& options, const es::SparkBuild& build) : options_(options), build_(build) {}

  nlohmann::json Run() {
    const double idle = ResidentMib();
    for (int i = 0; i < options_.workers; ++i) {
      workers_.push_back(std::make_unique<LoadWorker>(*loop_, options_, build_, i, counts_));
      workers_.back()->Join();
    }
    Await("the workers' registration", [this] { return counts_.workers == options_.workers; });
    for (int i = 0; i < options_.applications; ++i) {
      drivers_.push_back(std::make_unique<LoadDriver>(*loop_, options_, build_, i, counts_));
      drivers_.back()->Join();
    }
    const int executors = std::min(options_.applications, options_.workers);
    Await("the executors",
          [&] { return counts_.applications == options_.applications && counts_.running == executors; });
    const double full = ResidentMib();
    const auto [changes, seconds, cpu] = Change();
    nlohmann::json out = {{"workers", options_.workers},
                          {"applications", options_.applications},
                          {"changes", changes},
                          {"seconds", seconds},
                          {"changes_per_s", changes / seconds}};
    if (options_.pid != 0) {
      out.update({{"master_cpu_s", cpu},
                  {"changes_per_master_cpu_s", changes / std::max(cpu, 0.01)},
                  {"resident_idle_mib", idle},
                  {"resident_full_mib", full},
                  {"resident_after_mib", ResidentMib()}});
    }
    return out;
  }

 private:
  double ResidentMib() const { return static_cast<double>(UseOf(options_.pid).second) / (1 << 20); }

  void Await(const char* what, const std::function<bool()>& done) {
    if (done()) return;
    const auto deadline = Clock::now() + std::chrono::seconds(120);
    std::function<void()> look = [&] {
      if (done()) return loop_->Stop();
      if (Clock::now() > deadline) Fail(std::string("waited too long for ") + what);
      loop_->After(Duration::Millis(10), look);
    };
    look();
    loop_->Run();
  }

  /// An end and what replaces it, so many at once; gives changes, seconds and the Master's CPU seconds.
  std::tuple<double, double, double> Change() {
    const int64_t before = counts_.changes;
    const double cpu = UseOf(options_.pid).first;
    const auto begin = Clock::now();
    const auto end =
        begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
    const int idle_max = std::min(options_.applications, options_.workers) - options_.at_once;
    counts_.on_change = [&, next = size_t{0}]() mutable {
      if (Clock::now() >= end) return loop_->Stop();
      for (size_t tried = 0; counts_.running > idle_max && tried < workers_.size(); ++tried) {
        next = (next + 1) % workers_.size();
        workers_[next]->EndOne();
      }
    };
    counts_.on_change();
    loop_->Run();
    counts_.on_change = nullptr;
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return {static_cast<double>(counts_.changes - before), seconds, UseOf(options_.pid).first - cpu};
  }

  const Options& options_;
  const es::SparkBuild& build_;
  std::unique_ptr<env_posix::PosixLoop> loop_ = env_posix::MakePosixLoop();
  Counts counts_;
  std::vector<std::unique_ptr<LoadWorker>> workers_;
  std::vector<std::unique_ptr<LoadDriver>> drivers_;
};

nlohmann::json RunFirst(const Options& options, const es::SparkBuild& build) {
  const auto loop = env_posix::MakePosixLoop();
  FirstDriver driver(*loop, options, build);
  driver.Join();
  loop->After(Duration::Seconds(60), [] { Fail("waited too long for the first executor"); });
  loop->Run();
  return {{"first_executor_ms", driver.took_ms()}};
}

base::Result<es::SparkBuild> ReadBuild(const std::string& home) {
  const auto files = shell::ReadSparkClassFiles(home);
  if (!files.ok()) return files.error();
  auto build = es::DescribeSparkBuild(home, files->release(), files->source());
  if (!build.ok()) return build.error();
  if (const base::Status added = es::AddDriverClasses(files->source(), *build); !added.ok()) return added.error();
  return build;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app{"Many Workers and applications at a Standalone Master"};
  app.add_option("home", options.home, "SPARK_HOME of the Master")->required();
  app.add_option("--port", options.port, "of the Master, on 127.0.0.1");
  app.add_option("--workers", options.workers)->check(CLI::Range(1, 20'000));
  app.add_option("--applications", options.applications)->check(CLI::Range(1, 20'000));
  app.add_option("--at-once", options.at_once, "executors that have ended and are not yet replaced")
      ->check(CLI::PositiveNumber);
  app.add_option("--seconds", options.seconds)->check(CLI::PositiveNumber);
  app.add_flag("--first", options.first, "one application's first executor");
  app.add_option("--pid", options.pid, "of the Master, on this machine");
  CLI11_PARSE(app, argc, argv);
  const auto build = ReadBuild(options.home);
  if (!build.ok()) Fail(build.error().message);
  std::printf("%s\n", (options.first ? RunFirst(options, *build) : Load(options, *build).Run()).dump().c_str());
  return 0;
}
