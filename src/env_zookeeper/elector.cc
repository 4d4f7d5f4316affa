#include "env_zookeeper/elector.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <utility>

#include "base/stored.h"
#include "env/alive.h"
#include "env/timer.h"
#include "env_zookeeper/closing.h"
#include "env_zookeeper/layout.h"
#include "env_zookeeper/row_copy.h"
#include "env_zookeeper/session.h"
#include "env_zookeeper/store.h"

namespace fairlead::env_zookeeper {

namespace {

using base::Duration;

constexpr Duration kRetry = Duration::Millis(100);
constexpr Duration kClocksApart = Duration::Seconds(60);
// Between two updates of a standby's copy: ten times as long as the last one took, within these.
constexpr Duration kFollowPauseMin = Duration::Millis(250);
constexpr Duration kFollowPauseMax = Duration::Seconds(2);

/// Goes on while this process is stopped, and while the machine sleeps.
base::Instant Clock() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return {int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec};
}

class ZooKeeperElector final : public env::Elector {
 public:
  ZooKeeperElector(env::Loop& loop, ElectorOptions options)
      : loop_(loop), options_(std::move(options)), layout_{options_.root} {}

  void Start(Listener listener) override {
    listener_ = std::move(listener);
    Connect();
  }

  bool MayAct() const override { return leading_ && !yielding_ && Clock() < may_act_until_; }

  std::optional<std::string> Leader() const override { return leader_; }
  Duration SessionTime() const override { return timeout_; }

  std::optional<std::string> Seen(const std::string& table, const std::string& key) const override {
    return copy_ ? copy_->Find(table, key) : std::nullopt;
  }

  void Yield() override;

 private:
  /// The callback of a call of this session; dropped when the session has gone.
  template <class Done>
  auto Guard(Done done) {
    return alive_([turn = turn_, this, done = std::move(done)](auto&&... answer) mutable {
      if (turn == turn_) done(std::forward<decltype(answer)>(answer)...);
    });
  }
  void Later(std::function<void()> what) { loop_.Post(Guard(std::move(what))); }
  void Again(std::function<void()> what) { loop_.After(kRetry, Guard(std::move(what))); }

  // ---- The session ----

  void Connect() {
    ++turn_;
    connected_ = competing_ = following_ = false;
    Session::Options options{options_.servers, options_.timeout, options_.scheme, options_.identity};
    session_ = std::make_shared<Session>(
        loop_, options, [this](Session::Event event, const std::string& path) { OnEvent(event, path); });
    copy_ = std::make_unique<RowCopy>(session_, layout_);
  }

  void OnEvent(Session::Event event, const std::string& path) {
    switch (event) {
      case Session::Event::kConnected:
        listener_.notice("connected to ZooKeeper (" + options_.servers + ")");
        if (!std::exchange(connected_, true)) return Connected();
        if (competing_ && !elected_) WatchLeader();
        return;
      case Session::Event::kDisconnected:
        leader_.reset();
        return listener_.notice("the connection to ZooKeeper is lost");
      case Session::Event::kExpired:
        return Expired();
      case Session::Event::kRefused:
        return Refuse("ZooKeeper does not accept the identity of " + options_.scheme + "; see " +
                      options_.keys.identity);
      case Session::Event::kChanged:
        if (path == layout_.Leader() && !leading_) WatchLeader();
        if (path == layout_.Head()) Follow();
        return;
    }
  }

  void Expired() {
    const std::shared_ptr<Session> old = std::move(session_);
    copy_.reset();
    closing_.reset();
    ++turn_;
    leader_.reset();
    Later([this, old] {
      Depose("the session with ZooKeeper has ended");
      Connect();
    });
  }

  void Connected() {
    timeout_ = session_->timeout();
    if (timeout_ > options_.timeout) {
      listener_.notice("ZooKeeper gives sessions of " + std::to_string(timeout_.millis()) + " ms where " +
                       std::to_string(options_.timeout.millis()) +
                       " ms were asked for: a takeover waits that much longer (tickTime and minSessionTimeout of its "
                       "servers)");
    }
    MakePath(0);
  }

