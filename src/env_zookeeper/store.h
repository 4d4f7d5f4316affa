#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "env/alive.h"
#include "env/store.h"
#include "env_zookeeper/layout.h"
#include "env_zookeeper/row_copy.h"
#include "env_zookeeper/session.h"

namespace fairlead::env_zookeeper {

/// The rows of one leadership. Each transaction checks the version of /epoch that this leader made: one that was
/// deposed writes nothing more, to no node. Commits that wait together share a transaction, one is under way at a time.
/// After a lost connection /head tells whether the transaction took place.
class ZooKeeperStore final : public env::Store {
 public:
  /// `lost` is told once, after the commits that learnt of it: the leadership is over.
  using Lost = std::function<void(const env::CommitError&)>;
  ZooKeeperStore(env::Loop& loop, std::shared_ptr<Session> session, Layout layout, int32_t fence, LoadedRows rows,
                 bool laid_open, Lost lost);
  ~ZooKeeperStore() override;

  void Commit(std::vector<env::Row> rows, std::function<void(env::CommitStatus)> done) override;
  /// Gives the rows of a table once: they are not kept.
  base::Result<std::vector<env::Row>> Load(const std::string& table) override;
  std::string Name() const override { return "ZooKeeper " + layout_.root; }
  bool WasOpen() const override { return laid_open_; }
  env::ForeignRows Foreign() const override { return foreign_; }

 private:
  struct Waiting {
    std::vector<env::Row> rows;
    std::function<void(env::CommitStatus)> done;
  };
  /// A part of the queue as transactions: those before the last write parts of long rows only.
  struct Batch {
    std::vector<Waiting> commits;
    size_t bytes = 0;
    std::vector<std::vector<Op>> transactions;
    std::vector<std::string> parts;  // the names that those write
    size_t next = 0;
    int tries = 0;
    Head head;  // of the state after it
    std::map<RowId, std::optional<RowPlace>> places;
  };

  void Begin();
  void Build();
  void PutRow(const RowId& id, const std::optional<std::string>& value, std::vector<Op>& last);
  Op Check() const { return {Op::Kind::kCheck, layout_.Epoch(), "", fence_}; }
  void Send();
  void Sent(const Session::MultiAnswer& answer);
  void AfterLoss();
  void Judge(const std::string& head, int32_t epoch);
  void LookAgain(Rc rc);
  void TooLong();
  void Committed();
  void Over(const env::CommitError& error);
  /// One after the other, as far as they can be: others may have hung nodes below them.
  void RemoveLeftovers();

  env::Loop& loop_;
  std::shared_ptr<Session> session_;
  const Layout layout_;
  const int32_t fence_;
  Head head_;  // its version goes up with each attempt, so that no name is used twice
  std::map<RowId, RowPlace> places_;
  std::map<RowId, std::string> values_;
  std::vector<std::string> leftovers_;
  bool removing_ = false;  // one of them
  const std::set<uint64_t> taken_;
  const env::ForeignRows foreign_;
  bool laid_open_;  // and /laid-open is still there
  size_t batch_bytes_max_ = kNodeBytesMax;
  size_t part_bytes_max_ = kNodeBytesMax;
  Lost lost_;
  std::deque<Waiting> queue_;
  std::unique_ptr<Batch> batch_;          // under way
  std::optional<env::CommitError> over_;  // why nothing is written any more
  env::Alive alive_;
};

}  // namespace fairlead::env_zookeeper
