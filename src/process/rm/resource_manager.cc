#include "process/rm/resource_manager.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text.h"
#include "endpoints/yarn/refusals.h"
#include "endpoints/yarn/text_bounds.h"
#include "process/ask/track_record.h"
#include "process/rm/access.h"
#include "process/rm/draining.h"
#include "process/rm/learning.h"
#include "process/rm/operation_audit.h"
#include "process/rm/reports.h"
#include "process/rm/submissions.h"
#include "process/rm/token_services.h"
#include "process/rm/web_token_service.h"
#include "rm/life_cycles.h"

namespace fairlead::process::rm {

namespace m = model::rm;

namespace {
constexpr size_t kUnreadTold = 20;  // with a line each
constexpr int kSamplesBetweenKeeping = 6;
constexpr size_t kTouchedMost = 100'000;
}  // namespace

ResourceManager::ResourceManager(env::Loop& loop, env::Net& net, env::Store* store, ResourceManagerOptions options)
    : loop_(loop),
      net_(net),
      store_(store),
      options_(std::move(options)),
      started_(loop.Wall()),
      estimates_(std::make_unique<ask::TrackRecord>()),
      summary_([this](const fairlead::rm::App& app) { return log_aggregation_->Of(app); }) {}

ResourceManager::~ResourceManager() {
  if (chart_timer_.waits()) options_.charts.keep(charts_.Encode());
  if (ports_) ports_->Detach();
}

base::Result<std::unique_ptr<ResourceManager>> ResourceManager::Start(env::Loop& loop, env::Net& net, env::Store* store,
                                                                      ResourceManagerOptions options) {
  std::unique_ptr<ResourceManager> manager(new ResourceManager(loop, net, store, std::move(options)));
  if (base::Status opened = manager->Open(); !opened.ok()) return opened.error();
  auto ports = Ports::Listen(loop, net, manager->options_.ports, {}, manager->options_.security);
  if (!ports.ok()) return ports.error();
  manager->own_ports_ = std::move(*ports);
  manager->Serve(*manager->own_ports_);
  return manager;
}

base::Result<std::unique_ptr<ResourceManager>> ResourceManager::Lead(env::Loop& loop, env::Net& net, env::Store& store,
                                                                     ResourceManagerOptions options, Ports& ports) {
  std::unique_ptr<ResourceManager> manager(new ResourceManager(loop, net, &store, std::move(options)));
  if (base::Status opened = manager->Open(); !opened.ok()) return opened.error();
  manager->Serve(ports);
  return manager;
}

void ResourceManager::Serve(Ports& ports) {
  ports_ = &ports;
  server_ = &ports.server();
  ports.Attach(*this);
}

base::Result<StoredState> ResourceManager::ReadStore() {
  if (!store_) return StoredState{};
  return options_.recovery ? ReadState(*store_) : ForgetState(*store_);
}

void ResourceManager::TellOfStore(size_t forgotten_apps) const {
  if (forgotten_apps > 0) {
    Warn(std::to_string(forgotten_apps) + " applications of an earlier run are forgotten, and removed from " +
         store_->Name() + ": yarn.resourcemanager.recovery.enabled is false");
  }
  size_t told = 0;
  for (const env::UnreadRow& row : unread_) {
    if (++told > kUnreadTold) break;
    Warn("row " + row.key + " of table " + row.table + " in " + store_->Name() + " cannot be read (" + row.reason +
         ") and is left out: what it stands for is not known to this run, and its containers end. The row stays where "
         "it is; a release that can read it takes it up again");
  }
  if (unread_.size() > kUnreadTold) {
    Warn("and " + std::to_string(unread_.size() - kUnreadTold) + " more rows of " + store_->Name() +
         " that cannot be read");
  }
  if (foreign_.count > 0) {
    Warn("no resource manager has written " + base::Counted(static_cast<int64_t>(foreign_.count), "row") + " of " +
         store_->Name() + ", " + foreign_.first +
         " for one: left out of this run. Find out who writes there, and remove them");
  }
}

std::string ResourceManager::first_left_out() const {
  if (unread_.empty()) return foreign_.first;
  return base::VisibleText((unread_.front().table + " " + unread_.front().key).substr(0, env::kRowNameShown));
}

base::Status ResourceManager::Open() {
  base::Result<StoredState> state = ReadStore();
  if (!state.ok()) return state.error();
  m::Started& started = state->started;
  started.cluster_timestamp = started_.ms;
  base::Result<std::unique_ptr<scheduler::Scheduler>> scheduler = options_.make_scheduler(started.epoch);
  if (!scheduler.ok()) return scheduler.error();
  machine_ = std::make_unique<ResourceMachine>(options_.core, std::move(*scheduler));
  machine_->SetWatch([this](base::WallTime wall, std::span<const model::scheduler::Effect> effects) {
    lately_.Record(wall, core(), effects);
    learning_->Take(loop_.Now(), wall, core(), effects);
    estimates_->Take(loop_.Now(), effects);
  });
  access_ = std::make_unique<Access>(loop_, *machine_, options_.admin_acl, options_.login_user, options_.groups_of,
                                     options_.security.filters_lists);
  log_aggregation_ = std::make_unique<LogAggregation>(*machine_, options_.log_aggregation);
  batches_ = std::make_unique<Batches>(
      loop_, store_, options_.recovery, *machine_,
      Batches::Outside{options_.may_act, options_.on_batch, [this](const m::OuterEffect& effect) { CarryOut(effect); },
                       [this](const std::string& text) { Warn(text); }, options_.on_store_lost});
  learning_ = std::make_unique<Learning>(loop_, batches_->Storing());
  MakeDraining();
  if (store_ && options_.recovery) {
    if (base::Status loaded = draining_->Load(*store_, *state); !loaded.ok()) return loaded.error();
  }
  learning_->Recall(started.runs, loop_.Now());
  unread_ = std::move(state->unread);
  if (store_) foreign_ = store_->Foreign();
  keys_ = std::make_unique<KeyRing>(loop_, machine_->core(), options_.keys);
  KeyRing::Attempts running;
  for (const m::AttemptRecord& attempt : started.attempts) {
    if (attempt.final_state == m::AttemptState::kNew) running.insert(attempt.id);
  }
  std::vector<env::Row> first =
      keys_->Start(state->keys, std::move(running), store_ && store_->WasOpen(), batches_->Storing());
  first.push_back({kEpochTable, "", base::EncodeStored(started.epoch)});
  if (base::Status opened = OpenDelegation(first); !opened.ok()) return opened;
  if (base::Status opened = OpenCredentials(); !opened.ok()) return opened;
  TellOfStore(state->forgotten_apps);
  std::move(state->forgotten.begin(), state->forgotten.end(), std::back_inserter(first));
  if (options_.scheduler_conf) {
    MakeSchedulerConf();
    for (env::Row& row : scheduler_conf_->AtStart()) first.push_back(std::move(row));
  }
  launcher_ = std::make_unique<MasterLauncher>(loop_, net_, machine_->core(), *keys_, options_.launcher,
                                               options_.security.ForCalls(),
                                               [this](m::MasterLaunched event) { batches_->Post(std::move(event)); });
  Recover(std::move(started));
  OpenSubmissions();
  // Container ids carry the epoch, tokens the keys: nothing is decided with them before a restart would find them.
  batches_->HoldUntilStored(std::move(first));
  draining_->maintenance().Start();
  if (options_.charts.keep) {
    if (!options_.charts.last.empty()) {
      if (const base::Status read = charts_.Decode(options_.charts.last); !read.ok()) {
        Warn("The charts begin anew, what was kept of them cannot be read: " + read.error().message);
      }
    }
    SampleCharts();
  }
  return {};
}

base::Status ResourceManager::OpenDelegation(std::vector<env::Row>& first) {
  if (!secured()) return {};
  DelegationTokens::Stored stored;
  if (store_ && options_.recovery) {
    base::Result<DelegationTokens::Stored> loaded = DelegationTokens::Load(*store_, unread_);
    if (!loaded.ok()) return loaded.error();
    stored = std::move(*loaded);
  } else if (store_) {
    base::Result<std::vector<env::Row>> forgotten = DelegationTokens::Forget(*store_);
    if (!forgotten.ok()) return forgotten.error();
    std::move(forgotten->begin(), forgotten->end(), std::back_inserter(first));
  }
  delegation_ = std::make_unique<DelegationTokens>(loop_, options_.delegation, options_.keys.hmac,
                                                   options_.security.login.short_name);
  std::vector<env::Row> rows = delegation_->Start(std::move(stored), store_ && store_->WasOpen(), batches_->Storing());
  std::move(rows.begin(), rows.end(), std::back_inserter(first));
  return {};
}

base::Status ResourceManager::OpenCredentials() {
  if (!options_.security.web.callers || secured()) return {};
  CredentialStore::All stored;
  if (store_) {
    base::Result<CredentialStore::All> loaded = CredentialStore::Load(*store_, unread_);
    if (!loaded.ok()) return loaded.error();
    stored = std::move(*loaded);
  }
  const bool laid_open = store_ && store_->WasOpen();
  credentials_ = std::make_unique<CredentialStore>(loop_, std::move(stored), batches_->Storing());
  if (laid_open && !credentials_->all().empty()) {
    credentials_->RevokeAll();
    Warn("Others could read the credentials of this cluster, so all are revoked: make new ones.");
  }
  return {};
}

/// With the host where it is written as _HOST.
static std::string OwnPrincipal(const PortSecurity& security) {
  std::string principal = security.manager_principal;
  const size_t host = principal.find("/_HOST@");
  if (host != std::string::npos) principal.replace(host + 1, 5, security.login.server_id);
  return principal;
}

void ResourceManager::OpenSubmissions() {
  if (!delegation_) return;
  TokenRenewer::Services services;
  services.emplace("RM_DELEGATION_TOKEN", MakeOwnTokenService(loop_, *delegation_));
  const IssueRules& rules = options_.renewal.issue;
  for (const TokenIssuer& issuer : options_.token_issuers) {
    Manager manager{options_.login_user, OwnPrincipal(options_.security), rules.timeout};
    manager.issues = issuer.kind == rules.kind;
    if (manager.issues) manager.default_service = rules.default_service;
    services.emplace(issuer.kind, MakeRpcTokenService(loop_, net_, issuer, options_.security.ForCalls(), manager));
    if (issuer.web_principal.empty()) continue;
    services.emplace(issuer.web_kind,
                     MakeWebTokenService(loop_, net_, *options_.security.gss, issuer.web_principal, rules.timeout));
  }
  submissions_ = std::make_unique<Submissions>(loop_, core(), *batches_, std::move(services), options_.renewal,
                                               [this](const std::string& text) { Warn(text); });
}

void ResourceManager::SubmitApplication(m::Submission submission, Submitted done) {
  if (submissions_) return submissions_->Take(std::move(submission), std::move(done));
  m::Submit event;
  event.submission = std::move(submission);
  AskToSubmit(*batches_, std::move(event), std::move(done));
}

void ResourceManager::MakeDraining() {
  const auto tell = [this](const std::string& host, const Maintenance::Window& window, bool begins) {
    const std::string what = begins ? " begins, as ordered" : " is over, as ordered";
    NoteAction(window.user, window.peer, "the maintenance of host " + host + what, {}, "", host);
  };
  draining_ = std::make_unique<Draining>(
      loop_, *batches_, *learning_,
      Draining::Outside{options_.host_lists, tell, [this](const std::string& text) { Warn(text); }});
}

namespace {
/// As RMAppManager.writeAuditLog, of an application and not of its attempts.
void NoteEnd(const env::Audit& audit, const Core& core, const m::StateChanged& change) {
  const fairlead::rm::App* app = core.FindApp(change.app);
  if (!app || change.subject != ToString(change.app)) return;
  const bool failed = app->state == m::AppState::kFailed;
  const char* const name = app->state == m::AppState::kFinished ? operations::kSucceeded
                           : app->state == m::AppState::kKilled ? operations::kKilled
                           : failed                             ? operations::kFailed
                                                                : nullptr;
  if (!name) return;
  Operation operation{.name = name, .target = "RMAppManager", .about = AboutApp(change.app)};
  operation.caller.user = app->submission.user;
  operation.failure = "App failed with state: FAILED";
  NoteOperation(audit, operation, failed ? std::optional<std::string_view>(app->diagnostics) : std::nullopt);
}
}  // namespace

void ResourceManager::CarryOut(const m::OuterEffect& effect) {
  if (const auto* launch = std::get_if<m::LaunchMaster>(&effect)) return launcher_->Launch(*launch);
  if (const auto* stop = std::get_if<m::StopContainers>(&effect)) return launcher_->Stop(*stop);
  const auto& change = std::get<m::StateChanged>(effect);
  if (recovering_) return;
  lately_.Record(loop_.Wall(), core(), change);
  if (options_.on_state_change) options_.on_state_change(change);
  if (submissions_) submissions_->Note(change);
  NoteEnd(options_.security.audit, core(), change);
}

// The queues may be others than they were: what has no place any more has been ended.
static std::optional<m::StateChanged> LostOnRecovery(const fairlead::rm::Core& core, const model::ApplicationId& id) {
  const fairlead::rm::App* app = core.FindApp(id);
  if (app == nullptr || (!fairlead::rm::IsOver(app->state) && app->target != m::AppState::kFailed)) return std::nullopt;
  const std::string& why = app->pending_diagnostics.empty() ? app->diagnostics : app->pending_diagnostics;
  return m::StateChanged{ToString(id), std::string(EnumName(m::AppState::kAccepted)),
                         std::string(EnumName(m::AppState::kFailed)), why, id};
}

// The log and the list of happenings are silent about each application that goes on: ten thousand would cost a third
// of the time.
void ResourceManager::Recover(m::Started started) {
  std::vector<model::ApplicationId> open;
  for (const m::AppRecord& app : started.apps) {
    if (app.final_state == m::AppState::kNew) open.push_back(app.submission.id);
  }
  const size_t applications = started.apps.size();
  const size_t attempts = started.attempts.size();
  recovering_ = true;
  batches_->Post(std::move(started));
  batches_->Drain();
  recovering_ = false;
  for (const model::ApplicationId& id : open) {
    const std::optional<m::StateChanged> lost = LostOnRecovery(core(), id);
    if (!lost) continue;
    lately_.Record(loop_.Wall(), core(), *lost);
    if (options_.on_state_change) options_.on_state_change(*lost);
  }
  if (options_.on_recovered && applications > 0) options_.on_recovered(applications, attempts);
}

void ResourceManager::SampleCharts() {
  // What is touched is noted until a reader comes: without any the list would grow by each application that ends.
  if (core().touched_apps() > kTouchedMost) Fresh();
  charts_.Sample(loop_.Wall(), scheduler().GetQueues(), lately_.Count(HappeningKind::kGranted));
  if (++chart_samples_ % kSamplesBetweenKeeping == 0) options_.charts.keep(charts_.Encode());
  chart_timer_.After(Charts::kStep, [this] { SampleCharts(); });
}

void ResourceManager::MakeSchedulerConf() {
  const auto use = [this](const config::Properties& keys, SchedulerConf::Done done) {
    std::vector<std::string> warnings;
    ReloadQueues(options_.scheduler_conf->parse(keys, warnings), [done = std::move(done)](const auto& refused) {
      done(refused ? base::Status(base::Error{refused->message}) : base::Status());
    });
    for (const std::string& warning : warnings) Warn(warning);
  };
  scheduler_conf_ = std::make_unique<SchedulerConf>(*options_.scheduler_conf, use, batches_->Storing());
}

base::Status ResourceManager::TryQueues(const config::Properties& keys) const {
  std::vector<std::string> ignored;
  scheduler::EffectSink effects;
  const model::scheduler::Event reload =
      model::scheduler::QueuesReloaded{options_.scheduler_conf->parse(keys, ignored), 1};
  scheduler().Fork()->Step(now(), {&reload, 1}, effects);
  for (const model::scheduler::Effect& effect : effects) {
    const auto* refused = std::get_if<model::scheduler::CallRefused>(&effect);
    if (refused) return base::Error{endpoints::yarn::ExceptionOf(refused->refused).message};
  }
  return {};
}

base::Result<model::QueueTree> ResourceManager::ReadQueues() const {
  if (scheduler_conf_) {  // AdminService
    return base::Error{
        "java.io.IOException: Scheduler configuration is mutable. refreshQueues is not allowed in this scenario."};
  }
  std::vector<std::string> warnings;
  base::Result<model::QueueTree> queues = options_.read_queues(warnings);
  for (const std::string& warning : warnings) Warn(warning);
  return queues;
}

void ResourceManager::Warn(const std::string& text) const {
  if (options_.on_warning) options_.on_warning(text);
}

void ResourceManager::NoteAction(const std::string& user, const std::string& peer, const std::string& what,
                                 model::ApplicationId app, const std::string& queue, const std::string& node,
                                 LogHas log) {
  Happening happening;
  happening.at = loop_.Wall();
  happening.kind = HappeningKind::kAction;
  happening.app = app;
  happening.queue = queue;
  happening.node = node;
  happening.detail = what + " by " + user + " from " + peer;
  if (options_.on_action && log == LogHas::kNothing) options_.on_action(happening.detail);
  lately_.Add(std::move(happening));
}

void ResourceManager::NoteKill(const std::string& user, const std::string& peer, const fairlead::rm::App& app) {
  const model::ApplicationId& id = app.submission.id;
  NoteAction(user, peer, ToString(id) + " is killed", id, app.submission.queue, "", LogHas::kOperation);
}

void ResourceManager::NoteMove(const std::string& user, const std::string& peer, const model::ApplicationId& id) {
  const fairlead::rm::App* app = core().FindApp(id);
  const std::string queue = app ? app->submission.queue : "";
  NoteAction(user, peer, ToString(id) + " is moved to " + queue, id, queue, "", LogHas::kOperation);
}

void ResourceManager::NotePriority(const std::string& user, const std::string& peer, const model::ApplicationId& id,
                                   int32_t now) {
  const fairlead::rm::App* app = core().FindApp(id);
  NoteAction(user, peer, "the priority of " + ToString(id) + " becomes " + std::to_string(now), id,
             app ? app->submission.queue : "", "", LogHas::kOperation);
}

// ---- For readers ----

Summary& ResourceManager::Fresh() {
  summary_.Refresh(*machine_, loop_.Wall());
  return summary_;
}

ReportFacts ResourceManager::FactsForReports() {
  summary_.RefreshNodes(*machine_);
  return {loop_.Wall(), core().config().ProxyBase(), summary_.cluster().capacity.memory_mib()};
}

namespace {
bool HasNoMasterYet(const Attempt* attempt) {
  return attempt != nullptr &&
         (attempt->state == m::AttemptState::kSubmitted || attempt->state == m::AttemptState::kScheduled ||
          attempt->state == m::AttemptState::kAllocatedSaving || attempt->state == m::AttemptState::kAllocated);
}
}  // namespace

std::string ResourceManager::DiagnosticsOf(const fairlead::rm::App& app) {
  const std::string& own = Core::VisibleDiagnostics(app);
  if (!own.empty() || !app.in_scheduler || !HasNoMasterYet(app.current())) return own;
  return waiting_texts_.Of(app.index, now(), [&] {
    return WaitingText(app, scheduler().Why(app.index, now()), launcher_->TriedAgain(app.current()->id),
                       options_.hadoop_scheduler, now_wall());
  });
}

void ResourceManager::ReloadQueues(model::QueueTree queues, ReloadDone done) {
  batches_->Ask(m::ReloadQueues{std::move(queues), 0},
                [done = std::move(done)](const m::OuterEffect& effect) { done(RefusalOf(effect)); });
}

void ResourceManager::CountRefused(const base::Error& why) {
  ++(why.code == endpoints::yarn::kTooLong ? counters_.too_long : counters_.malformed);
}

}  // namespace fairlead::process::rm
