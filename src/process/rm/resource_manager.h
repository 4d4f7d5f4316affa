#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/rest/configuration.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/store.h"
#include "env/timer.h"
#include "model/queues.h"
#include "model/rm.h"
#include "process/ask/carry.h"
#include "process/http/metrics.h"
#include "process/rm/batches.h"
#include "process/rm/charts.h"
#include "process/rm/credential_store.h"
#include "process/rm/delegation_tokens.h"
#include "process/rm/key_ring.h"
#include "process/rm/lately.h"
#include "process/rm/launcher.h"
#include "process/rm/log_aggregation.h"
#include "process/rm/machine.h"
#include "process/rm/ports.h"
#include "process/rm/queue_edit.h"
#include "process/rm/scheduler_conf.h"
#include "process/rm/stored_state.h"
#include "process/rm/summary.h"
#include "process/rm/token_issuer.h"
#include "process/rm/waiting_text.h"
#include "process/rpc/rpc_server.h"

namespace fairlead::process::ask {
class TrackRecord;
}  // namespace fairlead::process::ask

namespace fairlead::process::rm {

class Access;
class Draining;
class Learning;
class Submissions;

/// What is kept for `fairlead replay`.
struct JournalFacts {
  bool writes = false;        // false: it has ended, at its limit or by an error
  int64_t files = 0;          // the one that is written, and older ones
  int64_t bytes = 0;          // of all of them
  int64_t bytes_max = 0;      // that they may have
  int64_t segment_bytes = 0;  // after so many of batches the next file begins
  int64_t written = 0;        // in this run, with the states at the files' beginnings
  base::Duration within;      // for so long
  int64_t disk_free = 0;      // bytes
};

/// Where decisions are kept, and what they tell of earlier moments.
struct KeptJournal {
  /// Nothing: there is none.
  std::function<std::optional<JournalFacts>()> facts;
  // Both block, and may be called on any thread. Errors: ENOENT: that is not kept; EINVAL: it is no moment.
  struct Span {
    base::WallTime from, to;
  };
  std::function<base::Result<Span>()> span;
  /// The JSON of a PastDocument; `target`: its name and query. Once `ended` says so it gives up.
  std::function<base::Result<std::string>(base::WallTime at, const std::string& target,
                                          const std::function<bool()>& ended)>
      tell;
};

struct ResourceManagerOptions {
  fairlead::rm::Config core;
  /// Makes the scheduler for this run; its containers carry the epoch.
  std::function<base::Result<std::unique_ptr<scheduler::Scheduler>>(int64_t epoch)> make_scheduler;
  std::string profile = "fairlead";                     // what make_scheduler makes, by the name that people give
  bool grants_by_heartbeat = false;                     // of nodes; else at once or in rounds
  std::string_view hadoop_scheduler = "FairScheduler";  // whose documents REST and RPC give; clients read it

  PortAddresses ports;

