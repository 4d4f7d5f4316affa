#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "cluster_files.h"
#include "commands.h"
#include "descendants.h"
#include "env_posix/posix_loop.h"
#include "env_posix/private_dir.h"
#include "process/http/client.h"
#include "profiles/profile.h"
#include "table.h"
#include "wire/json/json.h"

// `fairlead up`: a cluster on this machine in one command, and nothing left of it afterwards. Two processes: a guard,
// and below it the one that runs the cluster. Each adopts the orphans of what it started; when one is killed, even with
// SIGKILL, the other ends what descends from it and removes the directory.

namespace fairlead::apps {
namespace {

using base::Duration;

constexpr Duration kPollDelay = Duration::Millis(50);
constexpr Duration kRestartDelay = Duration::Seconds(1);
constexpr Duration kAskDelay = Duration::Seconds(2);
constexpr Duration kStartLimit = Duration::Seconds(60);
constexpr Duration kStopLimit = Duration::Seconds(15);
/// Of the Spark master: the usual one when it is free and no others were wished for.
constexpr uint16_t kSparkPort = 7077;

struct UpOptions {
  ClusterShape shape;
  std::string directory;
  std::string ready_file;
  std::vector<std::string> spark_homes;
  bool chosen_ports = false;  // by --port-base
  bool with_parent = false;
  bool any_user = false;
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

/// The first port of the cluster's that is taken; 0: none.
uint16_t TakenPort(ClusterShape shape, uint16_t base) {
  shape.port_base = base;
  for (const uint16_t offset : PortOffsets(shape)) {
    if (!PortIsFree(shape.Port(offset))) return shape.Port(offset);
  }
  return 0;
}

/// The wanted block, which must be free; without a wish YARN's own ports when they are free, else the first free block
/// of the same shape above 20000.
base::Result<uint16_t> ChoosePortBase(const ClusterShape& shape) {
  if (shape.port_base != 0) {
    const uint16_t taken = TakenPort(shape, shape.port_base);
    if (taken == 0) return shape.port_base;
    return base::Error{"port " + std::to_string(taken) + " is taken; choose another --port-base, or none"};
  }
  if (TakenPort(shape, 8000) == 0) return uint16_t{8000};
  for (uint16_t base = 20000; base < 60000; base = static_cast<uint16_t>(base + 500)) {
    if (TakenPort(shape, base) == 0) return base;
  }
  return base::Error{"no block of free ports was found; choose one with --port-base"};
}

std::string OwnBinary() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::string EndText(env::ExitStatus status) {
  return status.signal != 0 ? std::string("was ended by ") + ::strsignal(status.signal)
                            : "ended with code " + std::to_string(status.code);
}

/// The running cluster: children in order of start, ended in reverse.
class Cluster {
 public:
  Cluster(env_posix::PosixLoop& loop, UpOptions options) : loop_(loop), options_(std::move(options)) {}

  /// Runs until a signal, a daemon's end, or the end of one of `watched`.
  int Run(const std::vector<pid_t>& watched) {
    loop_.OnSignal(SIGINT, [this] { Stop(kOk); });
    loop_.OnSignal(SIGTERM, [this] { Stop(kOk); });
    loop_.OnSignal(SIGHUP, [this] { Stop(kOk); });
    for (const pid_t pid : watched) loop_.Watch(pid, 0, [this] { Stop(kOk); });
    // Supervisors of containers whose node agent has been killed; the loop waits for its own children itself.
    loop_.OnSignal(SIGCHLD, [this] {
      ReapOrphans([this](int64_t pid) {
        return std::any_of(children_.begin(), children_.end(), [pid](const Child& child) { return child.pid == pid; });
      });
    });
    if (const base::Status written = WriteClusterFiles(options_.shape); !written.ok()) {
      return Complain("up", written.error().message, kFailed);
    }
    std::printf("starting %s and %s in %s\n",
                options_.shape.ha ? "a ZooKeeper, two resource managers" : "a resource manager",
                Counted(options_.shape.nodes, "node").c_str(), options_.shape.directory.c_str());
    std::fflush(stdout);
    give_up_at_ = loop_.Now() + kStartLimit;
    if (StartManagers()) AwaitRm();
    if (!children_.empty()) loop_.Run();  // else nothing could be started, and nobody is left who could end it
    return exit_code_;
  }

 private:
  struct Child {
    std::string name;
    int64_t pid;
  };

