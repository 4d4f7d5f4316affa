#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cluster_files.h"
#include "commands.h"
#include "env_posix/posix_loop.h"
#include "process/http/client.h"
#include "profiles/profile.h"

// `fairlead up`: a cluster on this machine in one command, and nothing left of it afterwards. A janitor process
// outlives this one by a moment and cleans up even when this one is killed with SIGKILL.

namespace fairlead::apps {
namespace {

using base::Duration;

constexpr Duration kPollDelay = Duration::Millis(50);
constexpr Duration kStartLimit = Duration::Seconds(60);
constexpr Duration kStopLimit = Duration::Seconds(15);
/// Of the Spark master: the usual one when it is free.
constexpr uint16_t kSparkPort = 7077;
constexpr uint16_t kSparkOffset = 177;

struct UpOptions {
  ClusterShape shape;
  std::string directory;
  std::string ready_file;
  std::vector<std::string> spark_homes;
  bool with_parent = false;
};

/// True when a TCP port of 127.0.0.1 can be bound now.
bool PortIsFree(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return free;
}

/// YARN's own ports when they are free, else the first free block of the same shape above 20000.
uint16_t ChoosePortBase(uint16_t wanted) {
  const auto block_is_free = [](uint16_t base) {
    for (const uint16_t offset : kPortOffsets) {
      if (!PortIsFree(static_cast<uint16_t>(base + offset))) return false;
    }
    return true;
  };
  if (wanted != 0 || block_is_free(8000)) return wanted != 0 ? wanted : 8000;
  for (uint16_t base = 20000; base < 60000; base = static_cast<uint16_t>(base + 500)) {
    if (block_is_free(base)) return base;
  }
  return 8000;
}

std::string OwnBinary() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

/// The running cluster: children in order of start, ended in reverse.
class Cluster {
 public:
  Cluster(env_posix::PosixLoop& loop, UpOptions options) : loop_(loop), options_(std::move(options)) {}

  int Run() {
    loop_.OnSignal(SIGINT, [this] { Stop(kOk); });
    loop_.OnSignal(SIGTERM, [this] { Stop(kOk); });
    loop_.OnSignal(SIGHUP, [this] { Stop(kOk); });
    if (options_.with_parent) loop_.Watch(::getppid(), 0, [this] { Stop(kOk); });
    if (const base::Status written = WriteClusterFiles(options_.shape); !written.ok()) {
      return Complain("up", written.error().message, kFailed);
    }
    if (!StartJanitor()) return exit_code_;
    std::printf("starting a resource manager and %d nodes in %s\n", options_.shape.nodes,
                options_.shape.directory.c_str());
    std::fflush(stdout);
    give_up_at_ = loop_.Now() + kStartLimit;
    if (Start("rm", RmArguments(options_.shape))) AwaitRm();
    loop_.Run();
    return exit_code_;
  }

 private:
  struct Child {
    std::string name;
    int64_t pid;
  };

  std::string LogPath(const std::string& name) const { return options_.shape.directory + "/logs/" + name + ".log"; }

  /// Starts `fairlead ARGUMENTS`; its end before Stop() ends the whole cluster.
  bool Start(const std::string& name, const std::vector<std::string>& arguments) {
    const auto spawned = loop_.Spawn(Request(name, arguments), [this, name](env::ExitStatus) { OnExit(name); });
    if (!spawned) {
      Stop(Complain("up", spawned.error().message, kFailed));
      return false;
    }
    children_.push_back({name, *spawned});
    return true;
  }

  env::SpawnRequest Request(const std::string& name, const std::vector<std::string>& arguments) const {
    env::SpawnRequest request;
    request.argv = {OwnBinary()};
    request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      const size_t equals = text.find('=');
      if (equals != std::string::npos) request.environment[text.substr(0, equals)] = text.substr(equals + 1);
    }
    request.stdout_path = LogPath(name);
    request.stderr_path = LogPath(name);
    return request;
  }

