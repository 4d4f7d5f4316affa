#include "shell/spark/worker_supervisor.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/algorithm/string/join.hpp>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/hash.h"
#include "shell/base/logging.h"
#include "shell/base/open_ports.h"
#include "shell/spark/run_surroundings.h"

namespace fairlead::shell {

namespace {

namespace sw = process::spark_worker;

constexpr int kWorkersMax = 64;  // of one work directory
constexpr base::Duration kStartMax = base::Duration::Seconds(10);
constexpr base::Duration kTryAgain = base::Duration::Millis(10);

std::filesystem::path SocketsOf(const std::string& work_directory) {
  return std::filesystem::absolute(work_directory).lexically_normal() / sw::kSupervisorDirectory;
}

std::string NameOf(const std::string& work_directory, int number) {
  return SocketsOf(work_directory) / std::to_string(number);
}

/// As supervisors of releases before 1.0 are met, which may have been left by such a worker: a name of the kernel's,
/// which others may have taken.
std::string EarlierNameOf(const std::string& work_directory, int number) {
  base::StateHasher hash;
  hash.Mix(std::filesystem::absolute(work_directory).lexically_normal().string());
  return "fairlead-spark-worker/" + std::to_string(::geteuid()) + "/" + std::to_string(hash.value()) + "/" +
         std::to_string(number);
}

/// Nobody else can enter it, so nobody else can take a supervisor's place.
base::Status MakeSocketsDirectory(const std::string& work_directory) {
  const std::filesystem::path path = SocketsOf(work_directory);
  struct stat found = {};
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return base::Error{"cannot make " + path.string() + ": " + std::strerror(errno)};
  }
  if (::lstat(path.c_str(), &found) != 0) return base::Error{path.string() + ": " + std::strerror(errno)};
  const bool own = S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() && (found.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  if (own) return {};
  return base::Error{path.string() +
                     " must be a directory of this user's that nobody else may enter (0700); remove it"};
}

/// What a worker must have in common with the one whose place it takes.
std::string PurposeOf(const sw::SparkWorkerSettings& worker, const std::string& callers) {
  std::string purpose = worker.listen.ToString() + " as " + worker.host + ", " + std::to_string(worker.cores) +
                        " cores, " + std::to_string(worker.memory_mib) + " MiB, " + worker.launch.spark_home;
  for (const auto& [name, addresses] : worker.resources) {
    purpose += ", " + name;
    for (const std::string& address : addresses) purpose += " " + address;
  }
  if (!callers.empty()) purpose += ", for users " + callers;
  return purpose;
}

/// Goes through the names until one serves this worker.
class Search : public std::enable_shared_from_this<Search> {
 public:
  Search(env_posix::PosixLoop& loop, const sw::SparkWorkerSettings& worker, std::string callers,
         std::function<void(base::Result<FoundSupervisor>)> done)
      : loop_(loop),
        work_directory_(worker.work_directory),
        environment_(worker.launch.environment),
        callers_(std::move(callers)),
        hello_(sw::HelloOf(PurposeOf(worker, callers_), worker.listen.host, worker.security)),
        done_(std::move(done)),
        until_(loop.Now() + kStartMax) {}

  void Try() {
    loop_.ConnectLocal(NameOf(work_directory_, number_), [self = shared_from_this()](auto stream) {
      if (stream.ok()) return self->Ask(std::move(*stream));
      self->started_ ? self->StartOne() : self->TryEarlier();
    });
  }
  void TryEarlier() {
    loop_.ConnectLocal(EarlierNameOf(work_directory_, number_), [self = shared_from_this()](auto stream) {
      const bool own = stream.ok() && (*stream)->peer_user() == ::geteuid();
      own ? self->Ask(std::move(*stream)) : self->StartOne();
    });
  }

 private:
  void Ask(std::unique_ptr<env::LocalStream> stream) {
    if (stream->peer_user() != ::geteuid()) return Next("it is another user's");
    link_ = std::make_unique<sw::SupervisorLink>(
        std::move(stream), hello_, [self = shared_from_this()](base::Result<sw::LinkWelcome> welcome) {
          if (welcome.ok()) return self->done_(FoundSupervisor{std::move(self->link_), std::move(*welcome)});
          self->loop_.Post([self, why = welcome.error().message] { self->Next(why); });  // the link is in its callback
        });
  }
  void Next(const std::string& why) {
    link_.reset();
    started_ = false;
    if (++number_ == kWorkersMax) return done_(base::Error{"no supervisor serves this worker; the last one: " + why});
    Try();
  }
  /// Nobody listens there (yet).
  void StartOne() {
    if (loop_.Now() > until_) return done_(base::Error{"the worker's supervisor does not start"});
    if (!std::exchange(started_, true)) {
      env::SpawnRequest request;
      request.argv = {std::filesystem::read_symlink("/proc/self/exe").string(), "spark-worker-supervisor",
                      NameOf(work_directory_, number_)};
      if (!callers_.empty()) request.argv.push_back("--callers=" + callers_);
      request.environment = environment_;
      request.directory = work_directory_;
      request.stderr_path = work_directory_ + "/fairlead-supervisor.log";
      const auto pid = loop_.Spawn(request, [](env::ExitStatus) {});
      if (!pid.ok()) return done_(pid.error());
    }
    loop_.After(kTryAgain, [self = shared_from_this()] { self->Try(); });
  }

  env_posix::PosixLoop& loop_;
  const std::string work_directory_;
  const std::map<std::string, std::string> environment_;
  const std::string callers_;
  const sw::LinkHello hello_;
  const std::function<void(base::Result<FoundSupervisor>)> done_;
  const base::Instant until_;
  int number_ = 0;
  bool started_ = false;
  std::unique_ptr<sw::SupervisorLink> link_;
};

}  // namespace

void FindSupervisor(env_posix::PosixLoop& loop, const sw::SparkWorkerSettings& worker,
                    const std::vector<std::string>& callers, std::function<void(base::Result<FoundSupervisor>)> done) {
  if (const base::Status made = MakeSocketsDirectory(worker.work_directory); !made.ok()) {
    return loop.Post([done = std::move(done), made] { done(made.error()); });
  }
  std::make_shared<Search>(loop, worker, boost::algorithm::join(callers, ","), std::move(done))->Try();
}

int RunWorkerSupervisor(const std::string& name, const std::vector<std::string>& callers) {
  if (!KeepStrangersOut(callers).ok()) return 1;  // its worker has tried it before
  const auto log = MakeLog("spark-worker-supervisor", {});
  LogStrangers(*log);
  const auto loop = env_posix::MakePosixLoop();
  const auto surroundings = MakeSurroundings(*log);
  sw::SupervisorServer server({*loop, *loop, *loop, *log, surroundings.get()});
  server.on_over = [&loop] { loop->Stop(); };
  const auto listener = loop->ListenLocal(name, [&](std::unique_ptr<env::LocalStream> stream) {
    if (stream->peer_user() == ::geteuid()) server.Take(std::move(stream));
  });
  if (!listener.ok()) return 1;  // another worker was faster
  for (const int signal : {SIGTERM, SIGINT}) loop->OnSignal(signal, [&loop] { loop->Stop(); });
  loop->After(kStartMax, [&] {
    if (!server.serves()) loop->Stop();
  });
  loop->Run();
  return 0;
}

}  // namespace fairlead::shell