  void Refuse(const std::string& why) {
    ++turn_;
    Depose(why);
    listener_.refused(base::Error{why});
  }

  /// True when the step is to end here: it is tried again, or cannot be.
  bool Stuck(Rc rc, const std::string& path, std::function<void()> again) {
    if (rc == Rc::kNoAuth) {
      Refuse("ZooKeeper refuses access to " + path + ": its ACL is for another identity. " +
             (options_.keys.identity.empty() ? "Choose"
                                             : "Write that one into " + options_.keys.identity + ", or choose") +
             " another place by " + options_.keys.place);
      return true;
    }
    if (rc == Rc::kExpired) return true;  // the event comes
    if (rc != Rc::kLost && rc != Rc::kOther) return false;
    Again(std::move(again));
    return true;
  }

  // ---- The place ----

  /// Makes the root, from its first component on, then what lies in it.
  void MakePath(size_t from) {
    const size_t slash = layout_.root.find('/', from + 1);
    const std::string path = layout_.root.substr(0, slash);
    const bool is_root = slash == std::string::npos;
    session_->Multi({{Op::Kind::kCreate, path, is_root ? kMark : ""}},
                    Guard([this, path, slash, is_root, from](const Session::MultiAnswer& answer) {
                      if (Stuck(answer.rc, path, [this, from] { MakePath(from); })) return;
                      is_root ? CheckMark() : MakePath(slash);
                    }));
  }

  void CheckMark() {
    session_->Get(layout_.root, false, Guard([this](Rc rc, const Node& node) {
                    if (Stuck(rc, layout_.root, [this] { CheckMark(); })) return;
                    if (node.value != kMark) {
                      return Refuse(layout_.root + " in ZooKeeper holds something else than a state of this release (" +
                                    kMark + "): choose another place by " + options_.keys.place);
                    }
                    MakeNodes(0);
                  }));
  }

  /// One by one: somebody may have made some of them.
  void MakeNodes(size_t made) {
    const std::pair<std::string, std::string> nodes[] = {{layout_.Members(), ""},
                                                         {layout_.Epoch(), ""},
                                                         {layout_.Head(), base::EncodeStored(Head{})},
                                                         {layout_.Rows(), ""}};
    if (made == std::size(nodes)) {
      // A former life of this member may not have ended yet.
      join_until_ = loop_.Now() + timeout_ * 2 + Duration::Seconds(1);
      return Join();
    }
    const auto& [path, value] = nodes[made];
    session_->Multi({{Op::Kind::kCreate, path, value}},
                    Guard([this, made, where = path](const Session::MultiAnswer& answer) {
                      if (Stuck(answer.rc, where, [this, made] { MakeNodes(made); })) return;
                      MakeNodes(made + 1);
                    }));
  }

  void Join() {
    session_->Multi({{Op::Kind::kCreateEphemeral, layout_.Member(options_.id), options_.about}},
                    Guard([this](const Session::MultiAnswer& answer) {
                      if (Stuck(answer.rc, layout_.Member(options_.id), [this] { Join(); })) return;
                      if (answer.rc != Rc::kOk) return LookAtMember();
                      CompareClocks();
                      Secure();
                    }));
  }

  /// Our member's node has just been made. Nothing is decided by it: clocks that differ confuse people, and tokens.
  void CompareClocks() {
    session_->Get(layout_.Member(options_.id), false, Guard([this](Rc rc, const Node& node) {
                    const int64_t ahead_ms = loop_.Wall().ms - node.made_at.ms;
                    if (rc != Rc::kOk || std::abs(ahead_ms) < kClocksApart.millis()) return;
                    listener_.warning("this machine's clock is " + std::to_string(std::abs(ahead_ms) / 1000) + " s " +
                                      (ahead_ms > 0 ? "ahead of" : "behind") +
                                      " ZooKeeper's: set one of them right. Leading does not depend on it; times that "
                                      "are shown and ends of tokens' lives do");
                  }));
  }

