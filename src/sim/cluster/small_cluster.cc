#include "sim/cluster/small_cluster.h"

#include <string>
#include <utility>
#include <vector>

#include "scheduler/fairlead/fairlead.h"

namespace fairlead::sim {

using base::Duration;

class SmallCluster::HeldContainers final : public process::nm::Containers {
 public:
  explicit HeldContainers(env::Loop& loop) : loop_(loop) {}
  void Start(process::nm::ContainerEvents* events) override { events_ = events; }
  void Launch(process::nm::LaunchPlan plan) override { Tell(model::nm::ContainerRunning{plan.id, 1}); }
  void Attach(const model::nm::ContainerSpec& spec) override { Tell(model::nm::ContainerRunning{spec.id, 1}); }
  void Signal(const model::ContainerId& id, model::nm::SignalKind kind) override {
    if (kind != model::nm::SignalKind::kTerminate && kind != model::nm::SignalKind::kKill) return;
    Tell(model::nm::ContainerExited{id, 143, model::nm::EndCause::kExit, "", 0});
  }
  void Link(const model::ContainerId&, const std::string&, const std::string&, std::vector<model::nm::Link>) override {}
  void Resize(const model::ContainerId&, const model::Resources&) override {}
  void Forget(const model::ContainerId&) override {}

 private:
  void Tell(model::nm::Event event) {
    loop_.Post([this, event = std::move(event)]() mutable { events_->OnContainerEvent(std::move(event)); });
  }
  env::Loop& loop_;
  process::nm::ContainerEvents* events_ = nullptr;
};

/// The machine's, which others could read until its first commit.
class SmallCluster::OnceOpenStore final : public env::Store {
 public:
  OnceOpenStore(env::Store& store, bool open) : store_(store), open_(open) {}
  void Commit(std::vector<env::Row> rows, std::function<void(env::CommitStatus)> done) override {
    open_ = false;
    store_.Commit(std::move(rows), std::move(done));
  }
  base::Result<std::vector<env::Row>> Load(const std::string& table) override { return store_.Load(table); }
  bool WasOpen() const override { return open_; }
  std::string Name() const override { return store_.Name(); }

 private:
  env::Store& store_;
  bool open_;
};

SmallCluster::SmallCluster() : containers_(std::make_unique<HeldContainers>(node_host_.loop())) {}

SmallCluster::~SmallCluster() { Stop(); }

base::Status SmallCluster::StartManager(bool laid_open) {
  process::rm::ResourceManagerOptions options;
  options.ports.client = kClient;
  options.ports.scheduler = kScheduler;
  options.ports.tracker = kTracker;
  options.ports.admin = kAdmin;
  options.core.master_expiry = Duration::Seconds(3600);  // not every master beats here
  options.groups_of = [](const std::string& user) { return std::vector<std::string>{user}; };
  options.rack_of = [](const std::string&) { return "/default-rack"; };
  options.host_lists = [] { return model::rm::RefreshNodes{}; };
  options.read_queues = [](std::vector<std::string>&) { return model::QueueTree{}; };
  options.make_scheduler = [](int64_t epoch) -> base::Result<std::unique_ptr<scheduler::Scheduler>> {
    scheduler::FairleadConfig config;
    config.epoch = epoch;
    return scheduler::MakeFairlead(config);
  };
  store_ = std::make_unique<OnceOpenStore>(rm_host_.store(), laid_open);
  auto started = process::rm::ResourceManager::Start(rm_host_.loop(), rm_host_.net(), store_.get(), std::move(options));
  if (!started.ok()) return started.error();
  rm_ = std::move(*started);
  return {};
}

base::Status SmallCluster::StartNode() {
  process::nm::Settings settings;
  settings.host = "node";
  settings.listen = {"node", 0};
  settings.trackers = {kTracker};
  settings.user = "yarn";
  settings.core.capacity = settings.physical = model::Resources::Of(64 << 10, 64);
  settings.core.check_physical = settings.core.check_virtual = false;
  node_ = std::make_unique<process::nm::NodeManager>(process::nm::Environment{node_host_.loop(),
                                                                              node_host_.net(),
                                                                              node_host_.disk(),
                                                                              node_host_.store(),
                                                                              log_,
                                                                              *containers_,
                                                                              localizer_,
                                                                              dirs_,
                                                                              {}},
                                                     settings);
  return node_->Start([](int, const std::string&) {});
}

base::Status SmallCluster::Start(bool laid_open) {
  if (base::Status started = StartManager(laid_open); !started.ok()) return started;
  if (base::Status started = StartNode(); !started.ok()) return started;
  Pass(Duration::Seconds(3));
  return {};
}

void SmallCluster::Stop() {
  for (env_sim::Machine* host : {&rm_host_, &node_host_}) {
    if (host->up()) host->Crash();
  }
  node_.reset();
  rm_.reset();
  for (env_sim::Machine* host : {&rm_host_, &node_host_}) host->Restart();
}

base::Status SmallCluster::RestartManager(bool laid_open) {
  rm_host_.Crash();
  rm_.reset();
  rm_host_.Restart();
  if (base::Status started = StartManager(laid_open); !started.ok()) return started;
  Pass(Duration::Seconds(10));
  return {};
}

void SmallCluster::Pass(Duration time) {
  const base::Instant until = world_.now() + time;
  world_.Script(until, [] {});  // time goes on even when nothing happens
  world_.RunUntil(until, [] { return false; });
}

model::ApplicationId SmallCluster::NewApplication() {
  auto id = std::make_shared<model::ApplicationId>();
  rm_->batches().Ask(model::rm::NewApplication{}, [id](const model::rm::OuterEffect& effect) {
    *id = std::get<model::rm::NewApplicationAnswer>(effect).app;
  });
  Pass(Duration::Seconds(1));
  return *id;
}

const fairlead::rm::Attempt* SmallCluster::AttemptOf(const model::ApplicationId& id) const {
  const fairlead::rm::App* app = rm_->core().FindApp(id);
  return app ? app->current() : nullptr;
}

env::Endpoint SmallCluster::node_address() const {
  return {node_->identity().host, static_cast<uint16_t>(node_->identity().port)};
}

endpoints::yarn::RpcToken SmallCluster::NmToken(const model::ApplicationAttemptId& attempt) const {
  return rm_->keys().NmRpcToken(attempt, {node_->identity().host, node_->identity().port}, "user");
}

}  // namespace fairlead::sim
