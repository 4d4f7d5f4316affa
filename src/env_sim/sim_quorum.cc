#include "env_sim/sim_quorum.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "env/alive.h"

namespace fairlead::env_sim {

using base::Duration;

namespace {
using Tables = std::map<std::string, std::map<std::string, std::string>>;
}  // namespace

/// The servers' side, and the wires to the members.
struct SimQuorum::State {
  struct Wire {
    bool cut = false;
    Duration delay;
    base::Instant up_free_at{}, down_free_at{};  // messages stay in order
    std::vector<std::function<void()>> held;     // that came to the cut

    void Deliver(std::function<void()> message) {
      if (cut) return held.push_back(std::move(message));
      message();
    }
  };
  /// What a member hears when it asks.
  struct Answer {
    bool expired = false;
    std::optional<std::string> leader;
    bool leads = false;
    int64_t epoch = 0;
    std::optional<Tables> rows;  // of one that has just been elected
  };

  World& world;
  const Duration session;
  const QuorumBugs bugs;
  Tables tables;
  int64_t epoch = 0;
  int64_t foul_writes = 0;
  int64_t last_session = 0;
  std::map<int64_t, base::Instant> heard;  // session -> when
  std::optional<std::pair<std::string, int64_t>> leader;
  std::map<std::string, base::Instant> shunned;  // members that gave the lead up: until when others go first
  std::map<std::string, Wire> wires;

  Duration Time(const Wire& wire) {
    return Duration{world.rng().Between(Duration::Micros(100).ns, Duration::Millis(5).ns)} + wire.delay;
  }
  /// From the member to the servers.
  void Up(const std::string& id, std::function<void()> message) {
    Wire& wire = wires[id];
    wire.up_free_at = std::max(wire.up_free_at, world.now() + Time(wire));
    world.Script(wire.up_free_at, [&wire, message = std::move(message)] { wire.Deliver(message); });
  }
  void Down(const std::string& id, std::function<void()> message) {
    Wire& wire = wires[id];
    wire.down_free_at = std::max(wire.down_free_at, world.now() + Time(wire));
    world.Script(wire.down_free_at, [&wire, message = std::move(message)] { wire.Deliver(message); });
  }

  void Expire() {
    std::erase_if(heard, [this](const auto& entry) { return world.now() - entry.second >= session; });
    if (leader && !heard.contains(leader->second)) leader.reset();
  }

  /// `session_id` 0: a new session is wanted. `leads_since`: the epoch in which the member believes that it leads.
  Answer OnAsk(const std::string& id, int64_t& session_id, int64_t leads_since) {
    Expire();
    Answer answer;
    if (session_id == 0) {
      session_id = ++last_session;
    } else if (!heard.contains(session_id)) {
      answer.expired = true;
      return answer;
    }
    heard[session_id] = world.now();
    const auto shun = shunned.find(id);
    const bool waits = shun != shunned.end() && shun->second > world.now();
    if (!leader && !waits) leader = {id, session_id};
    answer.leads = leader && leader->second == session_id;
    if (leader) answer.leader = leader->first;
    if (answer.leads && (leads_since == 0 || leads_since != epoch)) {
      ++epoch;
      shunned.clear();
      answer.rows = tables;
    }
    answer.epoch = epoch;
    return answer;
  }

  env::CommitStatus OnCommit(int64_t session_id, int64_t fence, const std::vector<env::Row>& rows) {
    Expire();
    if (!heard.contains(session_id) && !bugs.no_fence) {
      return env::CommitError{env::CommitFailure::kGone, "the session has ended"};
    }
    if (fence != epoch) {
      if (!bugs.no_fence) return env::CommitError{env::CommitFailure::kFenced, "another process has led since"};
      ++foul_writes;
    }
    const double failure = world.faults().store_failure;
    if (failure > 0 && world.rng().Chance(failure)) {
      ++world.counts()["store failure"];
      return env::CommitError{env::CommitFailure::kRefused, "the disk is full"};
    }
    for (const env::Row& row : rows) {
      if (row.value) {
        tables[row.table][row.key] = *row.value;
      } else {
        tables[row.table].erase(row.key);
      }
    }
    return {};
  }

  void OnYield(const std::string& id, int64_t session_id) {
    if (!leader || leader->second != session_id) return;
    leader.reset();
    shunned[id] = world.now() + session * 2;
  }
};

class SimSharedStore final : public env::Store {
 public:
  SimSharedStore(std::shared_ptr<SimQuorum::State> quorum, env::Loop& loop, std::string id, int64_t session,
                 int64_t fence, Tables rows)
      : quorum_(std::move(quorum)),
        loop_(loop),
        id_(std::move(id)),
        session_(session),
        fence_(fence),
        rows_(std::move(rows)) {}

  void Commit(std::vector<env::Row> rows, std::function<void(env::CommitStatus)> done) override {
    quorum_->Up(id_, [quorum = quorum_, id = id_, session = session_, fence = fence_, alive = alive_.watch(), rows,
                      done = std::move(done), loop = &loop_] {
      const env::CommitStatus status = quorum->OnCommit(session, fence, rows);
      quorum->Down(id, [alive, loop, done, status] {
        if (!alive) return;
        loop->Post([alive, done, status] {
          if (alive) done(status);
        });
      });
    });
  }