  std::string LogPath(const std::string& name) const { return options_.shape.directory + "/logs/" + name + ".log"; }

  /// Starts `fairlead ARGUMENTS`.
  bool Start(const std::string& name, const std::vector<std::string>& arguments) {
    std::vector<std::string> argv = {OwnBinary()};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return StartProgram(name, std::move(argv));
  }

  bool StartProgram(const std::string& name, std::vector<std::string> argv) {
    const auto spawned =
        loop_.Spawn(Request(name, std::move(argv)), [this, name](env::ExitStatus status) { OnExit(name, status); });
    if (!spawned) {
      Stop(Complain("up", spawned.error().message, kFailed));
      return false;
    }
    children_.push_back({name, *spawned});
    return true;
  }

  env::SpawnRequest Request(const std::string& name, std::vector<std::string> argv) const {
    env::SpawnRequest request;
    request.argv = std::move(argv);
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const std::string text = *entry;
      const size_t equals = text.find('=');
      if (equals != std::string::npos) request.environment[text.substr(0, equals)] = text.substr(equals + 1);
    }
    request.stdout_path = LogPath(name);
    request.stderr_path = LogPath(name);
    return request;
  }

  bool StartNode(int node) { return Start(NodeName(node), NmArguments(options_.shape, node)); }
  static constexpr std::string_view kNodeName = "nm";
  static std::string NodeName(int node) { return std::string(kNodeName) + std::to_string(node); }

  bool StartManager(int number) {
    return Start(ManagerName(options_.shape, number), RmArguments(options_.shape, number));
  }

  bool StartZooKeeper() {
    base::Result<std::vector<std::string>> command = ZooKeeperCommand(options_.shape);
    if (command.ok()) return StartProgram("zookeeper", std::move(*command));
    Stop(Complain("up", command.error().message, kFailed));
    return false;
  }

  bool StartManagers() {
    if (options_.shape.ha && !StartZooKeeper()) return false;
    for (int number = 1; number <= options_.shape.Managers(); ++number) {
      if (!StartManager(number)) return false;
    }
    return true;
  }

  /// What starts a daemon again whose end a cluster is made for; empty where it is the cluster's end, too.
  std::function<void()> Restart(const std::string& name) {
    for (int node = 1; node <= options_.shape.nodes; ++node) {
      if (name == NodeName(node)) return [this, node] { StartNode(node); };
    }
    if (!options_.shape.ha) return nullptr;
    if (name == "zookeeper") return [this] { StartZooKeeper(); };
    for (int number = 1; number <= options_.shape.Managers(); ++number) {
      if (name == ManagerName(options_.shape, number)) return [this, number] { StartManager(number); };
    }
    return nullptr;
  }

  /// A node's end is what clusters are there for, once they are up, and that of one of several managers; any other
  /// daemon's end is the cluster's.
  void OnExit(const std::string& name, env::ExitStatus status) {
    std::erase_if(children_, [&](const Child& child) { return child.name == name; });
    if (stopping_) {
      if (children_.empty()) loop_.Stop();
      return;
    }
    const std::string what = name + " " + EndText(status) + "; its log: " + LogPath(name);
    const std::function<void()> start_again = announced_ ? Restart(name) : nullptr;
    if (!start_again) return Stop(Complain("up", what + LastLineOf(LogPath(name)), kFailed));
    if (status.signal == 0 && name.starts_with(kNodeName)) return AskAfter({name, what, status.code == 0, start_again});
    Say(what + (status.signal != 0 ? " (it is started again)" : ""));
    if (status.signal != 0) StartLater(start_again);
  }

  void StartLater(const std::function<void()>& start) {
    loop_.After(kRestartDelay, [this, start] {
      if (!stopping_) start();
    });
  }

  static void Say(const std::string& line) {
    std::puts(line.c_str());
    std::fflush(stdout);
  }

  struct Ended {
    std::string node;
    std::string what;
    bool in_order;
    std::function<void()> start_again;
  };

  /// A node agent has ended by itself. Where operators took the node out a manager knows, and is asked until they take
  /// it back.
  void AskAfter(const Ended& ended) {
    Ask("/fairlead/v1/nodes?limit=0", [this, ended](const base::Result<process::http::Response>& answer) {
      const auto drained = DrainedHosts(answer);
      if (!drained || HoldsNode(*drained, ended.node)) {
        if (drained && taken_out_.insert(ended.node).second) {
          Say(ended.node + " was taken out and has ended; it is back soon after 'fairlead node undrain'");
        }
        loop_.After(kAskDelay, [this, ended] { AskAfter(ended); });
        return;
      }
      const bool taken_back = taken_out_.erase(ended.node) > 0;
      const bool starts = taken_back || ended.in_order;
      Say(taken_back ? ended.node + " was taken back" : ended.what + (starts ? " (it is started again)" : ""));
      if (starts) StartLater(ended.start_again);
    });
  }

