#include "engine/run/cluster_executor.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/bytes.h"
#include "endpoints/yarn/credentials.h"
#include "engine/io/files.h"
#include "engine/io/job_files.h"
#include "engine/records/errors.h"
#include "engine/run/executor.h"
#include "engine/run/host_load.h"
#include "engine/run/outbox.h"
#include "engine/run/own_shuffle_service.h"
#include "engine/run/remote_blocks.h"
#include "engine/settings/spark_settings.h"
#include "env_posix/posix_loop.h"
#include "process/executor/driver_connection.h"
#include "process/executor/shuffle_client.h"
#include "process/executor/shuffle_pusher.h"
#include "wire/hadoop_rpc/base64.h"
#include "wire/spark_shuffle/layout.h"

namespace fairlead::engine {

namespace {

namespace pe = process::executor;
namespace we = wire::engine;

/// For so long a node's shuffle service may be away (its agent restarts) before the executor serves its files itself.
constexpr int kRegisterTries = 40;
constexpr base::Duration kRegisterWait = base::Duration::Millis(500);

constexpr base::Duration kLoadInterval = base::Duration::Seconds(2);
/// A host's load is told again when it has changed by so many thousandths.
constexpr int64_t kLoadStep = 50;

/// The parts of one executor process. All on the loop's thread but Executor's own.
class ExecutorProcess {
 public:
  explicit ExecutorProcess(const std::string& executor_id);
  int Run();

 private:
  void RegisterAtShuffleService(int tries);
  void ServeOwnFiles(const std::string& why);
  void PrepareMerges(const JobSettings& settings);
  void AskWhetherItMerges();
  void ConnectToDriver();
  void OnMessage(we::Message message);
  void TellLoad();
  void End(int code, const std::string& reason);

