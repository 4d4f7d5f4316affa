#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/state.h"
#include "scheduler/books/books.h"
#include "scheduler/books/policy.h"

namespace fairlead::scheduler::native {

/// A base for policies that are two orders: which application is served next (RankOf), and which node has its container
/// (ScoreOf). It keeps both orders, serves masters first, passes over sizes for which no node has room, deals an
/// ask over nodes, and says why an ask waits. A policy of its own is
///
///     class Mine final : public PolicyOf<Mine, SmallPolicy> { ... };  // RankOf, ScoreOf, perhaps the other hooks
///
/// and has no state beside this one's. Limits of queues and users hold; there are no shares, no locality, no
/// preemption. A pass costs O(sizes that are waited for), O(log applications) for each that is looked at, and O(nodes
/// with room, log nodes) for each grant; a changed node costs O(log nodes).
class SmallPolicy : public Policy {
 public:
  void AppEntered(const Books& books, AppSlot slot) override { Follow(books, slot); }
  void AppChanged(const Books& books, AppSlot slot) override { Follow(books, slot); }
  void AppLeaves(const Books&, AppSlot slot) override { StopWaiting(slot); }
  void Publish(Books& books, NodeIndex node) override { Reorder(books, node); }
  void Place(Core& core) override;

  /// In the order of scores.
  void VisitRoom(const Books& books, const Shape& shape, const std::function<bool(NodeIndex)>& visit) const override;
  model::scheduler::Pending GangLimit(const Books& books, AppSlot slot, int64_t gang) const override;
  model::scheduler::Pending Why(const Books& books, AppSlot slot, const Ask& ask, base::Instant now) const override;
  void Mix(base::StateHasher& hash) const override;
  std::string Check(const Books& books) const override;

 protected:
  /// The least first, equal ones in the order in which they came. Asked again whenever the application asks for more or
  /// less, or has more or less.
  virtual int64_t RankOf(const Books&, AppSlot) const { return 0; }
  /// Of an open node, at least 0: the largest first, of equal ones the one that registered last. Asked again whenever
  /// more or less is free there.
  virtual int64_t ScoreOf(const Node&) const { return 0; }
  /// No node of this score or of a lower one has room for the size.
  virtual bool TooLow(int64_t, const Shape&) const { return false; }
  /// One container a node in turn, instead of as many as fit on one node after another.
  virtual bool SpreadsOut() const { return false; }
  /// How many containers at a time: then the application is ranked again, and the first in order has its turn.
  virtual int32_t AtOnce() const { return INT32_MAX; }

 private:
  using Rank = std::pair<int64_t, AppIndex>;
  using Waiting = std::map<ShapeId, std::set<Rank>>;

  /// What an application waits for.
  struct Seat {
    Rank rank;
    bool master = false;
    std::vector<ShapeId> shapes;
    FL_STATE(rank, master, shapes)
  };
  class Turns;

  int64_t ScoreOrNone(const Books& books, NodeIndex node) const;
  void Reorder(const Books& books, NodeIndex node);
  void Follow(const Books& books, AppSlot slot);
  void StopWaiting(AppSlot slot);
  void ServeWaiting(Core& core, bool masters);
  bool IsFull(const Books& books, ShapeId shape) const;
  void Serve(Core& core, AppSlot slot);
  void Deal(Core& core, AppSlot slot, Ask& ask, int32_t& left);

  std::vector<Seat> seats_;                        // by AppSlot
  std::array<Waiting, 2> waiting_;                 // [1]: for their master
  std::map<ShapeId, ShapeKey> full_;               // no node has room, as far as is known
  std::set<std::pair<int64_t, NodeIndex>> order_;  // by score; read from its end
  std::vector<int64_t> scores_;                    // by node, as in order_; -1: not there

 public:
  FL_STATE_PART(seats_, waiting_, full_, order_, scores_)
};

}  // namespace fairlead::scheduler::native