  /// nullopt: the answer does not say.
  static std::optional<std::set<std::string>> DrainedHosts(const base::Result<process::http::Response>& answer) {
    if (!answer.ok() || answer->status != 200) return std::nullopt;
    const auto json = wire::json::Parse(answer->body, wire::json::kAnswer);
    if (!json || !json->is_object() || !json->contains("drained")) return std::nullopt;
    std::set<std::string> hosts;
    for (const auto& out : json->at("drained")) {
      if (out.is_object() && out.contains("host") && out["host"].is_string()) hosts.insert(out["host"]);
    }
    return hosts;
  }

  bool HoldsNode(const std::set<std::string>& hosts, const std::string& name) const {
    for (int node = 1; node <= options_.shape.nodes; ++node) {
      if (name != NodeName(node)) continue;
      return hosts.contains(NodeHost(node)) || (node == 1 && hosts.contains(kFirstNodeByName));
    }
    return false;
  }

  /// ": " and the last line of a log; the directory may be gone when somebody wants to read it.
  static std::string LastLineOf(const std::string& path) {
    const auto text = env_posix::MakePosixDisk()->ReadFile(path, 1 << 20);
    if (!text.ok()) return "";
    const size_t end = text->find_last_not_of('\n');
    if (end == std::string::npos) return "";
    const size_t begin = text->rfind('\n', end);
    return ": " + text->substr(begin == std::string::npos ? 0 : begin + 1, end - begin);
  }

  using Answered = std::function<void(const base::Result<process::http::Response>&)>;

  /// Asks the manager whose turn it is.
  void Ask(const std::string& target, Answered then) {
    process::http::ClientRequest request;
    const int number = asked_++ % options_.shape.Managers() + 1;
    request.endpoint = {"127.0.0.1", options_.shape.ManagerPort(number, kWebOffset)};
    request.target = target;
    request.timeout = Duration::Seconds(5);
    process::http::Fetch(loop_, loop_, request,
                         [this, then = std::move(then)](const base::Result<process::http::Response>& answer) {
                           if (!stopping_) then(answer);
                         });
  }

  /// Asks the managers in turn until `good` accepts the answer of one.
  void Poll(const std::string& target, std::function<bool(const process::http::Response&)> good,
            std::function<void()> then) {
    Ask(target, [=, this](const base::Result<process::http::Response>& answer) {
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
            if (!StartNode(node)) return;
          }
          AwaitNodes();
        });
  }

  void AwaitNodes() {
    const auto all_running = [this](const process::http::Response& answer) {
      const auto json = wire::json::Parse(answer.body, wire::json::kAnswer);
      if (!json || !json->contains("clusterMetrics")) return false;
      return json->at("clusterMetrics").value("activeNodes", 0) == options_.shape.nodes;
    };
    Poll("/ws/v1/cluster/metrics", all_running, [this] { options_.spark_homes.empty() ? Announce() : StartSpark(); });
  }