  std::unique_ptr<env_posix::PosixLoop> loop_;
  we::Hello hello_;
  std::string secret_;
  wire::spark_transport::Security security_;  // between executors and shuffle services
  env::Endpoint driver_;
  env::Endpoint shuffle_service_;
  ExecutorOptions options_;
  std::unique_ptr<OwnShuffleService> own_service_;
  std::unique_ptr<pe::ShuffleClient> shuffle_client_;
  std::unique_ptr<RemoteBlocksOverNet> remote_;
  // When shuffles may be merged.
  std::unique_ptr<env::Disk> disk_;
  std::unique_ptr<pe::ShuffleClient> push_client_;
  std::unique_ptr<pe::ShufflePusher> pusher_;
  std::unique_ptr<pe::DriverConnection> connection_;
  std::shared_ptr<Outbox> outbox_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<HostLoadMeter> load_meter_;  // when loads count
  int64_t told_load_ = 0;
  int exit_code_ = 1;
};

/// The port that the node's shuffle service announces to containers (NM_AUX_SERVICE_spark_shuffle: four bytes in
/// base64, as YARN's services do), else the configured one.
int32_t ShufflePort(int32_t configured) {
  const std::string announced = Environment("NM_AUX_SERVICE_spark_shuffle");
  if (!announced.empty()) {
    const auto bytes = wire::hadoop_rpc::DecodeBase64(announced);
    if (bytes && bytes->size() == 4) {
      const int32_t port = base::BigEndian<int32_t>(*bytes);
      if (port > 0 && port < 65536) return port;
    }
  }
  return configured;
}

ExecutorProcess::ExecutorProcess(const std::string& executor_id) : loop_(env_posix::MakePosixLoop()) {
  const auto credentials = endpoints::yarn::ParseCredentials(ReadTokenFile());
  if (!credentials) throw JobError("cannot read the container's tokens: " + credentials.error().message);
  const auto secret = credentials->secrets.find(kSecretAlias);
  if (secret == credentials->secrets.end()) throw JobError("the container's tokens hold no secret of the driver");
  secret_ = secret->second;
  const JobSettings settings = SettingsOfThisProcess();
  const auto driver = env::ParseEndpoint(settings.driver);
  if (!driver) throw JobError("the driver's address: " + driver.error().message);
  driver_ = *driver;

  hello_.build_id = BuildId();
  hello_.executor_id = executor_id;
  hello_.host = Environment("NM_HOST", "localhost");
  hello_.slots = settings.executor_cores;
  hello_.pid = ::getpid();
  hello_.shuffle_host = hello_.host;
  hello_.shuffle_port = ShufflePort(settings.shuffle_port);
  shuffle_service_ = {hello_.shuffle_host, static_cast<uint16_t>(hello_.shuffle_port)};

  base::Result<wire::spark_transport::Security> security = MakeShuffleSecurity(settings, secret_);
  if (!security) throw JobError(security.error().message);
  security_ = *std::move(security);
  const base::Result<tasks::Config> config = MakeTasksConfig(settings);
  if (!config) throw JobError(config.error().message);
  if (config->beyond.load_weight_milli > 0) {
    const auto file = settings.spark.find(kLoadFile);
    load_meter_ = std::make_unique<HostLoadMeter>(hello_.host, file == settings.spark.end() ? "" : file->second);
  }
  options_.slots = hello_.slots;
  // The rest of the container's memory is for records in flight, threads and the program.
  options_.memory_bytes = (settings.executor_memory_mib << 20) * 6 / 10;
  // Files of the application's directory outlive this container, so that the shuffle service can serve them.
  const std::string unique = Environment("CONTAINER_ID", "executor-" + executor_id + "-" + std::to_string(::getpid()));
  for (const std::string& directory : SplitCommas(Environment("LOCAL_DIRS", "."))) {
    options_.local_directories.push_back(directory + "/blockmgr-" + unique);
  }
  options_.scratch_directory = Environment("PWD", ".") + "/scratch";
  shuffle_client_ =
      std::make_unique<pe::ShuffleClient>(*loop_, *loop_, settings.application_id, pe::ShuffleClient::Limits());
  shuffle_client_->Authenticate(security_);
  shuffle_client_->UseLocalSockets(*loop_, ::geteuid());
  remote_ = std::make_unique<RemoteBlocksOverNet>(*loop_, *shuffle_client_);
  PrepareMerges(settings);
}

/// The node's service writes what it merges into directories that are there: as Spark's executors make them.
void ExecutorProcess::PrepareMerges(const JobSettings& settings) {
  const base::Result<tasks::MergeWhen> when = MakeMergeWhen(settings);
  if (!when) throw JobError(when.error().message);
  if (*when == tasks::MergeWhen::kNever || settings.shuffle_port <= 0) return;
  const std::string name = "merge_manager_" + std::to_string(ApplicationAttempt());
  for (const std::string& directory : SplitCommas(Environment("LOCAL_DIRS", "."))) {
    for (int32_t i = 0; i < wire::spark_shuffle::kSubDirsPerLocalDir; ++i) {
      char sub[4];
      std::snprintf(sub, sizeof sub, "%02x", static_cast<unsigned>(i));
      MakeDirectories(directory + "/" + name + "/" + sub, 0770);
    }
  }
  shuffle_client_->KeepMergedIn(name, ApplicationAttempt());
  disk_ = env_posix::MakePosixDisk();
  pe::ShuffleClient::Limits limits;
  limits.connect = base::Duration::Seconds(2);  // the driver does not wait long for pushes
  push_client_ = std::make_unique<pe::ShuffleClient>(*loop_, *loop_, settings.application_id, limits);
  push_client_->Authenticate(security_);
  pe::ShufflePusher::Hooks hooks;
  hooks.done = [this](const we::MapPushed& pushed) { connection_->Send(pushed); };
  pusher_ = std::make_unique<pe::ShufflePusher>(*loop_, *disk_, *push_client_, options_.local_directories,
                                                pe::ShufflePusher::Limits(), std::move(hooks));
  options_.on_written = [this](int32_t shuffle, int32_t map, int64_t task) {
    loop_->Post([this, shuffle, map, task] { pusher_->Wrote(shuffle, map, task); });
  };
}

int ExecutorProcess::Run() {
  outbox_ = std::make_shared<Outbox>(*loop_, [this](const we::Message& message) { connection_->Send(message); });
  const auto send = [this](we::Message message, bool more) { outbox_->Send(std::move(message), more); };
  executor_ = std::make_unique<Executor>(options_, send, remote_.get());
  if (hello_.shuffle_port > 0) {
    RegisterAtShuffleService(0);
  } else {
    loop_->Post([this] { ServeOwnFiles("no port of one is configured"); });
  }
  loop_->Run();
  pusher_.reset();
  connection_.reset();
  own_service_.reset();
  // Threads in user code may never end; nothing is lost by leaving them.
  std::fflush(nullptr);
  ::_exit(exit_code_);
}

void ExecutorProcess::RegisterAtShuffleService(int tries) {
  shuffle_client_->Register(shuffle_service_, hello_.executor_id, options_.local_directories,
                            [this, tries](base::Status status) {
                              if (status.ok()) return AskWhetherItMerges();
                              const std::string why = shuffle_service_.ToString() + ": " + status.error().message;
                              const bool away = status.error().code == static_cast<int>(pe::FetchError::kConnection);
                              if (own_service_) return End(1, "cannot register at the own shuffle service " + why);
                              if (!away || tries >= kRegisterTries) return ServeOwnFiles(why);
                              loop_->After(kRegisterWait, [this, tries] { RegisterAtShuffleService(tries + 1); });
                            });
}

/// Where the node has no shuffle service that takes this executor, it serves its files as long as it lives.
void ExecutorProcess::ServeOwnFiles(const std::string& why) {
  std::printf("the node has no shuffle service (%s): this executor serves its files itself\n", why.c_str());
  std::fflush(stdout);
  std::vector<std::string> roots;
  for (const std::string& directory : SplitCommas(Environment("LOCAL_DIRS", "."))) {
    roots.push_back(std::filesystem::absolute(directory).lexically_normal().string());
  }
  own_service_ = std::make_unique<OwnShuffleService>(*loop_, std::move(roots), security_);
  const base::Result<env::Endpoint> address = own_service_->Listen(hello_.host);
  if (!address) return End(1, "cannot listen on " + hello_.host + ": " + address.error().message);
  shuffle_service_ = *address;
  hello_.shuffle_port = address->port;
  hello_.serves_own_files = true;
  RegisterAtShuffleService(0);
}

void ExecutorProcess::AskWhetherItMerges() {
  if (!pusher_ || own_service_) return ConnectToDriver();
  shuffle_client_->AskWhetherItMerges(shuffle_service_, [this](bool merges) {
    hello_.service_merges = merges;
    ConnectToDriver();
  });
}

void ExecutorProcess::OnMessage(we::Message message) {
  if (std::holds_alternative<we::Launch>(message)) outbox_->ExpectStarts();
  if (auto* const order = std::get_if<we::PushShuffle>(&message)) {
    if (pusher_) pusher_->Begin(std::move(*order));
    return;
  }
  if (const auto* const forget = std::get_if<we::Forget>(&message); forget != nullptr && pusher_) {
    for (const int32_t shuffle : forget->shuffles) pusher_->Forget(shuffle);
  }
  executor_->OnMessage(std::move(message));
}

void ExecutorProcess::ConnectToDriver() {
  pe::DriverConnection::Callbacks callbacks;
  callbacks.on_welcome = [this](const we::Welcome& welcome) {
    executor_->set_index(welcome.executor);
    if (load_meter_) TellLoad();
  };
  callbacks.on_message = [this](we::Message message) { OnMessage(std::move(message)); };
  callbacks.on_end = [this](const std::string& reason, bool orderly) { End(orderly ? 0 : 1, reason); };
  connection_ = std::make_unique<pe::DriverConnection>(*loop_, *loop_, secret_, hello_, std::move(callbacks));
  connection_->Connect(driver_);
}

void ExecutorProcess::TellLoad() {
  const int64_t load = load_meter_->Measure(loop_->Now());
  if (std::abs(load - told_load_) >= kLoadStep) {
    told_load_ = load;
    connection_->Send(we::HostLoad{static_cast<int32_t>(load)});
  }
  loop_->After(kLoadInterval, [this] { TellLoad(); });
}

void ExecutorProcess::End(int code, const std::string& reason) {
  std::fprintf(code == 0 ? stdout : stderr, "executor ends: %s\n", reason.c_str());
  exit_code_ = code;
  loop_->Stop();
}

}  // namespace

int RunClusterExecutor(const std::string& executor_id) {
  try {
    return ExecutorProcess(executor_id).Run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "executor cannot start: %s\n", error.what());
    return 1;
  }
}

}  // namespace fairlead::engine