  base::Result<std::vector<env::Row>> Load(const std::string& table) override {
    std::vector<env::Row> out;
    for (const auto& [key, value] : rows_[table]) out.push_back({table, key, value});
    return out;
  }
  std::string Name() const override { return "of a simulated quorum"; }

 private:
  std::shared_ptr<SimQuorum::State> quorum_;
  env::Loop& loop_;
  const std::string id_;
  const int64_t session_;
  const int64_t fence_;
  Tables rows_;
  env::Alive alive_;
};

/// The member's side: asks eight times a session, and may act for three quarters of one from a question that was
/// answered well.
class SimElector final : public env::Elector {
 public:
  SimElector(std::shared_ptr<SimQuorum::State> quorum, Machine& machine, std::string id)
      : quorum_(std::move(quorum)), world_(quorum_->world), loop_(machine.loop()), id_(std::move(id)) {}
  ~SimElector() override { loop_.Cancel(timer_); }

  void Start(Listener listener) override {
    listener_ = std::move(listener);
    Ask();
  }
  bool MayAct() const override { return leading_ && world_.now() < until_; }
  std::optional<std::string> Leader() const override { return leader_; }
  base::Duration SessionTime() const override { return quorum_->session; }

  void Yield() override {
    if (!leading_) return;
    loop_.Post(alive_([this] {
      Depose("it was told to step down");
      quorum_->Up(id_, [quorum = quorum_, id = id_, session = session_] { quorum->OnYield(id, session); });
    }));
  }

 private:
  void Ask() {
    timer_ = loop_.After({quorum_->session.ns / 8}, [this] { Ask(); });
    if (leading_ && !MayAct() && !in_doubt_) {
      in_doubt_ = true;
      loop_.After({quorum_->session.ns / 4}, alive_([this, since = until_] {
                    if (in_doubt_ && until_ == since) Depose("the quorum does not answer");
                  }));
    }
    quorum_->Up(id_, [quorum = quorum_, id = id_, session = session_, epoch = epoch_, sent = world_.now(), this,
                      alive = alive_.watch()]() mutable {
      const SimQuorum::State::Answer answer = quorum->OnAsk(id, session, epoch);
      quorum->Down(id, [this, alive, answer, session, sent] {
        if (!alive) return;
        loop_.Post([this, alive, answer, session, sent] {
          if (alive) Answered(answer, session, sent);
        });
      });
    });
  }

  void Answered(const SimQuorum::State::Answer& answer, int64_t session, base::Instant sent) {
    if (session_ != 0 && session != session_) return;  // of a session before
    if (answer.expired) {
      Depose("the session has ended");
      session_ = 0;
      return;
    }
    session_ = session;
    leader_ = answer.leader;
    if (!answer.leads) return Depose("another process leads");
    const Duration lease{quorum_->session.ns / 4 * (quorum_->bugs.late_step_down ? 12 : 3)};
    if (answer.rows) {
      Depose("elected anew");
      leading_ = true;
      epoch_ = answer.epoch;
      until_ = sent + lease;
      listener_.elected(std::make_unique<SimSharedStore>(quorum_, loop_, id_, session_, epoch_, *answer.rows));
      return;
    }
    if (!leading_ || answer.epoch != epoch_) return;  // it was deposed since it asked, and asks again
    const bool could = MayAct();
    until_ = std::max(until_, sent + lease);
    if (could || !MayAct()) return;
    in_doubt_ = false;
    listener_.confirmed();
  }

  void Depose(const std::string& why) {
    in_doubt_ = false;
    epoch_ = 0;
    if (std::exchange(leading_, false)) listener_.deposed(why);
  }

  std::shared_ptr<SimQuorum::State> quorum_;
  World& world_;
  env::Loop& loop_;
  const std::string id_;
  Listener listener_;
  int64_t session_ = 0;
  std::optional<std::string> leader_;
  bool leading_ = false;
  int64_t epoch_ = 0;  // in which it leads; 0: it does not
  base::Instant until_{};
  bool in_doubt_ = false;
  env::Loop::TimerId timer_ = 0;
  env::Alive alive_;
};

SimQuorum::SimQuorum(World& world, Duration session, QuorumBugs bugs)
    : state_(std::make_shared<State>(world, session, bugs)) {}
// Messages hold the state, and it holds those that came to a cut.
SimQuorum::~SimQuorum() {
  for (auto& [id, wire] : state_->wires) wire.held.clear();
}

std::unique_ptr<env::Elector> SimQuorum::Join(Machine& machine, const std::string& id) {
  return std::make_unique<SimElector>(state_, machine, id);
}
void SimQuorum::Cut(const std::string& id, bool cut) {
  State::Wire& wire = state_->wires[id];
  wire.cut = cut;
  if (cut) return;
  for (const auto& message : std::exchange(wire.held, {})) message();
}
void SimQuorum::Delay(const std::string& id, Duration delay) { state_->wires[id].delay = delay; }
int64_t SimQuorum::foul_writes() const { return state_->foul_writes; }
int64_t SimQuorum::epochs() const { return state_->epoch; }

}  // namespace fairlead::env_sim