  void StartSpark() {
    const ClusterShape& shape = options_.shape;
    spark_port_ = options_.chosen_ports || !PortIsFree(kSparkPort) ? shape.Port(kSparkOffset) : kSparkPort;
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
    announced_ = true;
    const ClusterShape& shape = options_.shape;
    const std::string conf = shape.directory + "/conf";
    const std::string spark =
        spark_port_ == 0 ? "" : "  Spark          --master spark://127.0.0.1:" + std::to_string(spark_port_) + "\n";
    std::string pages = "http://127.0.0.1:" + std::to_string(shape.Port(kWebOffset)) + "/";
    if (shape.ha) {
      pages += "   http://127.0.0.1:" + std::to_string(shape.ManagerPort(2, kWebOffset)) +
               "/   (the one that is standby sends to the other)";
    }
    std::printf(
        "the cluster is up\n"
        "  page           %s\n"
        "  configuration  %s   (for --hadoop-conf, HADOOP_CONF_DIR, YARN_CONF_DIR)\n"
        "  logs           %s/logs\n"
        "  shuffle        port %d of each node (spark.shuffle.service.port)\n"
        "%s"
        "try\n"
        "  fairlead status --hadoop-conf %s\n"
        "  fairlead nodes --hadoop-conf %s\n"
        "  fairlead queues --hadoop-conf %s\n"
        "Ctrl-C ends it\n",
        pages.c_str(), conf.c_str(), shape.directory.c_str(), shape.Port(kShuffleOffset), spark.c_str(), conf.c_str(),
        conf.c_str(), conf.c_str());
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
  std::set<std::string> taken_out_;
  base::Instant give_up_at_;
  int asked_ = 0;
  uint16_t spark_port_ = 0;  // 0: there is no Spark master
  bool announced_ = false;
  bool stopping_ = false;
  int exit_code_ = kOk;
};

/// True for a directory that is empty, or that an earlier `up` has filled: what is in it is about to be closed to
/// others.
bool IsClusterDirectory(const std::string& path) {
  std::error_code error;
  namespace fs = std::filesystem;
  return !fs::exists(path, error) || fs::is_empty(path, error) ||
         (fs::exists(path + "/conf/yarn-site.xml", error) && fs::exists(path + "/rm", error));
}

/// True while a cluster runs in a directory: asked before anything of it is touched.
bool IsUp(const std::string& directory) {
  const int lock = ::open((directory + "/lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (lock < 0) return false;
  const bool taken = ::flock(lock, LOCK_EX | LOCK_NB) != 0;
  ::close(lock);
  return taken;
}

base::Error UpAlready(const std::string& directory) {
  return base::Error{"a cluster is up in " + directory + "; end that one first, or choose another --directory"};
}

/// Makes the cluster's directory, for this user alone. A temporary one has mode 0700 from mkdtemp.
base::Result<std::string> MakeDirectory(const std::string& wanted) {
  if (wanted.empty()) {
    std::string pattern = (std::filesystem::temp_directory_path() / "fairlead-up-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return base::Error{"cannot create " + pattern};
    return pattern;
  }
  std::string path = std::filesystem::absolute(wanted).lexically_normal().string();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (!IsClusterDirectory(path)) {
    return base::Error{path +
                       " holds other things; name a new directory, an empty one, or one of an earlier fairlead up"};
  }
  if (IsUp(path)) return UpAlready(path);
  const auto closed = env_posix::MakePrivateDirectory(path);
  if (!closed.ok()) return closed.error();
  for (const std::string& sentence : *closed) std::fprintf(stderr, "fairlead up: warning: %s\n", sentence.c_str());
  return path;
}

/// One cluster a directory. The lock is held until both processes have ended.
base::Status TakeLock(const std::string& directory) {
  const std::string path = directory + "/lock";
  const int lock = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock < 0) return base::Error{"cannot open " + path + ": " + std::strerror(errno)};
  if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return {};
  ::close(lock);
  return UpAlready(directory);
}

void WarnAsRoot(bool any_user) {
  if (::geteuid() != 0) return;
  std::fprintf(stderr, "fairlead up: WARNING: you are root, so whatever is submitted runs as root, %s\n",
               any_user ? "and with --any-user every user of this machine may submit"
                        : "and only root's processes are served; run it as another user, who need not be root");
}

/// What is left when one of the two processes ends: nothing.
void CleanUp(const std::string& directory, bool remove) {
  EndDescendants(kStopLimit);
  if (remove) (void)env_posix::MakePosixDisk()->RemoveTree(directory).ok();
}

/// Passes signals on to the process that runs the cluster, and cleans up after it.
int Guard(pid_t cluster, const sigset_t& signals, const std::string& directory, bool remove) {
  int status = 0;
  while (true) {
    const int signal = ::sigwaitinfo(&signals, nullptr);
    if (signal != SIGCHLD && signal > 0) ::kill(cluster, SIGTERM);
    ReapOrphans([cluster](int64_t pid) { return pid == cluster; });
    if (::waitpid(cluster, &status, WNOHANG) == cluster) break;
  }
  CleanUp(directory, remove);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return Complain("up", "the cluster's process was ended by " + std::string(::strsignal(WTERMSIG(status))), kFailed);
}

int Up(UpOptions options) {
  const bool remove = options.directory.empty();
  const bool fresh = remove || !std::filesystem::exists(options.directory);
  const auto directory = MakeDirectory(options.directory);
  if (!directory.ok()) return Complain("up", directory.error().message, kFailed);
  options.shape.directory = *directory;
  if (const base::Status locked = TakeLock(*directory); !locked.ok()) {
    return Complain("up", locked.error().message, kFailed);
  }
  const auto port_base = ChoosePortBase(options.shape);
  if (!port_base.ok()) {
    CleanUp(*directory, fresh);
    return Complain("up", port_base.error().message, kFailed);
  }
  options.chosen_ports = options.shape.port_base != 0;
  options.shape.port_base = *port_base;
  if (!options.any_user) options.shape.callers = ::geteuid();
  WarnAsRoot(options.any_user);
  AdoptOrphans();
  std::fflush(nullptr);
  sigset_t signals, before;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&signals, signal);
  ::sigprocmask(SIG_BLOCK, &signals, &before);
  std::vector<pid_t> watched = {::getpid()};
  if (options.with_parent) watched.push_back(::getppid());
  const pid_t cluster = ::fork();
  if (cluster < 0) return Complain("up", std::string("cannot fork: ") + std::strerror(errno), kFailed);
  if (cluster > 0) return Guard(cluster, signals, *directory, remove);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  AdoptOrphans();
  const auto loop = env_posix::MakePosixLoop();
  const int exit_code = Cluster(*loop, std::move(options)).Run(watched);
  if (::getppid() != watched[0]) CleanUp(*directory, remove);  // the guard has been killed
  return exit_code;
}

/// The first queue that is named a second time; "": none is.
std::string NamedTwice(const std::vector<std::string>& queues) {
  std::set<std::string> names;
  for (const std::string& queue : queues) {
    const std::string name = queue.substr(0, queue.find('='));
    if (!names.insert(name).second) return name;
  }
  return "";
}

}  // namespace

void AddUp(CLI::App& app, int& exit_code) {
  CLI::App* up = app.add_subcommand("up", "Start a cluster on this machine; Ctrl-C ends it and leaves nothing behind");
  up->footer(
      "Examples:\n  fairlead up\n  fairlead up --nodes 5 --memory 2048 --vcores 2\n"
      "  fairlead up --queue prod=3 --queue adhoc=1 --directory ./cluster\n"
      "  fairlead up --profile tdw --queue bi.daily=3 --queue bi.hourly=1 --queue search.index=2\n"
      "  fairlead up --memory 4096 --spark-home /opt/spark-3.5.9\n  fairlead up --ha");
  auto options = std::make_shared<UpOptions>();
  up->add_option("--nodes", options->shape.nodes, "number of node managers")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  up->add_option("--racks", options->shape.racks, "number of racks")->check(CLI::Range(1, 64))->capture_default_str();
  up->add_option("--memory", options->shape.node_memory_mib, "MiB of memory a node gives")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  up->add_option("--vcores", options->shape.node_vcores, "virtual cores a node gives")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  up->add_option("--queue", options->shape.queues,
                 "NAME=WEIGHT of a queue, or GROUP.POOL=WEIGHT of one inside another; may be repeated")
      ->check(CLI::Validator(WrongQueue, "NAME=WEIGHT"));
  up->add_option("--profile", options->shape.profile, "scheduler profile")
      ->check(CLI::IsMember(profiles::Names()))
      ->capture_default_str();
  up->add_flag("--ha", options->shape.ha,
               "two resource managers and a ZooKeeper (Debian's packages zookeeper and default-jre-headless)");
  up->add_option(
        "--port-base", options->shape.port_base,
        "ports are 30 to 181 above this (the page: 88, shuffle: 137, the Spark master: 177; those of a second manager\n"
        "further above); default: YARN's own when free")
      ->check(CLI::Range(1, 65'000));
  up->add_option("--spark-home", options->spark_homes,
                 "start a Spark master, too, for drivers of the Spark in this directory; may be repeated");
  up->add_option("--directory", options->directory,
                 "keep state, logs and configuration here (default: a temporary one)");
  up->add_option("--ready-file", options->ready_file, "write the configuration directory's path here once all is up");
  up->add_flag("--with-parent", options->with_parent, "end when the process that started this one ends");
  up->add_flag("--any-user", options->any_user,
               "serve processes of every user of this machine (default: yours alone, since programs run as you)");
  up->callback([options, &exit_code] {
    const std::string twice = NamedTwice(options->shape.queues);
    if (!twice.empty()) throw CLI::ValidationError("--queue", twice + " is said twice; say it once");
    exit_code = Up(*options);
  });
}

}  // namespace fairlead::apps