  bool StartJanitor() {
    const auto spawned = loop_.Spawn(
        Request("janitor", {"janitor", "--watch", std::to_string(::getpid()), "--directory", options_.shape.directory,
                            options_.directory.empty() ? "--remove" : "--keep-files"}),
        [](env::ExitStatus) {});
    if (!spawned) exit_code_ = Complain("up", spawned.error().message, kFailed);
    return spawned.ok();
  }

  void OnExit(const std::string& name) {
    std::erase_if(children_, [&](const Child& child) { return child.name == name; });
    if (!stopping_) {
      Stop(Complain("up", name + " ended by itself; its log: " + LogPath(name), kFailed));
    }
    if (stopping_ && children_.empty()) loop_.Stop();
  }

  /// Asks until `good` accepts the answer.
  void Poll(const std::string& target, std::function<bool(const process::http::Response&)> good,
            std::function<void()> then) {
    process::http::ClientRequest request;
    request.endpoint = {"127.0.0.1", options_.shape.Port(kWebOffset)};
    request.target = target;
    request.timeout = Duration::Seconds(5);
    process::http::Fetch(loop_, loop_, request, [=, this](base::Result<process::http::Response> answer) {
      if (stopping_) return;
      if (answer.ok() && good(*answer)) return then();
      if (loop_.Now() > give_up_at_) {
        return Stop(Complain("up", "the cluster did not come up; see " + options_.shape.directory + "/logs", kFailed));
      }
      loop_.After(kPollDelay, [=, this] { Poll(target, good, then); });
    });
  }

  void AwaitRm() {
    Poll(
        "/healthz", [](const auto& answer) { return answer.status == 200; },
        [this] {
          for (int node = 1; node <= options_.shape.nodes; ++node) {
            if (!Start("nm" + std::to_string(node), NmArguments(options_.shape, node))) return;
          }
          AwaitNodes();
        });
  }

  void AwaitNodes() {
    const auto all_running = [this](const process::http::Response& answer) {
      const auto json = nlohmann::json::parse(answer.body, nullptr, false);
      if (json.is_discarded() || !json.contains("clusterMetrics")) return false;
      return json["clusterMetrics"].value("activeNodes", 0) == options_.shape.nodes;
    };
    Poll("/ws/v1/cluster/metrics", all_running, [this] { options_.spark_homes.empty() ? Announce() : StartSpark(); });
  }

  void StartSpark() {
    const ClusterShape& shape = options_.shape;
    spark_port_ = PortIsFree(kSparkPort) ? kSparkPort : shape.Port(kSparkOffset);
    std::vector<std::string> words = {"spark-master",
                                      "--hadoop-conf",
                                      shape.directory + "/conf",
                                      "--port",
                                      std::to_string(spark_port_),
                                      "--state",
                                      shape.directory + "/spark-master"};
    for (const std::string& home : options_.spark_homes) words.insert(words.end(), {"--spark-home", home});
    if (Start("spark-master", words)) AwaitSpark();
  }

  void AwaitSpark() {
    loop_.Connect(
        {"127.0.0.1", spark_port_}, Duration::Seconds(5), [this](base::Result<std::unique_ptr<env::Stream>> stream) {
          if (stopping_) return;
          if (stream.ok()) return Announce();
          if (loop_.Now() > give_up_at_) {
            return Stop(
                Complain("up", "the Spark master did not come up; its log: " + LogPath("spark-master"), kFailed));
          }
          loop_.After(kPollDelay, [this] { AwaitSpark(); });
        });
  }