  void LookAtMember() {
    session_->Get(layout_.Member(options_.id), false, Guard([this](Rc rc, const Node& node) {
                    if (Stuck(rc, layout_.Member(options_.id), [this] { LookAtMember(); })) return;
                    if (rc == Rc::kOk && node.owner == session_->id()) return Secure();
                    if (rc == Rc::kOk && loop_.Now() > join_until_) {
                      return Refuse("another process takes part as " + options_.id + " (" + node.value +
                                    "): give each its own " + options_.keys.id);
                    }
                    Again([this] { Join(); });
                  }));
  }

  // ---- Nodes that lie open ----

  /// Once in this process's life: then nobody else makes any.
  void Secure() {
    if (options_.scheme.empty() || secured_) return Compete();
    closing_ = std::make_unique<Closing>(session_, layout_, options_.id);
    closing_->Run(Guard([this](Rc rc, const std::string& path) {
      if (Stuck(rc, path, [this] { Secure(); })) return;
      if (rc != Rc::kOk) return Again([this] { Secure(); });
      secured_ = true;
      if (const size_t opened = closing_->opened(); opened > 0) {
        listener_.warning("of the nodes below " + layout_.root + " in ZooKeeper " + std::to_string(opened) +
                          " lay open to everybody who reaches it, " + closing_->first_open() +
                          " first. They are closed now, and the keys of all tokens are made anew. Who could read and "
                          "write there may have written applications: look through them");
      }
      foreign_until_ = loop_.Now() + timeout_ * 2 + Duration::Seconds(1);
      AwaitForeignLeader();
    }));
  }

  /// Goes on when no leader of another identity is there. A manager without ours that leads is refused everything now,
  /// and gives up within a session. What is there afterwards somebody has planted.
  void AwaitForeignLeader() {
    session_->Get(layout_.Epoch(), false, Guard([this](Rc rc, const Node& epoch) {
                    if (Stuck(rc, layout_.Epoch(), [this] { AwaitForeignLeader(); })) return;
                    LookAtForeignLeader(epoch.version);
                  }));
  }

  /// `epoch` was the newest before: another member of our identity that is elected since has changed it, and its node
  /// stays.
  void LookAtForeignLeader(int32_t epoch) {
    session_->GetAcl(
        layout_.Leader(), Guard([this, epoch](Rc rc, const std::string& acl) {
          if (Stuck(rc, layout_.Leader(), [this] { AwaitForeignLeader(); })) return;
          if (rc == Rc::kNoNode || closing_->IsOwn(acl)) return Compete();
          if (loop_.Now() < foreign_until_) return Again([this] { AwaitForeignLeader(); });
          listener_.warning(layout_.Leader() + " in ZooKeeper is nobody's of this identity, and is removed");
          session_->Multi({{Op::Kind::kCheck, layout_.Epoch(), "", epoch}, {Op::Kind::kDelete, layout_.Leader(), ""}},
                          Guard([this](const Session::MultiAnswer&) { Compete(); }));
        }));
  }

  // ---- The election ----

  void Compete() {
    competing_ = true;
    if (yielding_) return WatchLeader();
    const base::Instant sent = Clock();
    session_->Multi(
        {{Op::Kind::kCreateEphemeral, layout_.Leader(), options_.id}, {Op::Kind::kSet, layout_.Epoch(), options_.id}},
        Guard([this, sent](const Session::MultiAnswer& answer) {
          if (Stuck(answer.rc, layout_.Leader(), [this] { Compete(); })) return;
          answer.rc == Rc::kOk ? Elected(answer.versions[1], sent) : WatchLeader();
        }));
  }

  void WatchLeader() {
    if (elected_) return;
    session_->Get(layout_.Leader(), true, Guard([this](Rc rc, const Node& node) {
                    if (elected_ || Stuck(rc, layout_.Leader(), [this] { WatchLeader(); })) return;
                    if (rc == Rc::kNoNode) {
                      leader_.reset();
                      // Without a node there is no watch on its making.
                      if (yielding_) return Again([this] { WatchLeader(); });
                      return Compete();
                    }
                    if (node.owner == session_->id()) return yielding_ ? Release() : TakeUpOwn();
                    leader_ = node.value;
                    StopYielding();
                    Follow();
                  }));
  }

