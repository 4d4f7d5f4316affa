#include "env_zookeeper/snapshot.h"

#include <cerrno>
#include <utility>

#include "env/alive.h"
#include "env_zookeeper/row_copy.h"
#include "env_zookeeper/session.h"

namespace fairlead::env_zookeeper {
namespace {

constexpr base::Duration kPatience = base::Duration::Seconds(20);
/// Between two tries to read rows, where one went meanwhile.
constexpr base::Duration kAgain = base::Duration::Millis(50);

class Reading final : public Snapshot {
 public:
  Reading(env::Loop& loop, const ElectorOptions& options, Done done)
      : loop_(loop), servers_(options.servers), layout_{options.root}, done_(std::move(done)) {
    const Session::Options ours{options.servers, options.timeout, options.scheme, options.identity};
    session_ = std::make_shared<Session>(loop_, ours, [this](Session::Event event, const std::string&) { On(event); });
    copy_ = std::make_unique<RowCopy>(session_, layout_);
    loop_.After(
        kPatience, alive_([this] {
          End(base::Error{"ZooKeeper at " + servers_ + " has not given the rows below " + layout_.root + " within " +
                          std::to_string(kPatience.millis() / 1000) + " s" + (last_.empty() ? "" : ": " + last_)});
        }));
  }

 private:
  void On(Session::Event event) {
    if (event == Session::Event::kConnected) LookForHead();
    if (event == Session::Event::kRefused) End(base::Error{"ZooKeeper at " + servers_ + " refuses the identity"});
    if (event == Session::Event::kExpired) End(base::Error{"the session with ZooKeeper at " + servers_ + " has ended"});
  }
  void LookForHead() {
    session_->Look(
        layout_.Head(), alive_([this](Rc rc, const Node&) {
          if (rc == Rc::kOk) return Read();
          if (rc == Rc::kNoNode) {
            return End(base::Error{"there is no state below " + layout_.root + " in ZooKeeper at " + servers_, ENOENT});
          }
          if (rc == Rc::kNoAuth) return End(NotOurs());
        }));
  }
  void Read() {
    copy_->Update(alive_([this](Rc rc, const std::string& reason) {
      last_ = reason;
      if (rc == Rc::kNoAuth) return End(NotOurs());
      if (rc == Rc::kOther) return End(base::Error{reason});
      if (rc != Rc::kOk) return Again();
      base::Result<LoadedRows> taken = copy_->Take();
      if (!taken.ok()) return End(taken.error());
      std::vector<env::Row> rows;
      rows.reserve(taken->values.size());
      for (auto& [id, value] : taken->values) rows.push_back({id.first, id.second, std::move(value)});
      End(std::move(rows));
    }));
  }
  /// A row went while others were read; a lost connection comes again by itself.
  void Again() {
    loop_.After(kAgain, alive_([this] { Read(); }));
  }
  base::Error NotOurs() const {
    return base::Error{layout_.root + " in ZooKeeper at " + servers_ + " is for another identity than hadoop.zk.auth"};
  }
  void End(base::Result<std::vector<env::Row>> rows) {
    if (done_) std::exchange(done_, nullptr)(std::move(rows));
  }

  env::Loop& loop_;
  const std::string servers_;
  const Layout layout_;
  Done done_;
  std::string last_;  // why the rows could not be read
  std::shared_ptr<Session> session_;
  std::unique_ptr<RowCopy> copy_;
  env::Alive alive_;
};

}  // namespace

std::unique_ptr<Snapshot> ReadSnapshot(env::Loop& loop, const ElectorOptions& options, Snapshot::Done done) {
  return std::make_unique<Reading>(loop, options, std::move(done));
}

}  // namespace fairlead::env_zookeeper
