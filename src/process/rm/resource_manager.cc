#include "process/rm/resource_manager.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/freed_pages.h"
#include "base/text.h"
#include "endpoints/yarn/refusals.h"
#include "endpoints/yarn/text_bounds.h"
#include "model/access_list.h"
#include "process/ask/track_record.h"
#include "process/rm/learning.h"
#include "process/rm/reports.h"
#include "process/rm/service_support.h"
#include "process/rm/submissions.h"
#include "process/rm/token_services.h"
#include "process/rm/web_token_service.h"
#include "rm/life_cycles.h"

namespace fairlead::process::rm {

namespace m = model::rm;
namespace w = wire::yarn;

namespace {
constexpr size_t kUnreadTold = 20;  // with a line each
constexpr int kSamplesBetweenKeeping = 6;
constexpr size_t kTouchedMost = 100'000;
constexpr base::Duration kStoreRetry = base::Duration::Seconds(1);
}  // namespace

ResourceManager::ResourceManager(env::Loop& loop, env::Net& net, env::Store* store, ResourceManagerOptions options)
    : loop_(loop),
      net_(net),
      store_(store),
      options_(std::move(options)),
      started_(loop.Wall()),
      learning_(std::make_unique<Learning>(loop_,
                                           [this](std::vector<env::Row> rows, std::function<void()> stored) {
                                             StoreForCertain(std::move(rows), std::move(stored));
                                           })),
      estimates_(std::make_unique<ask::TrackRecord>()) {}

ResourceManager::~ResourceManager() {
  alive_.End();
  if (chart_timer_.waits()) options_.keep_charts(charts_.Encode());
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
  if (base::Status loaded = LoadDrained(*state); !loaded.ok()) return loaded.error();
  learning_->Recall(started.runs, loop_.Now());
  unread_ = std::move(state->unread);
  if (store_) foreign_ = store_->Foreign();
  keys_ = std::make_unique<KeyRing>(loop_, machine_->core(), options_.keys);
  KeyRing::Attempts running;
  for (const m::AttemptRecord& attempt : started.attempts) {
    if (attempt.final_state == m::AttemptState::kNew) running.insert(attempt.id);
  }
  std::vector<env::Row> first = keys_->Start(state->keys, std::move(running), store_ && store_->WasOpen(),
                                             [this](std::vector<env::Row> rows, std::function<void()> stored) {
                                               StoreForCertain(std::move(rows), std::move(stored));
                                             });
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
                                               [this](m::MasterLaunched event) { Post(std::move(event)); });
  Recover(std::move(started));
  OpenSubmissions();
  // Container ids carry the epoch, tokens the keys: nothing is decided with them before a restart would find them.
  held_ = true;
  StoreForCertain(std::move(first), [this] {
    held_ = false;
    Drain();
  });
  maintenance_.Start();
  if (options_.keep_charts) {
    if (!options_.charts.empty()) {
      if (const base::Status read = charts_.Decode(options_.charts); !read.ok()) {
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
  std::vector<env::Row> rows = delegation_->Start(std::move(stored), store_ && store_->WasOpen(),
                                                  [this](std::vector<env::Row> saved, std::function<void()> done) {
                                                    StoreForCertain(std::move(saved), std::move(done));
                                                  });
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
  credentials_ = std::make_unique<CredentialStore>(loop_, std::move(stored),
                                                   [this](std::vector<env::Row> saved, std::function<void()> done) {
                                                     StoreForCertain(std::move(saved), std::move(done));
                                                   });
  if (laid_open && !credentials_->all().empty()) {
    credentials_->RevokeAll();
    Warn("Others could read the credentials of this cluster, so all are revoked: make new ones.");
  }
  return {};
}

bool ResourceManager::MayMakeCredentials(const std::string& user) const {
  if (user == "root" || user == options_.login_user) return true;
  return !options_.admin_acl.everybody && IsAdministrator(user);
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
  submissions_ = std::make_unique<Submissions>(loop_, *this, std::move(services), options_.renewal,
                                               [this](const std::string& text) { Warn(text); });
}

void ResourceManager::SubmitApplication(m::Submission submission, Submitted done) {
  if (submissions_) return submissions_->Take(std::move(submission), std::move(done));
  m::Submit event;
  event.submission = std::move(submission);
  AskToSubmit(std::move(event), std::move(done));
}

void ResourceManager::AskToSubmit(m::Submit event, Submitted done) {
  Ask(std::move(event), [done = std::move(done)](const m::OuterEffect& effect) {
    const auto* refused = std::get_if<m::CallRefused>(&effect);
    done(refused ? std::optional(endpoints::yarn::ExceptionOf(refused->refused)) : std::nullopt);
  });
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
  Post(std::move(started));
  Drain();
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
  if (++chart_samples_ % kSamplesBetweenKeeping == 0) options_.keep_charts(charts_.Encode());
  chart_timer_.After(Charts::kStep, [this] { SampleCharts(); });
}

void ResourceManager::StoreForCertain(std::vector<env::Row> rows, std::function<void()> stored) {
  if (!store_) {
    loop_.Post(alive_([stored = std::move(stored)] { stored(); }));
    return;
  }
  store_->Commit(rows, alive_([this, rows, stored = std::move(stored)](const env::CommitStatus& status) {
                   if (status.ok()) return stored();
                   if (status.error().kind != env::CommitFailure::kRefused) return StoreLost(status.error());
                   Warn("The state store refused a change, which is tried again: " + status.error().message);
                   loop_.After(kStoreRetry, alive_([this, rows, stored] { StoreForCertain(rows, stored); }));
                 }));
}

void ResourceManager::MakeSchedulerConf() {
  const auto use = [this](const config::Properties& keys, SchedulerConf::Done done) {
    std::vector<std::string> warnings;
    ReloadQueues(options_.scheduler_conf->parse(keys, warnings), [done = std::move(done)](const auto& refused) {
      done(refused ? base::Status(base::Error{refused->message}) : base::Status());
    });
    for (const std::string& warning : warnings) Warn(warning);
  };
  scheduler_conf_ = std::make_unique<SchedulerConf>(*options_.scheduler_conf, use,
                                                    [this](std::vector<env::Row> rows, std::function<void()> stored) {
                                                      StoreForCertain(std::move(rows), std::move(stored));
                                                    });
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

void ResourceManager::Post(m::OuterEvent event) {
  inbox_.push_back(std::move(event));
  if (drain_posted_ || draining_) return;
  drain_posted_ = true;
  loop_.Post(alive_([this] { Drain(); }));
}

static bool IsLarge(const m::OuterEvent& event) {
  const auto* submit = std::get_if<m::Submit>(&event);
  return submit != nullptr && submit->submission.context.size() > kLargeSubmission;
}

// Steps until the inbox is empty: what arrived in one turn of the loop is one batch.
void ResourceManager::Drain() {
  drain_posted_ = false;
  if (draining_ || held_ || !MayAct()) return;
  draining_ = true;
  // A process that was stopped in the middle of a step tells nobody what it has decided before it has asked.
  for (bool first = true; MayAct(); first = false) {
    DispatchAll();
    if (!first && inbox_.empty()) break;
    std::swap(batch_, inbox_);
    const base::Instant now = loop_.Now();
    const base::WallTime wall = loop_.Wall();
    const base::Instant began = loop_.ReadClock();
    machine_->Step(now, wall, batch_, effects_);
    counters_.step.Add(loop_.ReadClock() - began);
    counters_.events += batch_.size();
    ++counters_.batches;
    if (options_.on_batch) options_.on_batch({now, wall, batch_, effects_, *machine_});
    // A submission's megabytes are not needed while the store's thread takes as many.
    const bool large = std::any_of(batch_.begin(), batch_.end(), IsLarge);
    batch_.clear();
    if (large) base::GiveBackFreedPages();
  }
  draining_ = false;
  ArmTimer();
}

void ResourceManager::DispatchAll() {
  std::vector<m::OuterEffect> effects = std::move(effects_);
  for (m::OuterEffect& effect : effects) Dispatch(effect);
  effects.clear();
  effects_ = std::move(effects);
}

void ResourceManager::ArmTimer() {
  const base::Instant deadline = machine_->NextDeadline();
  if (deadline == timer_.due()) return;
  timer_.At(deadline, [this] {
    if (inbox_.empty()) inbox_.emplace_back(m::Tick{});
    Drain();
  });
}

void ResourceManager::Answered(m::CallToken call, const m::OuterEffect& effect) {
  const auto it = answers_.find(call);
  if (it == answers_.end()) return;
  const Answer answer = std::move(it->second);
  answers_.erase(it);
  answer(effect);
}

void ResourceManager::Dispatch(m::OuterEffect& effect) {
  std::visit(
      [&](auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, m::Persist>) {
          Commit(std::move(e));
        } else if constexpr (std::is_same_v<E, m::LaunchMaster>) {
          launcher_->Launch(e);
        } else if constexpr (std::is_same_v<E, m::StopContainers>) {
          launcher_->Stop(e);
        } else if constexpr (std::is_same_v<E, m::StateChanged>) {
          if (recovering_) return;
          lately_.Record(loop_.Wall(), core(), e);
          if (options_.on_state_change) options_.on_state_change(e);
          if (submissions_) submissions_->Note(e);
        } else {
          if constexpr (std::is_same_v<E, m::AllocateAnswer>) counters_.granted += e.granted.size();
          Answered(e.call, effect);
        }
      },
      effect);
}

void ResourceManager::Commit(m::Persist persist) {
  if (!store_ || !options_.recovery) {
    Post(m::Persisted{persist.txn, true, ""});
    return;
  }
  std::vector<env::Row> rows;
  for (m::StoreRow& row : persist.rows) {
    std::optional<std::string> value;
    if (!row.remove) value = std::move(row.value);
    rows.push_back({std::move(row.table), std::move(row.key), std::move(value)});
  }
  store_->Commit(std::move(rows),
                 alive_([this, txn = persist.txn, began = loop_.ReadClock()](const env::CommitStatus& status) {
                   counters_.commit.Add(loop_.ReadClock() - began);
                   if (status.ok()) return Post(m::Persisted{txn, true, ""});
                   ++counters_.store_errors;
                   if (status.error().kind != env::CommitFailure::kRefused) return StoreLost(status.error());
                   Warn("The state store refused a change: " + status.error().message);
                   Post(m::Persisted{txn, false, status.error().message});
                 }));
}

// What was asked is not answered: nobody knows, or another resource manager does.
void ResourceManager::StoreLost(const env::CommitError& error) {
  held_ = true;
  const bool fenced = error.kind == env::CommitFailure::kFenced;
  const std::string why =
      (fenced ? "Another resource manager owns the state store now: " : "The state store is gone: ") + error.message;
  Warn(why + ". No more decisions are made.");
  if (options_.on_store_lost) std::exchange(options_.on_store_lost, nullptr)(why);
}

// ---- Who may do what ----

bool ResourceManager::IsAdministrator(const std::string& user) const {
  return model::Lists(options_.admin_acl, user, groups_.Of(user));
}

bool ResourceManager::QueueAccess(const std::string& user, const std::string& queue, bool administer) const {
  return queues()->Allows(queue, user, groups_.Of(user), administer);
}

bool ResourceManager::QueueExists(const std::string& queue) const {
  const std::vector<scheduler::QueueView> queues = scheduler().GetQueues().queues;
  return std::ranges::any_of(queues, [name = FullQueueName(queue)](const auto& one) { return one.name == name; });
}

// ClientRMService.moveApplicationAcrossQueues.
std::string ResourceManager::MoveError(const std::string& user, const model::ApplicationId& app,
                                       const std::string& queue) const {
  const base::Status within = endpoints::yarn::Within("queue", queue.size(), endpoints::yarn::kNameMax);
  if (!within.ok()) return within.error().message;
  if (!options_.core.acls) return "";
  if (QueueExists(queue) && (QueueAccess(user, queue, false) || QueueAccess(user, queue, true))) return "";
  return "User " + user + " cannot submit applications to target queue or the target queue doesn't exist: " + queue +
         " while moving " + ToString(app);
}

bool ResourceManager::MayAccess(const std::string& user, const fairlead::rm::App& app, bool modify) const {
  return ViewerOf(user).May(app, modify);
}

void ResourceManager::LearnCaller(const rpc::IncomingCall& call, Handler handler) {
  if (groups_.Knows(call.caller.user)) return (this->*handler)(call);
  groups_.Learn(call.caller.user,
                [this, handler, token = call.token, caller = call.caller, peer = call.peer,
                 protocol = std::string(call.protocol), method = std::string(call.method), number = call.method_number,
                 request = std::string(call.request), retries = call.retry_count, asker = call.asker] {
                  (this->*handler)({token, caller, peer, protocol, method, number, request, retries, asker});
                });
}

// ---- For readers ----

Summary& ResourceManager::Fresh() {
  summary_.Refresh(*machine_, loop_.Wall());
  return summary_;
}

Viewer ResourceManager::ViewerOf(const std::string& user) const {
  return {user, groups_.Of(user), options_.core.acls, options_.admin_acl, queues()};
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
    return WaitingText(app, scheduler().Why(app.index, now()), options_.hadoop_scheduler, now_wall());
  });
}

endpoints::yarn::Submitter ResourceManager::SubmitterOf(const std::string& user, const std::string& address) const {
  return {user, groups_.Of(user), address};
}

void ResourceManager::ReloadQueues(model::QueueTree queues, ReloadDone done) {
  Ask(m::ReloadQueues{std::move(queues), 0}, [done = std::move(done)](const m::OuterEffect& effect) {
    const auto* refused = std::get_if<m::CallRefused>(&effect);
    done(refused ? std::optional(endpoints::yarn::ExceptionOf(refused->refused)) : std::nullopt);
  });
}

void ResourceManager::Refuse(rpc::CallToken call, std::string_view exception, const std::string& message) {
  server_->Fail(call, exception, message);
}

void ResourceManager::CountRefused(const base::Error& why) {
  ++(why.code == endpoints::yarn::kTooLong ? counters_.too_long : counters_.malformed);
}

void ResourceManager::RefuseRequest(const rpc::IncomingCall& call, const base::Error& why, const char* before) {
  CountRefused(why);
  Refuse(call.token, endpoints::yarn::exceptions::kYarn, before + why.message);
}

void ResourceManager::RefuseMissing(const rpc::IncomingCall& call, std::string_view what) {
  Refuse(call.token, "NullPointerException",
         "The request of " + std::string(call.method) + " has no " + std::string(what) + ".");
}

bool ResourceManager::Refused(rpc::CallToken call, const m::OuterEffect& effect) {
  const auto* refused = std::get_if<m::CallRefused>(&effect);
  if (!refused) return false;
  const endpoints::yarn::RemoteException exception = endpoints::yarn::ExceptionOf(refused->refused);
  Refuse(call, exception.class_name, exception.message);
  return true;
}

const fairlead::rm::App* ResourceManager::RequireApp(const rpc::IncomingCall& call, const model::ApplicationId& id,
                                                     Access access) {
  const fairlead::rm::App* app = core().FindApp(id);
  if (!app) {
    Refuse(call.token, "ApplicationNotFoundException",
           "Application with id '" + ToString(id) +
               "' doesn't exist in RM. Please check that the job submission was successful.");
    return nullptr;
  }
  if (access == Access::kModify && !MayAccess(call.caller.user, *app, true)) {
    RefuseChange(call, id);
    return nullptr;
  }
  if (access == Access::kView && !MayAccess(call.caller.user, *app, false)) {
    Refuse(call.token, endpoints::yarn::exceptions::kYarn,
           "User " + call.caller.user + " does not have privilege to see this application " + ToString(id));
    return nullptr;
  }
  return app;
}

void ResourceManager::RefuseChange(const rpc::IncomingCall& call, const model::ApplicationId& id) {
  Refuse(call.token, endpoints::yarn::exceptions::kYarn,
         "java.security.AccessControlException: User " + call.caller.user + " cannot perform operation MODIFY_APP on " +
             ToString(id));
}

}  // namespace fairlead::process::rm