  void Announce() {
    const ClusterShape& shape = options_.shape;
    const std::string conf = shape.directory + "/conf";
    const std::string spark =
        spark_port_ == 0 ? "" : "  Spark          --master spark://127.0.0.1:" + std::to_string(spark_port_) + "\n";
    std::printf(
        "the cluster is up\n"
        "  page           http://127.0.0.1:%d/\n"
        "  configuration  %s   (for --hadoop-conf, HADOOP_CONF_DIR, YARN_CONF_DIR)\n"
        "  logs           %s/logs\n"
        "%s"
        "try\n"
        "  fairlead nodes --hadoop-conf %s\n"
        "  fairlead queues --hadoop-conf %s\n"
        "Ctrl-C ends it\n",
        shape.Port(kWebOffset), conf.c_str(), shape.directory.c_str(), spark.c_str(), conf.c_str(), conf.c_str());
    std::fflush(stdout);
    if (options_.ready_file.empty()) return;
    const base::Status written = env_posix::MakePosixDisk()->WriteFileAtomically(options_.ready_file, conf + "\n");
    if (!written.ok()) Stop(Complain("up", written.error().message, kFailed));
  }

  /// Ends nodes first, so that they end their containers while the resource manager still listens.
  void Stop(int exit_code) {
    if (stopping_) return;
    stopping_ = true;
    exit_code_ = exit_code;
    if (children_.empty()) return loop_.Stop();
    for (const Child& child : children_) (void)loop_.Signal(child.pid, SIGTERM).ok();
    loop_.After(kStopLimit, [this] {
      for (const Child& child : children_) (void)loop_.Signal(child.pid, SIGKILL).ok();
    });
  }

  env_posix::PosixLoop& loop_;
  UpOptions options_;
  std::vector<Child> children_;
  base::Instant give_up_at_;
  uint16_t spark_port_ = 0;  // 0: there is no Spark master
  bool stopping_ = false;
  int exit_code_ = kOk;
};

int Up(UpOptions options) {
  if (options.directory.empty()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "fairlead-up-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return Complain("up", "cannot create " + pattern, kFailed);
    options.shape.directory = pattern;
    // Containers of other users must be able to pass through.
    std::filesystem::permissions(pattern, std::filesystem::perms(0755));
  } else {
    options.shape.directory = std::filesystem::absolute(options.directory).string();
  }
  options.shape.port_base = ChoosePortBase(options.shape.port_base);
  const auto loop = env_posix::MakePosixLoop();
  return Cluster(*loop, std::move(options)).Run();
}

/// Ends what still runs in `directory` and removes it.
class Janitor {
 public:
  Janitor(env_posix::PosixLoop& loop, std::string directory, bool remove)
      : loop_(loop), directory_(std::move(directory)), remove_(remove) {}

  void Clean() {
    give_up_at_ = loop_.Now() + kStopLimit;
    SignalAll(SIGTERM);
  }

 private:
  /// Processes whose command line or working directory names the cluster's directory, this one aside.
  std::vector<int64_t> Members() const {
    std::vector<int64_t> out;
    const auto disk = env_posix::MakePosixDisk();
    const auto processes = disk->List("/proc");
    if (!processes) return out;
    for (const env::FileInfo& entry : *processes) {
      if (entry.name.find_first_not_of("0123456789") != std::string::npos) continue;
      const int64_t pid = std::stoll(entry.name);
      if (pid == ::getpid()) continue;
      const auto command = disk->ReadFile("/proc/" + entry.name + "/cmdline", 1 << 20);
      std::error_code error;
      const std::string cwd = std::filesystem::read_symlink("/proc/" + entry.name + "/cwd", error).string();
      const bool named = command.ok() && command->find(directory_ + "/") != std::string::npos;
      if (named || cwd.starts_with(directory_ + "/")) out.push_back(pid);
    }
    return out;
  }