  bool recovery = true;  // applications are stored and read back; false: nothing of them outlives this run
  base::Duration heartbeat = base::Duration::Seconds(1);  // yarn.resourcemanager.nodemanagers.heartbeat-interval-ms
  KeyTimes keys;
  LauncherTimes launcher;
  model::AccessList admin_acl = {.everybody = true, .users = {}, .groups = {}};  // yarn.admin.acl
  std::string version = "3.3.6";  // what clients are told of the protocol's Hadoop
  std::string login_user;         // whom this process runs as
  /// What /conf shows; null: it is nobody's.
  std::shared_ptr<const endpoints::rest::Configuration> configuration;
  // Look-ups that may block: called on any thread, several at a time.
  std::function<std::vector<std::string>(const std::string&)> groups_of;
  std::function<std::string(const std::string&)> rack_of;
  /// The address that a node's host leads to, for lists of hosts that name it so; may be empty.
  std::function<std::string(const std::string&)> ip_of;
  /// The include and exclude lists as their files have them now.
  std::function<base::Result<model::rm::RefreshNodes>()> host_lists;
  PortSecurity security;
  DelegationTimes delegation;
  std::vector<TokenIssuer> token_issuers;  // others whose tokens are renewed for applications
  RenewalTimes renewal;
  LogAggregationOptions log_aggregation;
  std::string cluster_name;  // yarn.resourcemanager.cluster-id
  /// The file that holds the queues; empty: none does.
  std::string queue_file;
  /// That file as it is now; what is odd in it is appended.
  std::function<base::Result<model::QueueTree>(std::vector<std::string>& warnings)> read_queues;
  /// That file with a change, checked and not written; and what writes it. Empty: there is no file.
  std::function<base::Result<QueueEdit>(const QueueChange&)> edit_queue_file;
  std::function<base::Status(const QueueEdit&)> write_queue_file;
  /// The text of such a file, checked. These two may be called on any thread.
  std::function<base::Result<model::QueueTree>(const std::string& text)> parse_queues;
  /// A scheduler of another profile with these queues; `epoch` stands in ids of containers. On any thread.
  std::function<base::Result<ask::OtherProfile>(const std::string& profile, const model::QueueTree& queues,
                                                int64_t epoch)>
      make_other;
  /// How `yarn schedulerconf` changes the queues, and not the file; nothing: it does not.
  std::optional<SchedulerConfOptions> scheduler_conf;
  /// Of what happens; what a recovery finds in the store is summed up (on_recovered).
  std::function<void(const model::rm::StateChanged&)> on_state_change;
  std::function<void(size_t applications, size_t attempts)> on_recovered;
  std::function<void(const std::string&)> on_warning;
  /// An operator's act, for the log: what, by whom, from where.
  std::function<void(const std::string&)> on_action;
  ChartKeeping charts;
  /// The store takes nothing any more (fenced or gone), and no decision is made any more: the process has to end.
  std::function<void(const std::string& why)> on_store_lost;
  std::function<void(const Batch&)> on_batch;
  /// That on_batch writes.
  std::optional<KeptJournal> journal;
  /// Whether this process may act now (env::Elector); empty: always. While it says false nothing is decided or told;
  /// Batches::Drain goes on.
  std::function<bool()> may_act;
};

/// The resource manager of one machine: makes its parts from what is stored, and brings them together; single-threaded
/// over the env ports. The RPC protocols of YARN (ports.h) and REST (web.h) are beside it.
class ResourceManager {
 public:
  /// Reads the store, starts the cores and listens at options.ports, for one that runs alone. The store may be null
  /// (nothing outlives this process then).
  static base::Result<std::unique_ptr<ResourceManager>> Start(env::Loop& loop, env::Net& net, env::Store* store,
                                                              ResourceManagerOptions options);
  /// The same for one that was elected, at ports that are open already. Destroying it is its end as a leader, at any
  /// moment: calls without an answer are refused, nothing more is decided.
  static base::Result<std::unique_ptr<ResourceManager>> Lead(env::Loop& loop, env::Net& net, env::Store& store,
                                                             ResourceManagerOptions options, Ports& ports);
  ~ResourceManager();
  ResourceManager(const ResourceManager&) = delete;
  ResourceManager& operator=(const ResourceManager&) = delete;

  /// Submits an application; its tokens are renewed before, where Kerberos is on. `done`: not taken, or nothing.
  using Submitted = std::function<void(const std::optional<endpoints::yarn::RemoteException>& refused)>;
  void SubmitApplication(model::rm::Submission submission, Submitted done);

  // Its parts: what each owns stands in its header.
  Batches& batches() const { return *batches_; }
  Access& access() const { return *access_; }
  Draining& draining() const { return *draining_; }
  LogAggregation& log_aggregation() const { return *log_aggregation_; }
  KeyRing& keys() const { return *keys_; }
  /// Null without Kerberos.
  DelegationTokens* delegation() { return delegation_.get(); }
  /// Null unless fairlead.auth is credentials.
  CredentialStore* credentials() const { return credentials_.get(); }
  /// Null without Kerberos.
  const Submissions* submissions() const { return submissions_.get(); }
  Admission& admission() { return ports_->admission(); }
  /// Callers have shown who they are (Kerberos).
  bool secured() const { return options_.security.gss != nullptr; }

  const ResourceMachine& machine() const { return *machine_; }
  const fairlead::rm::Core& core() const { return machine_->core(); }
  const scheduler::Scheduler& scheduler() const { return machine_->scheduler(); }
  const ResourceManagerOptions& options() const { return options_; }
  /// In use now; may be taken to another thread.
  const std::shared_ptr<const model::QueueSet>& queues() const { return core().queues(); }
  base::WallTime started() const { return started_; }
  base::WallTime now_wall() const { return loop_.Wall(); }
  base::Instant now() const { return loop_.Now(); }

  /// The addresses that are listened at.
  const PortAddresses& bound() const { return ports_->bound(); }

  /// The queues' file as it is now, warned of as at a start.
  base::Result<model::QueueTree> ReadQueues() const;
  /// Takes a queue configuration into use, unless the scheduler refuses it; then the queues stay.
  using ReloadDone = std::function<void(const std::optional<endpoints::yarn::RemoteException>& refused)>;
  void ReloadQueues(model::QueueTree queues, ReloadDone done);
  /// Null: `yarn schedulerconf` changes nothing here.
  SchedulerConf* scheduler_conf() { return scheduler_conf_.get(); }
  /// What a copy of the scheduler has against queues of these keys. Cost: the scheduler's state.
  base::Status TryQueues(const config::Properties& keys) const;

