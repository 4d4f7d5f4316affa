#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/state.h"
#include "base/time.h"
#include "model/scheduler.h"
#include "scheduler/books/books.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler::native {

class Core;

/// What makes a profile of the books: in which order asks are served, where they go, when, and what is taken back. It
/// is told of every change and keeps what it needs of it; what it decides it does through Core.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual std::unique_ptr<Policy> Clone() const = 0;

  /// A queue came or went.
  virtual void TreeChanged(const Books&, const TreeChange&) {}
  /// An application came, with what it says of itself. AppEntered follows.
  virtual void AppCame(AppSlot, const model::scheduler::AppAdded&) {}
  /// The application is in its leaf now; it is about to leave it.
  virtual void AppEntered(const Books&, AppSlot) {}
  virtual void AppLeaves(const Books&, AppSlot) {}
  /// What the application asks for, has, or may have is another now. Its queues are told next, by QueueChanged or
  /// UsageChanged.
  virtual void AppChanged(const Books&, AppSlot) {}
  virtual void QueueChanged(const Books&, QueueId) {}
  /// What the leaf and the queues above it use (`less`: is less now), and what they want.
  virtual void UsageChanged(const Books&, QueueId, bool) {}
  virtual void DemandChanged(const Books&, QueueId) {}
  /// These classes mean other shapes than before.
  virtual void ClassesChanged(const Books&, uint64_t) {}
  /// Masters may have room again.
  virtual void MastersFreed(const Books&) {}
  /// The cluster's total changed: fair shares and percentage limits were computed again.
  virtual void TotalChanged(const Books&) {}
  /// A container was granted or recovered, is over for its application, left its node. AppChanged follows the first
  /// two.
  virtual void ContainerStarted(const Books&, ContainerSlot) {}
  virtual void ContainerEnds(const Books&, ContainerSlot, int32_t exit_status) { static_cast<void>(exit_status); }
  virtual void ContainerLeaves(const Books&, ContainerSlot) {}
  /// A container that ran before this run is in the books; ContainerStarted follows.
  virtual void ContainerRecovered(Books&, ContainerSlot) {}
  /// The node's free amounts, or whether it is open, are others now: the index that the policy searches follows.
  virtual void Publish(Books&, NodeIndex) {}

  /// The node has told what its machine uses.
  virtual void NodeMeasured(Core&, const model::scheduler::NodeMeasured&) {}
  /// The use of containers that an earlier run learned.
  virtual void UseRecalled(const Books&, const model::scheduler::UseRecalled&) {}

  /// The node's maintenance windows are these from now on. The node is gone, and its number may come again.
  virtual void NodeWindows(Core&, const model::scheduler::NodeWindows&) {}
  virtual void NodeGone(const Books&, NodeIndex) {}
  /// How long containers ran before this run.
  virtual void RunTimesRecalled(const Books&, const model::scheduler::RunTimesRecalled&) {}

  /// Whether the policy says how large the asks are, and how large: it knows what the application's tasks need.
  virtual bool SetsSizes() const { return false; }
  virtual model::Resources SizeOf(const Books&, AppSlot, const model::Ask& ask) const { return ask.capability; }

  /// The end of a batch: grants whatever is to be granted now.
  virtual void Place(Core&) = 0;
  /// When Place is to be called again at the latest, besides the timers of the books.
  virtual base::Instant NextDeadline() const { return base::Instant::Max(); }
  /// Scheduler::NextPeriod.
  virtual base::Instant NextPeriod() const { return base::Instant::Max(); }

  /// Calls visit(node) for open nodes with the label of the shape and room for one of it, until it returns false.
  virtual void VisitRoom(const Books&, const Shape&, const std::function<bool(NodeIndex)>& visit) const = 0;
  /// What a gang of the application that asks for `all` is refused for; empty text: nothing.
  virtual model::scheduler::Pending GangLimit(const Books&, AppSlot, int64_t gang) const = 0;
  /// Why the ask waits. Asks of gangs are explained by Core, unless GangLimit names a limit.
  virtual model::scheduler::Pending Why(const Books&, AppSlot, const Ask&, base::Instant now) const = 0;

  /// What it counts by task type in the queue, for readers.
  virtual std::vector<TaskCounts> TasksOf(const Books&, QueueId) const { return {}; }

  /// What the queue used in the past, and of its budget, for readers.
  virtual void ViewSpending(const Books&, QueueId, QueueView&) const {}

  /// What it keeps, behind what the books do.
  virtual void WriteState(std::string& out) const = 0;
  virtual void ReadState(base::ByteReader& in) = 0;

  virtual std::string Check(const Books&) const { return ""; }
  virtual void Mix(base::StateHasher&) const {}

  /// Brings near what Publish of the node changes, and the application's place in the order.
  virtual void PrefetchNode(const Books&, NodeIndex) const {}
  virtual void PrefetchApp(const Books&, AppSlot) const {}
};

/// What every policy is: one that is copied, written and read as a whole. `FL_STATE` of `Own` lists what it keeps.
template <class Own, class Base = Policy>
class PolicyOf : public Base {
 public:
  std::unique_ptr<Policy> Clone() const final { return std::make_unique<Own>(own()); }
  void WriteState(std::string& out) const final { base::WriteState(out, own()); }
  void ReadState(base::ByteReader& in) final { base::ReadState(in, static_cast<Own&>(*this)); }

 private:
  const Own& own() const { return static_cast<const Own&>(*this); }
};

}  // namespace fairlead::scheduler::native
