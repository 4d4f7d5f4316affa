#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"
#include "scheduler/books/books.h"
#include "scheduler/books/run_times.h"
#include "scheduler/fairlead/budgets.h"
#include "scheduler/fairlead/config.h"
#include "scheduler/fairlead/maintenance.h"
#include "scheduler/fairlead/outlook.h"
#include "scheduler/fairlead/promises.h"
#include "scheduler/fairlead/use_learner.h"

namespace fairlead::scheduler::native {

/// One container of an ask has a start that is kept.
struct Promise {
  AppSlot app;
  uint64_t ask = 0;  // serial
  model::Resources size;
  base::Duration run = kForever;  // as long as it will run at the most, in nine of ten cases
  base::Instant start;            // as planned now
  base::Instant latest;           // no grant to others makes it start later
  base::Instant told;             // `latest` as it was when it was promised
  FL_STATE(app, ask, size, run, start, latest, told)
};

/// Protected backfill (conservative for few asks: Mu'alem and Feitelson 2001; with slack: Talby and Feitelson 1999).
/// The first asks of a queue that find no room get a start on one node: the first moment at which those that run there
/// will have left enough, by the run times of their kinds. Others start on that node if every promise there can still
/// be kept, because they end before, fit beside, or the promise has that much slack. How late a start may become, is
/// settled when it is promised: the slack is `slack_percent` of the time that the whole cluster would work for it.
///
/// Nobody knows how long containers run: a container is expected to end when nine of ten of its kind did, one that ran
/// on is given twice as long as it is late (at most a quarter of its age), and one of an unknown kind runs for ever.
/// Where a promise can be kept no more it is moved, and counted as late when it is served.
class Backfill {
 public:
  /// What the timetable is read against: the books, who knows the kinds, what limits starts besides.
  struct In {
    const Books& books;
    const UseLearner& names;
    const Budgets& budgets;
    const Maintenance& maintenance;
  };
  /// What is to start now.
  struct Start {
    uint64_t ask = 0;  // serial
    model::Resources size;
    base::Duration run = kForever;
  };

  explicit Backfill(const BackfillConfig& config) : config_(config) {}

  bool on() const { return config_.promises > 0; }
  bool orders_by_run_times() const { return on() && config_.run_times; }
  size_t most_a_queue() const { return static_cast<size_t>(config_.promises); }

  // Run times.
  void Learn(const In& in, const Container& ended);
  /// What was known before this run, unless some is known already.
  void Recall(const std::vector<model::LearnedRuns>& rows, base::Instant now) {
    if (run_times_.kinds() == 0) run_times_.Recall(rows, now);
  }
  /// How long a container of the ask will run; nothing: nobody knows.
  std::optional<base::Duration> RunOf(const In& in, AppSlot slot, const Ask& ask, int32_t per_mille) const;
  /// In nine of ten cases, of a container that starts.
  std::optional<base::Duration> RunOf(const In& in, const Container& one) const;
  /// What the application waits for runs so long in the mean, in seconds; unknown ones as kUnknownRun. 0: nothing is
  /// known.
  int64_t MeanRunOf(const In& in, AppSlot slot) const;
  Start StartOf(const In& in, AppSlot slot, const Ask& ask) const;

  // Promises.
  /// One more container may start there now. O(containers and promises of the node), O(1) where nothing is promised.
  bool Allows(const In& in, NodeIndex node, const Start& start) const;
  /// The ask gets a start, at the node where it is the earliest of those that `may` says yes to and that were looked at
  /// (kLooks). False: nowhere is it known when there will be room. O(kLooks x containers of a node).
  template <class May>
  bool Make(const In& in, AppSlot slot, const Ask& ask, const May& may);
  /// A container of the ask has started on the node; true: it had been promised.
  bool Started(const In& in, NodeIndex node, uint64_t ask);
  /// Plans again, because the nodes have changed in the books. True: something moved. O(promises x containers of a
  /// node).
  bool Replan(const In& in);
  const Promise* Of(uint64_t ask) const;
  /// What is promised on the node is promised no more.
  void Withdraw(NodeIndex node);
  bool HasAny(NodeIndex node) const { return promises_.contains(node); }
  /// Visits all, by node.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const auto& [node, all] : promises_) {
      for (const Promise& one : all) visit(node, one);
    }
  }
  /// No start could be promised to the ask: nobody knows when there will be room.
  bool Unknown(uint64_t ask) const { return unknown_.contains(ask); }
  void ForgetUnknown() { unknown_.clear(); }
  const PromiseCounts& counts() const { return counts_; }

  std::string Check(const Books& books) const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE_PART(run_times_, promises_, unknown_, counts_, looked_)

 private:
  static constexpr int32_t kNineOfTen = 900;
  static constexpr uint32_t kLooks = 256;

  base::Instant EndOf(const In& in, const Container& one) const;
  Outlook OutlookOf(const In& in, NodeIndex node) const;
  /// Where the promises of the node would start, beside `start` if there is one; false: one of them too late.
  bool Plan(const In& in, NodeIndex node, const Start* start, std::vector<base::Instant>& starts) const;
  bool PlanFrom(const In& in, NodeIndex node, const Start* start, Outlook outlook, bool as_planned,
                std::vector<base::Instant>& starts) const;
  bool ReplanNode(const In& in, NodeIndex node);
  base::Duration SlackOf(const Books& books, const Start& start) const;
  void Add(const In& in, AppSlot slot, const Start& start, NodeIndex node, base::Instant at);

  BackfillConfig config_;
  RunTimes run_times_;
  std::map<NodeIndex, std::vector<Promise>> promises_;  // of a node in the order in which they were made
  std::set<uint64_t> unknown_;
  PromiseCounts counts_;
  uint32_t looked_ = 0;  // the next search for a node begins there
};

template <class May>
bool Backfill::Make(const In& in, AppSlot slot, const Ask& ask, const May& may) {
  const Start start = StartOf(in, slot, ask);
  const uint32_t nodes = in.books.nodes.size();
  NodeIndex best;
  base::Instant soonest = base::Instant::Max();
  for (uint32_t i = 0, looks = 0; i < nodes && looks < kLooks; ++i) {
    const NodeIndex node{(looked_ + i) % nodes};
    if (!may(node)) continue;
    ++looks;
    Outlook outlook = OutlookOf(in, node);
    const auto promised = promises_.find(node);
    if (promised != promises_.end()) {
      for (const Promise& one : promised->second) {
        outlook.Take(std::max(one.start, in.books.now), one.run, one.size);
      }
    }
    const base::Instant at = outlook.Fit(start.size, start.run);
    if (at >= soonest) continue;
    soonest = at;
    best = node;
  }
  if (!best.valid()) {
    unknown_.insert(ask.serial);
    return false;
  }
  looked_ = nodes > kLooks ? (best.value + 1) % nodes : 0;
  Add(in, slot, start, best, soonest);
  return true;
}

}  // namespace fairlead::scheduler::native