  /// Notes an act for /fairlead/v1/events, and for the log where that has no Operation of it.
  enum class LogHas : uint8_t { kNothing, kOperation };
  void NoteAction(const std::string& user, const std::string& peer, const std::string& what, model::ApplicationId app,
                  const std::string& queue, const std::string& node, LogHas log = LogHas::kNothing);
  /// What was done to an application, by RPC or REST.
  void NoteKill(const std::string& user, const std::string& peer, const fairlead::rm::App& app);
  void NoteMove(const std::string& user, const std::string& peer, const model::ApplicationId& id);
  void NotePriority(const std::string& user, const std::string& peer, const model::ApplicationId& id, int32_t now);

  const Lately& lately() const { return lately_; }
  const Learning& learning() const { return *learning_; }
  ask::TrackRecord& estimates() { return *estimates_; }
  const Charts& charts() const { return charts_; }

  // ---- For readers ----
  /// What readers see, as it is now. Cost: what has changed since.
  Summary& Fresh();
  ReportFacts FactsForReports();
  /// The application's diagnostics; while it has no master, why (WaitingText).
  std::string DiagnosticsOf(const fairlead::rm::App& app);

  /// Counters for /metrics.
  struct Counters {
    uint64_t allocate_calls = 0;
    uint64_t heartbeats = 0;
    uint64_t too_long = 0;     // calls with a text that is longer than its field may be
    uint64_t malformed = 0;    // others that were refused for what is in them
    http::Histogram allocate;  // from an allocate call to its answer
  };
  Counters& counters() { return counters_; }
  /// A request was refused for what is in it.
  void CountRefused(const base::Error& why);
  const rpc::RpcServer& rpc_server() const { return *server_; }
  /// Rows of the store that this run goes on without.
  const std::vector<env::UnreadRow>& unread() const { return unread_; }
  /// Those, and what others have put among the rows.
  size_t left_out() const { return unread_.size() + foreign_.count; }
  /// The name of one; empty: there is none.
  std::string first_left_out() const;

 private:
  ResourceManager(env::Loop& loop, env::Net& net, env::Store* store, ResourceManagerOptions options);
  base::Status Open();
  base::Result<StoredState> ReadStore();
  void MakeDraining();
  void MakeSchedulerConf();
  /// Delegation tokens; `first`: what the start stores.
  base::Status OpenDelegation(std::vector<env::Row>& first);
  void OpenSubmissions();
  base::Status OpenCredentials();
  void TellOfStore(size_t forgotten_apps) const;
  void Serve(Ports& ports);
  /// What is decided and is neither an answer nor for the store.
  void CarryOut(const model::rm::OuterEffect& effect);
  void Recover(model::rm::Started started);
  void SampleCharts();
  void Warn(const std::string& text) const;

  env::Loop& loop_;
  env::Net& net_;
  env::Store* store_;
  ResourceManagerOptions options_;
  base::WallTime started_;
  std::unique_ptr<ResourceMachine> machine_;
  std::unique_ptr<Access> access_;
  std::unique_ptr<Batches> batches_;
  std::unique_ptr<Draining> draining_;
  std::unique_ptr<KeyRing> keys_;
  std::unique_ptr<DelegationTokens> delegation_;  // null without Kerberos
  std::unique_ptr<Submissions> submissions_;      // the same
  std::unique_ptr<CredentialStore> credentials_;  // null unless fairlead.auth is credentials
  std::unique_ptr<SchedulerConf> scheduler_conf_;
  std::unique_ptr<MasterLauncher> launcher_;
  std::unique_ptr<Ports> own_ports_;  // of one that runs alone
  Ports* ports_ = nullptr;
  rpc::RpcServer* server_ = nullptr;  // of the ports

  bool recovering_ = false;  // in the step that takes what was stored
  Counters counters_;
  Lately lately_;
  WaitingTexts waiting_texts_;
  std::unique_ptr<Learning> learning_;
  std::unique_ptr<ask::TrackRecord> estimates_;
  Charts charts_;
  std::unique_ptr<LogAggregation> log_aggregation_;
  Summary summary_;
  env::Timer chart_timer_{loop_};
  int chart_samples_ = 0;
  std::vector<env::UnreadRow> unread_;
  env::ForeignRows foreign_;
};

}  // namespace fairlead::process::rm