  /// Signals every member, waits until they are gone, then with SIGKILL whoever is left or new.
  void SignalAll(int signal) {
    const auto members = Members();
    if (members.empty()) return Finish();
    auto left = std::make_shared<size_t>(members.size());
    auto next = std::make_shared<bool>(false);
    const auto again = [this, next] {
      if (std::exchange(*next, true)) return;
      if (loop_.Now() > give_up_at_ + kStopLimit) return Finish();
      SignalAll(SIGKILL);
    };
    for (const int64_t pid : members) {
      loop_.Watch(pid, 0, [left, again] {
        if (--*left == 0) again();
      });
      (void)loop_.Signal(pid, signal).ok();
    }
    loop_.After(signal == SIGTERM ? kStopLimit : Duration::Seconds(2), again);
  }

  void Finish() {
    if (remove_) (void)env_posix::MakePosixDisk()->RemoveTree(directory_).ok();
    loop_.Stop();
  }

  env_posix::PosixLoop& loop_;
  std::string directory_;
  bool remove_;
  base::Instant give_up_at_;
};

int RunJanitor(int64_t watched, const std::string& directory, bool remove) {
  const auto loop = env_posix::MakePosixLoop();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) loop->OnSignal(signal, [] {});
  Janitor janitor(*loop, directory, remove);
  loop->Watch(watched, 0, [&] { janitor.Clean(); });
  loop->Run();
  return kOk;
}

}  // namespace

void AddUp(CLI::App& app, int& exit_code) {
  CLI::App* up = app.add_subcommand("up", "Start a cluster on this machine; Ctrl-C ends it and leaves nothing behind");
  up->footer(
      "Examples:\n  fairlead up\n  fairlead up --nodes 5 --memory 2048 --vcores 2\n"
      "  fairlead up --queue prod=3 --queue adhoc=1 --directory ./cluster\n"
      "  fairlead up --profile tdw --queue bi.daily=3 --queue bi.hourly=1 --queue search.index=2\n"
      "  fairlead up --memory 4096 --spark-home /opt/spark-3.5.9");
  auto options = std::make_shared<UpOptions>();
  up->add_option("--nodes", options->shape.nodes, "number of node managers")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  up->add_option("--racks", options->shape.racks, "number of racks")->check(CLI::Range(1, 64))->capture_default_str();
  up->add_option("--memory", options->shape.node_memory_mib, "MiB of memory a node gives")->capture_default_str();
  up->add_option("--vcores", options->shape.node_vcores, "virtual cores a node gives")->capture_default_str();
  up->add_option("--queue", options->shape.queues,
                 "NAME=WEIGHT of a queue, or GROUP.POOL=WEIGHT of one inside another; may be repeated")
      ->check(CLI::Validator(WrongQueue, "NAME=WEIGHT"));
  up->add_option("--profile", options->shape.profile, "scheduler profile")
      ->check(CLI::IsMember(profiles::Names()))
      ->capture_default_str();
  up->add_option("--port-base", options->shape.port_base,
                 "ports are this + 30, 31, 32, 33 and 88; default: YARN's own when free");
  up->add_option("--spark-home", options->spark_homes,
                 "start a Spark master, too, for drivers of the Spark in this directory; may be repeated");
  up->add_option("--directory", options->directory,
                 "keep state, logs and configuration here (default: a temporary one)");
  up->add_option("--ready-file", options->ready_file, "write the configuration directory's path here once all is up");
  up->add_flag("--with-parent", options->with_parent, "end when the process that started this one ends");
  up->callback([options, &exit_code] { exit_code = Up(*options); });

  CLI::App* janitor = app.add_subcommand("janitor", "")->group("");
  struct JanitorOptions {
    int64_t watched = 0;
    std::string directory;
    bool remove = false;
    bool keep = false;
  };
  auto clean = std::make_shared<JanitorOptions>();
  janitor->add_option("--watch", clean->watched)->required();
  janitor->add_option("--directory", clean->directory)->required();
  janitor->add_flag("--remove", clean->remove);
  janitor->add_flag("--keep-files", clean->keep);
  janitor->callback([clean, &exit_code] { exit_code = RunJanitor(clean->watched, clean->directory, clean->remove); });
}

}  // namespace fairlead::apps
