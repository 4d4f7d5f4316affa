#include "sim/cluster/cluster.h"

#include <cerrno>

#include "env_sim/sim_disk.h"
#include "scheduler/fairlead/fairlead.h"
#include "sim/cluster/audit.h"
#include "sim/cluster/audited_net.h"
#include "sim/cluster/planted.h"

namespace fairlead::sim {
namespace {

using base::Duration;

constexpr uint16_t kSchedulerPort = 8030;
constexpr uint16_t kTrackerPort = 8031;
constexpr uint16_t kClientPort = 8032;
constexpr uint16_t kAdminPort = 8033;
/// With the quorum of several managers.
constexpr Duration kSession = Duration::Seconds(2);

std::string NodeName(int node) { return "node" + std::to_string(node); }

env_sim::SimDisk& SimDiskOf(env_sim::Machine& machine) { return dynamic_cast<env_sim::SimDisk&>(machine.disk()); }

}  // namespace

Cluster::Cluster(env_sim::World& world, ClusterSpec spec, std::map<int, JobSpec> jobs, Ledger& ledger)
    : world_(world), spec_(spec), jobs_(std::move(jobs)), ledger_(ledger) {
  if (spec_.managers > 1) {
    quorum_ = std::make_unique<env_sim::SimQuorum>(
        world, kSession, env_sim::QuorumBugs{spec.bug == PlantedBug::kNoFence, spec.bug == PlantedBug::kLateStepDown});
  }
  for (int i = 1; i <= spec_.managers; ++i) AddRm(spec_.managers == 1 ? "rm" : "rm" + std::to_string(i));
  client_machine_ = &world.AddMachine("clients");
  if (spec_.bug == PlantedBug::kLostAcknowledgement) {
    lying_store_ = MakeLyingStore(rms_[0].machine->store(), rms_[0].machine->loop());
  }
  for (Manager& manager : rms_) StartRm(manager);
  for (int i = 0; i < spec_.nodes; ++i) {
    auto node = std::make_unique<Node>();
    node->name = NodeName(i);
    node->machine = &world_.AddMachine(node->name);
    node->apps = &world_.AddMachine(node->name + "-containers");
    ledger_.SetCapacity(node->name, spec_.node_capacity);
    env::ConfinedFiles* files = &SimDiskOf(*node->machine);
    if (spec_.bug == PlantedBug::kLostMerge) {
      node->lying_files = MakeLyingFiles(*files);
      files = node->lying_files.get();
    }
    node->shuffle = std::make_unique<ShuffleNode>(world_, world_.AddMachine(node->name + "-shuffle"),
                                                  node->machine->disk(), *files, ledger_);
    node->shuffle->Start();
    node->host = std::make_unique<ContainerHost>(
        world_,
        ContainerHost::Place{node->name, *node->apps, node->machine->disk(), RmEndpoints(kSchedulerPort),
                             node->shuffle->endpoint(), spec_.bug},
        jobs_, ledger_);
    StartAgent(*node);
    nodes_.push_back(std::move(node));
  }
}

void Cluster::AddRm(const std::string& name) {
  Manager& manager = rms_.emplace_back();
  manager.name = name;
  manager.machine = &world_.AddMachine(name);
}

std::vector<env::Endpoint> Cluster::RmEndpoints(uint16_t port) const {
  std::vector<env::Endpoint> out;
  for (const Manager& manager : rms_) out.push_back({manager.name, port});
  return out;
}

process::rm::ResourceManager* Cluster::Rm() const {
  for (const Manager& manager : rms_) {
    if (manager.alone) return manager.alone.get();
    if (manager.member && manager.member->acting()) return manager.member->acting();
  }
  return nullptr;
}

Cluster::~Cluster() = default;

process::rm::ResourceManagerOptions Cluster::RmOptions(const std::string& name) const {
  process::rm::ResourceManagerOptions options;
  options.core.max_attempts = 3;
  options.core.global_max_attempts = 3;
  options.core.master_expiry = Duration::Seconds(20);
  options.core.node_expiry = Duration::Seconds(10);
  options.core.grant_expiry = Duration::Seconds(15);
  options.core.minimum = model::Resources::Of(128, 1);
  options.core.increment = model::Resources::Of(128, 1);
  options.core.maximum = spec_.node_capacity;
  options.keys.node_activation = Duration::Seconds(15);
  options.keys.master_activation = Duration::Seconds(30);
  options.keys.amrm_roll = Duration::Seconds(61);
  options.keys.node_roll = Duration::Seconds(50);
  options.keys.container_roll = Duration::Seconds(40);
  options.launcher.call = Duration::Seconds(5);
  options.launcher.give_up = Duration::Seconds(20);
  options.ports.client = {name, kClientPort};
  options.ports.scheduler = {name, kSchedulerPort};
  options.ports.tracker = {name, kTrackerPort};
  options.ports.admin = {name, kAdminPort};
  options.groups_of = [](const std::string& user) { return std::vector<std::string>{user}; };
  options.rack_of = [](const std::string& host) { return "/rack" + std::to_string(host.back() % 2); };
  options.make_scheduler = [spec = spec_,
                            ledger = &ledger_](int64_t epoch) -> base::Result<std::unique_ptr<scheduler::Scheduler>> {
    scheduler::FairleadConfig config;
    config.epoch = epoch;
    config.minimum_allocation = model::Resources::Of(128, 1);
    config.maximum_allocation = spec.node_capacity;
    return Audit(Plant(spec.bug, scheduler::MakeFairlead(config)), *ledger);
  };
  return options;
}

void Cluster::StartRm(Manager& manager) {
  if (quorum_) return StartMember(manager);
  env_sim::Machine& machine = *manager.machine;
  env::Store* store = lying_store_ ? lying_store_.get() : &machine.store();
  auto started = process::rm::ResourceManager::Start(machine.loop(), machine.net(), store, RmOptions(manager.name));
  if (ledger_.RefusedDamage(machine, started.ok())) return StartRm(manager);
  if (!started) return ledger_.Violation("the resource manager does not start: " + started.error().message);
  manager.alone = std::move(started).value();
}

void Cluster::StartMember(Manager& manager) {
  env_sim::Machine& machine = *manager.machine;
  process::rm::LeadershipOptions options;
  options.id = manager.name;
  options.ports = RmOptions(manager.name).ports;
  for (const Manager& each : rms_) options.admin_of[each.name] = {each.name, kAdminPort};
  options.admin_acl.everybody = true;
  options.groups_of = [](const std::string&) { return std::vector<std::string>{}; };
  options.manager = [this, name = manager.name](env::Store&) -> base::Result<process::rm::ResourceManagerOptions> {
    return RmOptions(name);
  };
  options.on_active = [this](process::rm::ResourceManager&) { ++world_.counts()["leader elected"]; };
  manager.net = AuditAnswers(machine.net(), ledger_, spec_.bug == PlantedBug::kAnsweredTwice);
  manager.member = std::make_unique<process::rm::Leadership>(machine.loop(), *manager.net, log_,
                                                             quorum_->Join(machine, manager.name), std::move(options));
  const base::Status started = manager.member->Start();
  if (!started.ok()) ledger_.Violation(manager.name + " does not start: " + started.error().message);
}

void Cluster::StartAgent(Node& node) {
  process::nm::Settings settings;
  settings.host = node.name;
  settings.listen = {node.name, 0};
  settings.trackers = RmEndpoints(kTrackerPort);
  settings.user = "yarn";
  settings.call_timeout = Duration::Seconds(5);
  settings.core.capacity = spec_.node_capacity;
  settings.physical = spec_.node_capacity;
  settings.core.check_physical = false;
  settings.core.check_virtual = false;
  settings.core.room_is_all_types = true;
  node.containers = node.host->NewPort(node.machine->loop());
  node.dirs = std::make_unique<SimDirs>(node.machine->loop(), node.machine->disk());
  node.localizer = std::make_unique<SimLocalizer>(world_, node.machine->loop());
  node.agent = std::make_unique<process::nm::NodeManager>(process::nm::Environment{node.machine->loop(),
                                                                                   node.machine->net(),
                                                                                   node.machine->disk(),
                                                                                   node.machine->store(),
                                                                                   log_,
                                                                                   *node.containers,
                                                                                   *node.localizer,
                                                                                   *node.dirs,
                                                                                   {}},
                                                          settings);
  const base::Status started = node.agent->Start([this, name = node.name](int code, const std::string& reason) {
    ledger_.Violation(name + "'s agent ends with " + std::to_string(code) + ": " + reason);
  });
  if (ledger_.RefusedDamage(*node.machine, started.ok())) {
    node.agent.reset();
    return StartAgent(node);
  }
  if (!started.ok()) ledger_.Violation(node.name + "'s agent does not start: " + started.error().message);
}

void Cluster::Submit(int job) {
  clients_.push_back(std::make_unique<JobClient>(*client_machine_, RmEndpoints(kClientPort), jobs_.at(job), ledger_));
}

void Cluster::CrashRm(int number, bool silently) {
  if (!rm_up(number)) return;
  Manager& manager = rms_[static_cast<size_t>(number)];
  manager.machine->Stall(false);
  manager.member.reset();
  manager.machine->Crash(silently);
  manager.alone.reset();
}

void Cluster::RestartRm(int number) {
  if (rm_up(number)) return;
  Manager& manager = rms_[static_cast<size_t>(number)];
  manager.machine->Restart();
  StartRm(manager);
}

void Cluster::CrashAgent(int number, bool silently) {
  Node& node = *nodes_[static_cast<size_t>(number)];
  if (!node.agent) return;
  node.machine->Crash(silently);
  node.agent.reset();
  node.containers.reset();
  node.localizer.reset();
}

void Cluster::RestartAgent(int number) {
  Node& node = *nodes_[static_cast<size_t>(number)];
  if (node.agent) return;
  node.machine->Restart();
  node.apps->Restart();
  StartAgent(node);
  node.host_up = true;
  node.shuffle->Restart();
}

void Cluster::RestartShuffle(int number) {
  Node& node = *nodes_[static_cast<size_t>(number)];
  if (node.host_up) node.shuffle->Restart();
}

void Cluster::FillMerges(int number, bool full) {
  Node& node = *nodes_[static_cast<size_t>(number)];
  ledger_.merges().DiskTrouble(node.shuffle->endpoint().host, full ? base::Instant::Max() : world_.now());
  for (const std::string& directory : ledger_.merges().directories()) {
    SimDiskOf(*node.machine).FailWritesBelow(directory, full ? ENOSPC : 0);
  }
}

void Cluster::LoseFiles(int number) {
  ledger_.merges().DiskTrouble(nodes_[static_cast<size_t>(number)]->shuffle->endpoint().host, world_.now());
  const base::Status removed = nodes_[static_cast<size_t>(number)]->machine->disk().RemoveTree("/local/usercache");
  if (!removed.ok()) ledger_.Violation("files cannot be lost: " + removed.error().message);
}

void Cluster::KillHost(int number) {
  Node& node = *nodes_[static_cast<size_t>(number)];
  CrashAgent(number, true);
  ledger_.merges().DiskTrouble(node.shuffle->endpoint().host, world_.now());
  node.apps->Crash(true);
  node.host->Die();
  node.shuffle->Crash(true);
  node.host_up = false;
}

bool Cluster::AllJobsEnded() const {
  for (const auto& client : clients_) {
    if (!client->ended()) return false;
  }
  return true;
}

void Cluster::CheckInvariants() {
  CheckLeaders();
  if (const process::rm::ResourceManager* rm = Rm()) {
    const std::string wrong = rm->machine().CheckInvariants();
    if (!wrong.empty()) ledger_.Violation("resource manager: " + wrong);
  }
  for (const auto& node : nodes_) {
    node->shuffle->CheckInvariants();
    node->host->CheckInvariants();
    if (!node->agent) continue;
    const std::string wrong = node->agent->core().CheckInvariants();
    if (!wrong.empty()) ledger_.Violation(node->name + ": " + wrong);
  }
}

void Cluster::CheckLeaders() {
  if (!quorum_) return;
  int acting = 0;
  for (const Manager& manager : rms_) {
    if (!manager.member || !manager.member->acting()) continue;
    ++acting;
    ledger_.Leads(manager.name, world_.now());
  }
  if (acting > 1) ledger_.Violation("two resource managers act");
  if (quorum_->foul_writes() > 0) ledger_.Violation("a deposed leader has written");
}

bool Cluster::Quiet() const {
  const process::rm::ResourceManager* rm = Rm();
  if (!rm || ledger_.running() > 0) return false;
  for (const scheduler::NodeView& node : rm->scheduler().GetView().nodes) {
    if (node.containers > 0 || !node.used.IsZero()) return false;
  }
  return true;
}

void Cluster::CheckQuiet() {
  if (ledger_.running() > 0) {
    ledger_.Violation(std::to_string(ledger_.running()) + " processes run although every job has ended");
  }
  const process::rm::ResourceManager* rm = Rm();
  if (!rm) return;
  for (const scheduler::NodeView& node : rm->scheduler().GetView().nodes) {
    if (node.containers > 0 || !node.used.IsZero()) {
      ledger_.Violation("the scheduler still books " + ToString(node.used) + " in " + std::to_string(node.containers) +
                        " containers although every job has ended" + DescribeBooked());
    }
  }
}

std::string Cluster::DescribeBooked() const {
  const process::rm::ResourceManager* rm = Rm();
  std::string text;
  rm->core().ForEachApp([&](const fairlead::rm::App& app) {
    for (const fairlead::rm::Container* container : InOrder(app.containers)) {
      text += "; " + ToString(container->id) + " " + std::string(EnumName(container->state)) + " on " +
              ToString(rm->core().NodeAt(container->node)->address) + ", " + std::string(EnumName(app.state)) +
              " application";
    }
  });
  return text;
}

std::string Cluster::Describe() const {
  const process::rm::ResourceManager* rm = Rm();
  if (!rm) return "no resource manager acts";
  std::string text;
  rm->core().ForEachApp([&](const fairlead::rm::App& app) {
    if (app.state >= model::rm::AppState::kFinished) return;
    text += "; " + ToString(app.submission.id) + " " + std::string(EnumName(app.state));
    if (const auto* attempt = app.current()) {
      text += ", attempt " + std::to_string(attempt->id.attempt) + " " + std::string(EnumName(attempt->state)) +
              (attempt->known ? "" : " (not registered)");
    }
    text += ", " + std::to_string(app.containers.size()) + " containers, " +
            std::to_string(ledger_.tasks_done(app.submission.id)) + " tasks done";
    for (const auto& pending : rm->scheduler().Why(app.index, world_.now())) {
      text += ", waits for " + std::to_string(pending.ask.count) + " x " + ToString(pending.ask.capability) + ": " +
              std::string(EnumName(pending.reason)) + " " + pending.detail;
    }
  });
  rm->core().ForEachNode([&](const fairlead::rm::Node& node) {
    text += "; " + ToString(node.address) + " " + std::string(EnumName(node.state));
  });
  return text;
}

uint64_t Cluster::StateHash() const {
  base::StateHasher hasher;
  hasher.Mix(static_cast<uint64_t>(world_.now().ns));
  if (const process::rm::ResourceManager* rm = Rm()) hasher.Mix(rm->machine().StateHash());
  for (const auto& node : nodes_) {
    if (node->agent) hasher.Mix(node->agent->core().StateHash());
    hasher.Mix(node->shuffle->StateHash());
  }
  return hasher.value();
}

}  // namespace fairlead::sim