  /// The node is ours: the answer to its making was lost, or we stepped down for want of answers and they are back. A
  /// new version of /epoch shuts out what we sent as the leader before. It follows one that was the newest while the
  /// node was ours, so if another leads meanwhile it is not made.
  void TakeUpOwn() {
    session_->Get(layout_.Epoch(), false, Guard([this](Rc rc, const Node& epoch) {
                    if (Stuck(rc, layout_.Epoch(), [this] { TakeUpOwn(); })) return;
                    session_->Get(layout_.Leader(), false,
                                  Guard([this, version = epoch.version](Rc leader_rc, const Node& leader) {
                                    if (Stuck(leader_rc, layout_.Leader(), [this] { TakeUpOwn(); })) return;
                                    if (leader.owner != session_->id()) return WatchLeader();
                                    Renew(version);
                                  }));
                  }));
  }

  void Renew(int32_t version) {
    const base::Instant sent = Clock();
    session_->Multi({{Op::Kind::kSet, layout_.Epoch(), options_.id, version}},
                    Guard([this, sent](const Session::MultiAnswer& answer) {
                      if (Stuck(answer.rc, layout_.Epoch(), [this] { WatchLeader(); })) return;
                      answer.rc == Rc::kOk ? Elected(answer.versions[0], sent) : WatchLeader();
                    }));
  }

  void Release() {
    session_->Multi({{Op::Kind::kCheck, layout_.Epoch(), "", fence_}, {Op::Kind::kDelete, layout_.Leader(), ""}},
                    Guard([this](const Session::MultiAnswer&) { WatchLeader(); }));
  }

  void StopYielding() {
    yielding_ = false;
    yield_timer_.Stop();
  }

  void Elected(int32_t fence, base::Instant sent) {
    elected_ = true;
    fence_ = fence;
    leader_ = options_.id;
    may_act_until_ = sent + Lease();
    Ask();
    LookForMark();
  }

  void LookForMark() {
    if (options_.scheme.empty()) return Read();
    session_->Get(layout_.LaidOpen(), false, Guard([this, fence = fence_](Rc rc, const Node&) {
                    if (!elected_ || fence != fence_) return;
                    if (Stuck(rc, layout_.LaidOpen(), [this] { LookForMark(); })) return;
                    laid_open_ = rc == Rc::kOk;
                    Read();
                  }));
  }

  void Read() {
    copy_->Update(Guard([this, fence = fence_](Rc rc, const std::string& reason) {
      if (!elected_ || fence != fence_) return;
      if (rc == Rc::kOther) return RefuseDamage(reason);
      if (rc == Rc::kNoNode) return Again([this] { Read(); });  // a row went while the names were read
      if (Stuck(rc, layout_.Rows(), [this] { Read(); })) return;
      const size_t fetched = copy_->fetched();
      base::Result<LoadedRows> rows = copy_->Take();
      if (!rows.ok()) return RefuseDamage(rows.error().message);
      listener_.notice("elected over " + std::to_string(rows->head.rows) + " rows; " + std::to_string(fetched) +
                       " nodes were read since");
      leading_ = true;
      listener_.elected(
          std::make_unique<ZooKeeperStore>(loop_, session_, layout_, fence_, std::move(*rows), laid_open_,
                                           Guard([this](const env::CommitError& error) { Depose(error.message); })));
    }));
  }

  void RefuseDamage(const std::string& reason) {
    Refuse("the state in ZooKeeper is damaged: " + reason + ". Restore it from a backup, or remove " + layout_.root +
           " to start without what it holds");
  }

  /// Keeps the copy up to date while another leads, so that little is left to be read at an election.
  void Follow() {
    stale_ = true;
    if (elected_ || following_) return;
    following_ = true;
    stale_ = false;
    copy_->Update(Guard([this, began = Clock()](Rc rc, const std::string&) {
      stale_ |= rc != Rc::kOk;
      loop_.After(std::clamp((Clock() - began) * 10, kFollowPauseMin, kFollowPauseMax), Guard([this] {
                    following_ = false;
                    if (stale_) Follow();
                  }));
    }));
  }

