#include "process/nm/node_manager.h"

#include <algorithm>

#include "base/stored.h"
#include "endpoints/yarn/rm_convert.h"
#include "nm/rows.h"
#include "process/nm/layout.h"

namespace fairlead::process::nm {

namespace ep = endpoints::yarn;
namespace w = wire::yarn;
using model::ToString;
using model::nm::Effect;
using model::nm::Event;

namespace {
// Of one row each.
constexpr char kPort[] = "nm_port";
constexpr char kLogs[] = "nm_logs";  // when an application's logs are removed

template <class T>
base::Status LoadTable(env::Store& store, const std::string& table, std::vector<T>& out,
                       std::vector<env::UnreadRow>& unread) {
  auto records = env::LoadRecords<T>(store, table, &unread);
  if (!records) return records.error();
  for (auto& [key, record] : *records) out.push_back(std::move(record));
  return {};
}

fairlead::nm::Config CoreConfig(const Environment& environment, const Settings& settings) {
  fairlead::nm::Config config = settings.core;
  for (const AuxService* service : environment.services) config.services.insert(service->name());
  return config;
}
}  // namespace

NodeManager::NodeManager(Environment environment, Settings settings)
    : env_(std::move(environment)),
      settings_(std::move(settings)),
      core_(CoreConfig(env_, settings_)),
      state_(env_.loop, env_.store, env_.log,
             [this](const std::string& why) { End(1, "its state store is lost: " + why); }),
      keys_(env_.loop, env_.log, state_),
      app_tokens_(state_, env_.log),
      service_({env_.loop, env_.net, core_, keys_, app_tokens_, env_.services, env_.audit,
                [this](Event event) { Feed(std::move(event)); }}),
      tracker_(env_.loop, env_.net, env_.log, settings_,
               [this](const std::string& why) { Feed(model::nm::RmCallFailed{why}); }) {
  if (env_.aggregator) {
    logs_.emplace(LogGathering::Ports{env_.loop, env_.log, env_.dirs, *env_.aggregator, state_, core_, app_tokens_},
                  settings_.logs);
  }
  identity_.host = settings_.host;
  identity_.http_port = settings_.http_port;
  identity_.version = settings_.hadoop_version;
  identity_.label = settings_.node_label;
  identity_.physical = settings_.physical;
}

NodeManager::~NodeManager() = default;

// ---- Start --------------------------------------------------------------------------------------------------------

base::Status NodeManager::Start(std::function<void(int, const std::string&)> on_exit) {
  on_exit_ = std::move(on_exit);
  started_ = env_.loop.Wall();
  base::Result<model::nm::Started> state = LoadState();
  if (!state) return state.error();
  if (base::Status listening = Listen(); !listening) return listening;
  env_.containers.Start(this);
  env_.log.Info("node agent starts", {{"node", identity_.host + ":" + std::to_string(identity_.port)},
                                      {"containers", std::to_string(state->containers.size())},
                                      {"resources", std::to_string(state->resources.size())}});
  Feed(std::move(*state));
  return {};
}

base::Result<model::nm::Started> NodeManager::LoadState() {
  model::nm::Started started;
  std::vector<model::nm::ResourceRecord> resources;
  std::vector<int64_t> port;
  std::vector<ep::NodeTokens::State> tokens;
  const auto load = [this](const std::string& table, auto& out) { return LoadTable(env_.store, table, out, unread_); };
  for (const base::Status& loaded :
       {load(fairlead::nm::kAppsTable, started.apps), load(fairlead::nm::kContainersTable, started.containers),
        load(fairlead::nm::kSpentTokensTable, started.spent_tokens), load(fairlead::nm::kResourcesTable, resources),
        load(kPort, port), load(NodeKeys::kTable, tokens)}) {
    if (!loaded) return loaded.error();
  }
  for (model::nm::ResourceRecord& record : resources) {
    started.next_resource = std::max(started.next_resource, record.number + 1);
    if (env_.disk.Stat(record.path)) started.resources.push_back(std::move(record));
  }
  if (!port.empty() && settings_.listen.port == 0 && port.front() > 0 && port.front() < 65536) {
    settings_.listen.port = static_cast<uint16_t>(port.front());
    port_remembered_ = true;
  }
  if (!tokens.empty()) keys_.Load(std::move(tokens.front()));
  if (base::Status loaded = app_tokens_.Load(env_.store, unread_); !loaded) return loaded.error();
  auto logs = env::LoadRecords<base::WallTime>(env_.store, kLogs, &unread_);
  if (!logs) return logs.error();
  if (logs_) {
    if (base::Status loaded = logs_->Start(env_.store, started, unread_); !loaded) return loaded.error();
  }
  for (const env::UnreadRow& row : unread_) {
    env_.log.Error("a row of the state store cannot be read, and the agent goes on without it; the row stays there",
                   {{"row", row.key}, {"table", row.table}, {"store", env_.store.Name()}, {"why", row.reason}});
  }
  for (const auto& [name, when] : *logs) {
    const auto app = model::ParseApplicationId(name);
    // An application that is still there ended together with the last run: its logs are handled again first.
    const auto is_it = [&](const model::nm::AppRecord& record) { return app.ok() && record.id == *app; };
    if (app && std::none_of(started.apps.begin(), started.apps.end(), is_it)) ScheduleLogRemoval(*app, when);
  }
  return started;
}

base::Status NodeManager::Listen() {
  base::Result<env::Endpoint> bound = service_.Listen(settings_.listen, settings_.security, settings_.admits);
  if (!bound && port_remembered_) {
    env_.log.Warn("the port of the last run is taken, another one is used",
                  {{"port", std::to_string(settings_.listen.port)}, {"why", bound.error().message}});
    settings_.listen.port = 0;
    bound = service_.Listen(settings_.listen, settings_.security, settings_.admits);
  }
  if (!bound) return bound.error();
  identity_.port = bound->port;
  keys_.SetNode(identity_.host, identity_.port, settings_.hmac);
  service_.SetHost(identity_.host);
  if (logs_) logs_->SetNode(identity_.host + ":" + std::to_string(identity_.port));
  state_.Keep({{kPort, "", base::EncodeStored(int64_t{bound->port})}});
  return {};
}

void NodeManager::Shutdown(bool keep_containers) { Feed(model::nm::Shutdown{keep_containers}); }

void NodeManager::SetHealth(bool healthy, const std::string& report) {
  Feed(model::nm::Health{healthy, report, env_.loop.Wall()});
}

// ---- The core -----------------------------------------------------------------------------------------------------

void NodeManager::Feed(Event event) {
  events_.push_back(std::move(event));
  if (!pumping_) Pump();
}

void NodeManager::Pump() {
  pumping_ = true;
  const env::Alive::Watch alive = alive_.watch();
  while (!events_.empty()) {
    const std::vector<Event> batch(std::make_move_iterator(events_.begin()), std::make_move_iterator(events_.end()));
    events_.clear();
    std::vector<Effect> effects;
    core_.Step(env_.loop.Now(), env_.loop.Wall(), batch, effects);
    Execute(std::move(effects));
    if (!alive) return;
  }
  pumping_ = false;
  SetTimer();
}

void NodeManager::SetTimer() {
  const base::Instant next = core_.NextDeadline();
  if (next != timer_.due()) timer_.At(next, [this] { Feed(model::nm::Tick{}); });
}

void NodeManager::Execute(std::vector<Effect> effects) {
  // Files, and what the supervisors know, go only after the rows that say so are stored: a restart in between must not
  // find the one without the other.
  const auto waits_for_rows = [](const Effect& effect) {
    return std::holds_alternative<model::nm::CleanContainer>(effect) ||
           std::holds_alternative<model::nm::RemoveResource>(effect);
  };
  size_t last_rows = effects.size();
  for (size_t i = 0; i < effects.size(); ++i) {
    const auto* persist = std::get_if<model::nm::Persist>(&effects[i]);
    if (persist && persist->txn == 0) last_rows = i;
  }
  std::vector<Effect> after;
  if (last_rows != effects.size()) {
    for (Effect& effect : effects) {
      if (waits_for_rows(effect)) after.push_back(std::move(effect));
    }
  }
  for (size_t i = 0; i < effects.size(); ++i) {
    if (last_rows != effects.size() && waits_for_rows(effects[i])) continue;
    std::visit(
        [&]<class E>(E& effect) {
          if constexpr (std::is_same_v<E, model::nm::Persist>) {
            Do(effect, i == last_rows ? std::exchange(after, {}) : std::vector<Effect>{});
          } else {
            Do(effect);
          }
        },
        effects[i]);
  }
}

void NodeManager::Do(model::nm::Persist& effect, std::vector<Effect> after) {
  std::vector<env::Row> rows;
  for (model::nm::StoreRow& row : effect.rows) {
    env::Row& out = rows.emplace_back();
    out.table = std::move(row.table);
    out.key = std::move(row.key);
    if (!row.remove) out.value = std::move(row.value);
  }
  if (effect.txn != 0) {
    return state_.Try(std::move(rows), [this, txn = effect.txn](const env::CommitStatus& status) {
      Feed(model::nm::Persisted{txn, status.ok(), status ? "" : status.error().message});
    });
  }
  if (after.empty()) return state_.Keep(std::move(rows));
  auto waiting = std::make_shared<std::vector<Effect>>(std::move(after));
  state_.Keep(std::move(rows), [this, waiting] { Execute(std::move(*waiting)); });
}

void NodeManager::Do(model::nm::StateChanged& effect) {
  env::Log::Fields fields{{"id", effect.subject}, {"from", effect.from}, {"to", effect.to}};
  if (!effect.detail.empty()) fields.emplace_back("why", effect.detail);
  env_.log.Info("state changed", fields);
}

void NodeManager::Do(model::nm::Exit& effect) { End(effect.code, effect.reason); }

void NodeManager::End(int code, const std::string& reason) {
  env_.log.Info("node agent ends", {{"why", reason}});
  // Later: the answers and rows of this step leave first.
  env_.loop.Post(alive_([this, code, reason] {
    if (on_exit_) std::exchange(on_exit_, nullptr)(code, reason);
  }));
}

// ---- Applications, containers, files ------------------------------------------------------------------------------

void NodeManager::Do(model::nm::InitService& effect) {
  for (AuxService* service : env_.services) {
    if (service->name() == effect.service.service)
      service->InitializeApplication(effect.user, effect.app, effect.service.data);
  }
}

void NodeManager::Do(model::nm::ServiceContainer& effect) {
  for (AuxService* service : env_.services) {
    if (effect.ended) {
      service->StopContainer(effect.container);
    } else {
      service->InitializeContainer(effect.container, effect.user);
    }
  }
}

void NodeManager::Do(model::nm::Fetch& effect) {
  const std::string local = env_.dirs.PickLocal();
  if (local.empty()) {
    const std::string why = "no local directory of this node is usable";
    Feed(model::nm::ResourceFetched{effect.number, {}, 0, why, why});
    return;
  }
  FetchPlan plan;
  plan.number = effect.number;
  plan.local_dir = local;
  plan.directory = ResourceDir(local, effect.resource.visibility, effect.user, effect.app, effect.number);
  plan.resource = std::move(effect.resource);
  plan.user = effect.user;
  plan.tokens = app_tokens_.Of(effect.app);
  StartFetch(plan);
}

void NodeManager::StartFetch(const FetchPlan& plan) {
  fetches_[plan.number] = plan;
  env_.localizer.Fetch(
      plan, alive_([this, plan](const Fetched& fetched) {
        fetches_.erase(plan.number);
        // A container that came while it was given up waits for it again.
        if (fetched.given_up && core_.resources().IsAwaited(plan.number)) return StartFetch(plan);
        if (!fetched.error.empty())
          env_.log.Warn("resource cannot be localized",
                        {{"resource", std::to_string(plan.number)}, {"why", fetched.error}});
        Feed(model::nm::ResourceFetched{plan.number, fetched.path, fetched.bytes, fetched.error, fetched.thrown});
      }));
}

void NodeManager::GiveUpFetches() {
  for (const auto& [number, plan] : fetches_) {
    if (!core_.resources().IsAwaited(number)) env_.localizer.GiveUp(number);
  }
}

void NodeManager::Do(model::nm::RemoveResource& effect) {
  const size_t slash = effect.path.rfind('/');
  if (slash == std::string::npos || slash == 0) return;
  RemoveTrees({effect.path.substr(0, slash)});
}

void NodeManager::Do(model::nm::Launch& effect) {
  base::Result<LaunchPlan> plan = PlanLaunch(effect);
  if (!plan) {
    Feed(model::nm::LaunchFailed{effect.spec.id, -1, plan.error().message});
    return;
  }
  env_.containers.Launch(std::move(*plan));
}

void NodeManager::Do(model::nm::AddLinks& effect) {
  const std::string work_dir = ExistingWorkDir(effect.user, effect.container);
  if (!work_dir.empty()) env_.containers.Link(effect.container, effect.user, work_dir, std::move(effect.links));
}

/// "" for a container that was not launched.
std::string NodeManager::ExistingWorkDir(const std::string& user, const model::ContainerId& id) const {
  for (const std::string& local : env_.dirs.all_local()) {
    std::string work_dir = WorkDir(local, user, id);
    if (env_.disk.Stat(work_dir)) return work_dir;
  }
  return "";
}

void NodeManager::Do(model::nm::Attach& effect) { env_.containers.Attach(effect.spec); }

void NodeManager::Do(model::nm::Signal& effect) { env_.containers.Signal(effect.container, effect.kind); }

void NodeManager::Do(model::nm::Resize& effect) { env_.containers.Resize(effect.container, effect.resources); }

void NodeManager::Do(model::nm::CleanContainer& effect) {
  GiveUpFetches();
  env_.containers.Forget(effect.container);
  if (!IsPlainName(effect.user)) return;
  std::vector<std::string> trees;
  for (const std::string& local : env_.dirs.all_local()) trees.push_back(WorkDir(local, effect.user, effect.container));
  RemoveTrees(std::move(trees));
}

void NodeManager::Do(model::nm::CleanApp& effect) {
  for (AuxService* service : env_.services) service->StopApplication(effect.app);
  keys_.AppFinished(effect.app);
  const auto done = [this, app = effect.app] { Feed(model::nm::AppCleaned{app}); };
  std::vector<std::string> trees;
  for (const std::string& local : env_.dirs.all_local()) {
    trees.push_back(AppDir(local, effect.user, effect.app));
    trees.push_back(PrivateAppDir(local, effect.app));
  }
  RemoveTrees(std::move(trees), done);
}

void NodeManager::Do(model::nm::ContainerEnded& effect) {
  if (logs_) logs_->Ended(effect);
}

void NodeManager::Do(model::nm::HandleLogs& effect) {
  if (!logs_) {
    app_tokens_.Forget(effect.app);
    KeepLogs(effect.app);
    return Feed(model::nm::LogsHandled{effect.app});
  }
  logs_->Finish(effect, [this, app = effect.app](const std::string& error) { LogsAreHandled(app, error); });
}

void NodeManager::LogsAreHandled(const model::ApplicationId& app, const std::string& error) {
  app_tokens_.Forget(app);
  if (error.empty()) return LogsHaveLeft(app);
  env_.log.Warn("logs are not aggregated and stay on the node", {{"app", ToString(app)}, {"why", error}});
  KeepLogs(app);
  Feed(model::nm::LogsHandled{app});
}

// They go only after the application's row has: with it, whoever comes after a crash gathers them once more, and must
// find them whole. The row of their removal is stored before that.
void NodeManager::LogsHaveLeft(const model::ApplicationId& app) {
  const base::WallTime now = env_.loop.Wall();
  state_.Keep({{kLogs, ToString(app), base::EncodeStored(now)}});
  Feed(model::nm::LogsHandled{app});
  state_.Keep({}, [this, app, now] { ScheduleLogRemoval(app, now); });
}

void NodeManager::KeepLogs(const model::ApplicationId& app) {
  const base::WallTime when{env_.loop.Wall().ms + settings_.log_retain.millis()};
  state_.Keep({{kLogs, ToString(app), base::EncodeStored(when)}});
  ScheduleLogRemoval(app, when);
}

void NodeManager::ScheduleLogRemoval(const model::ApplicationId& app, base::WallTime when) {
  const int64_t wait = std::max<int64_t>(0, when.ms - env_.loop.Wall().ms);
  env_.loop.After(base::Duration::Millis(wait), alive_([this, app] {
                    std::vector<std::string> trees;
                    for (const std::string& logs : env_.dirs.all_logs()) trees.push_back(AppLogDir(logs, app));
                    RemoveTrees(std::move(trees), [this, app] { state_.Keep({{kLogs, ToString(app), std::nullopt}}); });
                  }));
}

void NodeManager::RemoveTrees(std::vector<std::string> paths, std::function<void()> done) {
  if (settings_.delete_delay.ns < 0) {  // nothing is ever removed (DeletionService)
    if (done) env_.loop.Post(alive_([done] { done(); }));
    return;
  }
  const bool later = settings_.delete_delay.ns > 0;
  auto start = alive_([this, paths = std::move(paths), done = later ? nullptr : done] {
    env_.dirs.Remove(paths, alive_([this, done](const std::vector<std::string>& errors) {
                       for (const std::string& error : errors)
                         env_.log.Warn("files cannot be removed", {{"why", error}});
                       if (done) done();
                     }));
  });
  if (!later) return start();
  env_.loop.After(settings_.delete_delay, start);
  if (!done) return;
  env_.loop.Post(alive_([done] { done(); }));
}

// ---- The resource manager -----------------------------------------------------------------------------------------

void NodeManager::Do(model::nm::Register& effect) {
  w::RegisterNodeManagerRequestProto request = ep::RegisterRequest(identity_, effect);
  if (logs_) request.log_aggregation_reports_for_apps = logs_->Remembered();
  tracker_.Call<w::RegisterNodeManagerResponseProto>(
      "registerNodeManager", request, [this](const w::RegisterNodeManagerResponseProto& response) {
        keys_.Take(response.container_token_master_key, response.nm_token_master_key);
        keys_.NoteLaidOpen(response.laid_open);
        env_.log.Info("registered", {{"rm", tracker_.manager().ToString()},
                                     {"rm_identifier", std::to_string(response.RmIdentifier())},
                                     {"rm_version", std::string(response.RmVersion())}});
        Feed(ep::RegisteredOf(response));
      });
}

void NodeManager::Do(model::nm::Heartbeat& effect) {
  w::NodeHeartbeatRequestProto request = ep::HeartbeatRequest(identity_, effect);
  // A Java resource manager reads both while it rolls keys, and does not check that they are there.
  const ep::NodeTokens::State& keys = tokens().state();
  if (keys.container_current) request.last_known_container_token_master_key = ep::ToWire(*keys.container_current);
  if (keys.nm_current) request.last_known_nm_token_master_key = ep::ToWire(*keys.nm_current);
  if (app_tokens_.sequence() != 0) request.token_sequence_no = app_tokens_.sequence();
  if (logs_) {
    request.log_aggregation_reports_for_apps = logs_->reports();
    for (const model::ApplicationId& app : logs_->KeepAlive())
      request.node_status->keep_alive_applications.push_back(ep::ToWire(app));
  }
  tracker_.Call<w::NodeHeartbeatResponseProto>(
      "nodeHeartbeat", request,
      [this, told = request.log_aggregation_reports_for_apps.size()](const w::NodeHeartbeatResponseProto& response) {
        if (logs_) logs_->Told(told);
        keys_.Take(response.container_token_master_key, response.nm_token_master_key);
        app_tokens_.Told(response);
        Feed(ep::HeartbeatAnsweredOf(response));
      });
}

void NodeManager::Do(model::nm::Unregister&) {
  w::UnRegisterNodeManagerRequestProto request;
  request.node_id = ep::ToWire(model::rm::NodeAddress{identity_.host, identity_.port});
  tracker_.Tell<w::UnRegisterNodeManagerResponseProto>("unRegisterNodeManager", request);
}

}  // namespace fairlead::process::nm