  // ---- The right to act ----

  Duration Lease() const { return {timeout_.ns / 4 * 3}; }

  /// Asks whether we lead, now and from time to time.
  void Ask() {
    ask_timer_.After({timeout_.ns / 8}, Guard([this] { Ask(); }));
    if (leading_ && !MayAct() && !in_doubt_) {
      in_doubt_ = true;
      const base::Instant since = may_act_until_;
      loop_.After({timeout_.ns / 4}, Guard([this, since] {
                    if (in_doubt_ && may_act_until_ == since) Depose("ZooKeeper does not answer");
                  }));
    }
    if (asking_) return;
    asking_ = true;
    session_->Multi({{Op::Kind::kCheck, layout_.Epoch(), "", fence_},
                     {Op::Kind::kSet, layout_.Member(options_.id), options_.about}},
                    Guard([this, sent = Clock(), fence = fence_](const Session::MultiAnswer& answer) {
                      asking_ = false;
                      if (elected_ && fence == fence_) Answered(answer, sent);
                    }));
  }

  void Answered(const Session::MultiAnswer& answer, base::Instant sent) {
    if (answer.rc == Rc::kLost || answer.rc == Rc::kExpired) return;
    if (answer.rc != Rc::kOk) return Depose("another process leads (" + answer.reason + ")");
    const bool could = MayAct();
    may_act_until_ = std::max(may_act_until_, sent + Lease());
    if (!leading_ || could || !MayAct()) return;
    in_doubt_ = false;
    listener_.confirmed();
  }

  void Depose(const std::string& why) {
    if (!std::exchange(elected_, false)) return;
    ask_timer_.Stop();
    in_doubt_ = asking_ = false;
    leader_.reset();
    if (std::exchange(leading_, false)) listener_.deposed(why);
    // An answer that was lost, a leader that has gone meanwhile: the node tells.
    if (session_ && !yielding_) Again([this] { WatchLeader(); });
  }

  env::Loop& loop_;
  const ElectorOptions options_;
  const Layout layout_;
  Listener listener_;
  std::shared_ptr<Session> session_;
  Duration timeout_;
  uint64_t turn_ = 0;       // of sessions
  bool connected_ = false;  // this session was, once
  bool competing_ = false;  // it is a member
  base::Instant join_until_;
  std::unique_ptr<Closing> closing_;
  bool secured_ = false;         // nothing below the root is open
  base::Instant foreign_until_;  // a leader without our identity is waited for
  bool laid_open_ = false;       // Layout::LaidOpen was there at the election
  std::optional<std::string> leader_;
  std::unique_ptr<RowCopy> copy_;  // of this session
  bool following_ = false;         // it is brought up to date, or was just now
  bool stale_ = false;             // something has changed since
  bool yielding_ = false;
  env::Timer yield_timer_{loop_};
  bool elected_ = false;  // /leader is ours
  bool leading_ = false;  // and the listener was told
  int32_t fence_ = 0;     // the version of /epoch that we made
  base::Instant may_act_until_;
  bool in_doubt_ = false;  // that moment has passed
  bool asking_ = false;
  env::Timer ask_timer_{loop_};
  env::Alive alive_;
};

void ZooKeeperElector::Yield() {
  if (!leading_) return;
  yielding_ = true;
  yield_timer_.After(timeout_ * 2, [this] { StopYielding(); });
  // This process acts no more (MayAct). To take apart what it led may take a while, for which the next leader need not
  // wait.
  Later([this] {
    Release();
    Depose("it was told to step down");
  });
}

}  // namespace

std::unique_ptr<env::Elector> MakeElector(env::Loop& loop, ElectorOptions options) {
  return std::make_unique<ZooKeeperElector>(loop, std::move(options));
}

}  // namespace fairlead::env_zookeeper
