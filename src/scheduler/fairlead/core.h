#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "scheduler/fairlead/containers.h"
#include "scheduler/fairlead/fairlead.h"
#include "scheduler/fairlead/why.h"
#include "scheduler/shared/free_index.h"
#include "scheduler/shared/interner.h"
#include "scheduler/shared/prefetcher.h"
#include "scheduler/shared/tournament.h"

// The state of the default profile: flat tables, entities by number, so that a fork is a copy of arrays.
//
// How a grant is found. Every pending request belongs to a *shape* (size and label), every shape to one of 64 *classes*
// (one shape each, until there are more than 64). A queue's winner tree knows for each child the classes wanted below
// it. `servable_` holds the classes with a shape that some node may have room for; the search walks down from the root
// to the first child in order that wants one of them. A try that fails takes away what made it fail, at the level
// responsible: the shape (no node has room), the class in one queue (at its maximum), the leaf's starting applications
// (masters' share) or the request (it waits for a place). What gives room puts it back: a node freed wakes the shapes
// that fit it and the requests that wait for it; a release reopens the queues above it. So a batch that changes nothing
// costs nothing, whatever waits.

namespace fairlead::scheduler::native {

using base::Instant;
using model::AppIndex;
using model::Locality;
using model::NodeIndex;
using model::Resources;
namespace ev = model::scheduler;

inline constexpr uint32_t kNone = UINT32_MAX;
inline constexpr uint32_t kRoot = 0;
inline constexpr int64_t kUnlimited = int64_t{1} << 60;
/// Bound of every sum of one resource type over the cluster, of one application's pending requests included.
inline constexpr int64_t kLargestSum = int64_t{1} << 46;
inline constexpr int64_t kWeightOne = int64_t{1} << 16;
inline constexpr int64_t kLargestWeight = int64_t{1} << 34;

/// What makes requests interchangeable when a node is looked for.
struct ShapeKey {
  Resources size;
  uint32_t label = kNone;
  friend bool operator<(const ShapeKey& a, const ShapeKey& b) {
    return std::tie(a.size.amount, a.label) < std::tie(b.size.amount, b.label);
  }
};

struct Shape : ShapeKey {
  uint32_t uses = 0;    // requests and containers
  uint32_t wanted = 0;  // requests of them
  uint8_t shape_class = 0;
  bool blocked = false;  // no node has room
  /// No node outside `candidates` has room: it was blocked once, and these have got room since. Such shapes, and the
  /// blocked ones, stand in tight_shapes_.
  bool exact = false;
  Instant blocked_since{};
  std::vector<uint32_t> candidates;
};

/// Wanted at one host or rack.
struct Line {
  uint32_t name = 0;
  int32_t count = 0;
  bool rack = false;
  bool relax = true;
};

enum class Park : uint8_t {
  kNo,
  kPlace,  // until a named place has room, or `deadline`
  kAny,    // until any node has room (all that have are excluded)
  kRound,  // until the end of this batch
  kGang,   // placed with its gang only
};

/// What one application wants under one (priority, request id, shape).
struct Want {
  int32_t priority = 0;
  int64_t request_id = -1;
  uint32_t shape = 0;
  int32_t count = 0;  // at "*": all that is outstanding
  bool relax_any = true;
  Park park = Park::kNo;
  uint32_t waiter = kNone;  // stands at the places of its lines as this one, once it has waited
  uint32_t cursor = 0;      // where the next search in `lines` starts
  int64_t gang = 0;
  uint64_t serial = 0;
  int32_t held = 0;  // holds for it
  std::vector<Line> lines;
  Instant since{};                          // when it began to be pending
  Instant refusing_since = Instant::Max();  // room elsewhere has been left for a closer place since then
};

struct App {
  // What every end of a container touches, side by side.
  bool used_slot = false;
  bool runnable = false;
  bool active = false;  // has an attempt
  bool unmanaged = false;
  bool needs_master = false;
  bool starting = false;  // stands in the leaf's `starting` order
  AppIndex index;
  uint32_t leaf = 0;
  uint32_t slot = kNone;  // in the leaf's order
  int32_t priority = 0;
  int32_t attempt = 0;
  uint32_t first_container = kNone;
  int32_t containers = 0;
  uint64_t classes = 0;
  Resources used;

  Resources pending;
  std::vector<Want> wants;  // in order of serving
  int64_t next_sequence = 0;
  model::ApplicationId id;
  uint32_t user = 0;
  Resources master_used;
  std::vector<uint32_t> blacklist;  // host and rack names, sorted
};

struct Node {
  // What every grant and every end touches, side by side.
  bool alive = false;
  bool schedulable = true;
  bool changed = false;  // in changed_nodes_
  bool freed = false;    // something ended there since it was last published
  uint32_t host = 0;
  uint32_t rack = 0;
  uint32_t rack_position = 0;  // in the rack's index, while there is one
  uint32_t first_container = kNone;
  int32_t containers = 0;
  Resources capacity;
  Resources used;  // containers that run, and ended ones that the node has not yet reported
  Resources held;  // kept for the requests of `holds`
  boost::container::small_vector<std::pair<uint32_t, uint32_t>, 1> places;  // (partition, position)
  std::vector<uint32_t> holds;
  int32_t port = 0;
};

/// The nodes of one label, or those without.
struct Partition {
  explicit Partition(size_t types) : index(types) {}
  FreeIndex index;
  std::vector<uint32_t> nodes;  // by position; kNone: closed
  std::vector<uint32_t> spare;  // closed positions
  uint32_t cursor = 0;
  int32_t open_nodes = 0;  // alive and schedulable
};

/// Hosts and racks by name number.
struct Place {
  std::vector<uint32_t> nodes;    // alive ones
  std::vector<uint32_t> waiters;  // requests that have waited for it
};

/// A request that has waited for its places.
struct Waiter {
  uint32_t app = kNone;  // slot
  uint32_t entries = 0;  // places where it stands
  uint64_t serial = 0;   // of its want
};

/// What a request that stands at its places waits for there.
enum class WaitsFor : uint8_t {
  kNothing,
  kHost,   // room at its racks is of no use to it yet
  kPlace,  // any of them
  kGone,   // it is no more; its entries go when they are met
};

struct Queue {
  // What every grant and every end touches, side by side.
  uint32_t parent = kNone;
  uint32_t slot = kNone;  // in the parent's order
  bool alive = true;
  bool leaf = true;
  bool configured = false;
  bool has_low = false;
  bool preemptable = true;
  bool masters_full = false;  // leaf: its starting applications wait
  model::OrderPolicy policy = model::OrderPolicy::kDrf;
  int64_t weight = kWeightOne;
  uint64_t blocked = 0;  // classes that do not fit under `high`
  Resources used;
  Resources demand;     // used and pending, of runnable applications and of waiting ones
  Resources high;       // maximum
  Tournament order;     // children, or applications that have their master
  Tournament starting;  // leaf: applications that wait for their master
  Resources low;        // minimum

  std::string name;
  std::vector<uint32_t> children;
  std::optional<model::ConfiguredResources> min_setting;
  std::optional<model::ConfiguredResources> max_setting;
  std::optional<model::ConfiguredResources> child_max_setting;  // of children that are not configured
  int32_t max_running = INT32_MAX;
  int64_t master_share = 500'000;  // millionths of the base; below 0: no limit
  Resources master_used;
  int32_t masters = 0;
  int32_t running = 0;
  std::set<uint32_t> waiting;               // applications (by index) that may not run yet
  int32_t applications = 0;                 // in this leaf, running or not
  int64_t active_weight = 0;                // of children with running applications
  Instant starving_since = Instant::Max();  // leaf: below its share while the cluster is full
};

struct User {
  int32_t running = 0;
  int32_t max_running = INT32_MAX;
  std::set<uint32_t> waiting;
};

enum class TimerKind : uint8_t { kLocality, kTakeVictims, kHoldEnds, kGangEnds };

/// Requests of one application that start together or not at all.
struct Gang {
  uint32_t app = 0;  // slot
  int64_t number = 0;
  uint64_t serial = 0;
  uint64_t tried = 0;  // the room as of then was not enough
};

struct Timer {
  Instant at;
  TimerKind kind = TimerKind::kLocality;
  uint32_t owner = 0;   // application slot, or hold
  uint64_t serial = 0;  // of the want, or the hold
  friend auto operator<=>(const Timer&, const Timer&) = default;
};

/// Room on a node that is kept for one request until it is there or the hold ends.
struct Hold {
  uint32_t node = kNone;  // kNone: not in use
  uint32_t app = kNone;   // slot
  uint64_t want = 0;      // serial
  uint64_t serial = 0;
  Resources size;
  model::ContainerId id;
  std::vector<model::ContainerId> victims;  // told that they will be taken back for it
};

/// Where a request would go, or why nowhere.
struct Spot {
  enum class Verdict : uint8_t { kFound, kNoNodes, kNoLabel, kNoRoom, kExcluded, kStrict, kWaiting };
  Verdict verdict = Verdict::kNoRoom;
  uint32_t node = kNone;
  Locality locality = Locality::kOffSwitch;
  size_t line = SIZE_MAX;  // of the want, when it is node-local
  Instant until{};         // kWaiting: when a farther place will do
  bool for_host = false;   // kWaiting: none but its hosts will do until then
};

/// Obstacles to a node that `why` thinks away.
struct Relaxed {
  bool room = false;   // as if a new node had come, at none of the named places
  bool holds = false;  // as if no room were kept for anybody
  bool bars = false;   // as if the application excluded nothing
  bool place = false;  // as if any place would do
};

/// Why a queue or the masters' share refuses.
struct Limit {
  enum class Kind : uint8_t { kFree, kQueueMaximum, kLeafMasters, kClusterMasters };
  Kind kind = Kind::kFree;
  uint32_t queue = kNone;
};

class Core : public Scheduler, public Prefetcher {
 public:
  explicit Core(const FairleadConfig& config) : Core(config, true) {}

  void Step(Instant now, std::span<const ev::Event> events, EffectSink& out) override;
  Instant NextDeadline() const override;
  std::string CheckInvariants() const override;
  uint64_t StateHash() const override;
  std::unique_ptr<Scheduler> Fork() const override;
  View GetView() const override;
  std::vector<ev::Pending> Why(AppIndex app, Instant now) const override;
  void Prefetch(const model::ContainerId& container, int step) const override;

 protected:
  /// `in_order`: queues and applications are kept in the order of their shares; a profile with another order keeps its
  /// own.
  Core(const FairleadConfig& config, bool in_order);

  // events.cc, apps.cc, nodes.cc
  void On(const ev::NodeAdded& event);
  void On(const ev::NodeRemoved& event);
  void On(const ev::NodeResized& event);
  void On(const ev::NodeUpdated& event);
  void On(const ev::NodeSchedulable& event);
  void On(const ev::AppAdded& event);
  void On(const ev::AttemptAdded& event);
  void On(const ev::AttemptRemoved& event);
  void On(const ev::AppRemoved& event);
  void On(const ev::Allocate& event);
  void On(const ev::Acquired& event);
  void On(const ev::ContainerEnded& event);
  void On(const ev::ContainerRecovered& event);
  void On(const ev::AppMoved& event);
  void On(const ev::AppPriority& event);
  void On(const ev::ContainerResized& event);
  void On(const ev::QueuesReloaded& event);
  void On(const ev::Pass& event);
  template <class Effect>
  void Emit(Effect effect) {
    out_->emplace_back(std::in_place_type<Effect>, std::move(effect));
  }

  uint32_t AppSlot(AppIndex app) const;
  App& AppOf(AppIndex app) { return apps_[AppSlot(app)]; }
  Resources Headroom(const App& app) const;

  // prefetch.cc
  /// What PublishFree of the node changes.
  virtual void PrefetchFree(uint32_t node) const;
  /// The application's place in the order.
  virtual void PrefetchOrder(uint32_t slot) const;

  // queues.cc
  void BuildQueues(const model::QueueTree& tree);
  void ApplyConfig(const model::QueueTree& tree);
  void ApplyQueueConfig(uint32_t queue, const model::QueueConfig* config);
  uint32_t DeclareQueue(const std::string& name);
  uint32_t FindQueue(std::string_view name) const;
  /// The leaf of that name, made (with its parents) when it does not exist; kNone when a leaf stands in the way.
  uint32_t LeafFor(const std::string& name);
  uint32_t AddQueue(const std::string& name, uint32_t parent, bool leaf);
  void DropQueueIfUnused(uint32_t queue);
  void ResolveQueue(Queue& queue);
  void ResolveLimits();
  /// A configured minimum or maximum in amounts of the cluster as it is now.
  Resources Resolve(const model::ConfiguredResources& configured) const;
  OrderKey QueueKey(const Queue& queue) const;
  OrderKey ShareKey(model::OrderPolicy policy, const Resources& used, int64_t weight) const;
  /// What is used, of the amount that makes it a share.
  struct Share {
    uint64_t used = 0;
    uint64_t of = 0;
  };
  Share ShareOf(model::OrderPolicy policy, const Resources& used) const;
  /// How much of its minimum the queue has, by the type that is nearest to it; of 0 when it needs no more.
  Share ShareOfMinimum(const Queue& queue) const;
  /// The classes that a queue offers to its parent's order.
  uint64_t OpenClasses(const Queue& queue) const;
  /// Brings the queue's place in its parent's order up to date; false when nothing changed.
  bool RefreshQueue(uint32_t queue);
  void RefreshPath(uint32_t queue);
  void RebuildKeys();
  void RebuildBelow(uint32_t queue);
  void AddUsage(uint32_t leaf, const Resources& size);
  void RemoveUsage(uint32_t leaf, const Resources& size);
  void AddDemand(uint32_t leaf, const Resources& size);
  void RemoveDemand(uint32_t leaf, const Resources& size);
  /// What masters of the leaf may use: its part of the cluster by weight among queues with running applications, times
  /// its maxAMShare, rounded up. O(depth).
  int64_t MasterLimit(uint32_t leaf, size_t type) const;
  Limit FindLimit(uint32_t leaf, const Resources& size, bool master) const;
  bool LeafMastersExceed(uint32_t leaf, const Resources& size) const;
  bool ClusterMastersExceed(const Resources& size) const;
  /// The leaf's starting applications wait for a master to end, or for a larger cluster.
  void CloseMasters(uint32_t leaf);
  void ReopenMasters();
  void RecountActiveWeights();

  // apps.cc
  base::Result<std::string, model::Refused> PlaceApp(const ev::AppAdded& event) const;
  int32_t UserLimit(const std::string& user) const;
  bool MayRun(uint32_t leaf, uint32_t user) const;
  void StartRunning(uint32_t slot);
  void StopRunning(uint32_t slot);
  void GatherWaiting(uint32_t queue, std::vector<const std::set<uint32_t>*>& lists) const;
  void RunWaiting();
  void EnterLeaf(uint32_t slot);
  void LeaveLeaf(uint32_t slot);
  /// Brings the application's place in its leaf's order up to date (not the queues above).
  void RefreshApp(uint32_t slot);
  OrderKey AppKey(const App& app) const;
  void SetStarting(uint32_t slot, bool starting);
  void EndAttempt(uint32_t slot, bool keep_containers);
  void EndContainers(uint32_t slot, bool keep_running);
  model::Refused CheckMove(const App& app, uint32_t target, const std::string& name) const;
  void MoveTo(uint32_t slot, uint32_t target);
  base::Status CheckReload(const model::QueueTree& tree) const;

  // asks.cc
  model::Refused CheckAsks(const App& app, const ev::Allocate& event) const;
  model::Refused TooManyKeys(const App& app, const ev::Allocate& event) const;
  void ChangeBlacklist(uint32_t slot, const ev::Allocate& event);
  void ApplyAsk(uint32_t slot, const model::Ask& ask);
  Resources Normalized(Resources size) const;
  Want& WantFor(uint32_t slot, const model::Ask& ask, uint32_t shape);
  Want* FindWant(uint32_t slot, uint64_t serial);
  void SetCount(App& app, Want& want, int32_t count);
  void DropIdleWants(uint32_t slot);
  void DropWants(uint32_t slot);
  /// Recomputes which classes the application waits for, and its place and its queues'.
  void RefreshClasses(uint32_t slot);
  void SetPark(uint32_t slot, Want& want, Park park);
  uint32_t ShapeFor(const ShapeKey& key);
  uint32_t LabelFor(std::string_view label);
  void UseShape(uint32_t shape) { ++shapes_[shape].uses; }
  void DropShape(uint32_t shape);
  void WantShape(uint32_t shape, int change);
  void BlockShape(uint32_t shape);
  void UnblockShape(uint32_t shape);
  /// The shape goes through the index again.
  void LoosenShape(uint32_t shape);
  void OfferNode(uint32_t shape, uint32_t node);
  void ForgetBlocked(uint64_t classes);
  bool Excluded(const App& app, const Node& node) const;

  // nodes.cc
  void EnterIndexes(uint32_t node);
  void LeaveIndexes(uint32_t node);
  /// The node's free amounts, or whether it is open, are others now: the indexes follow.
  virtual void PublishFree(uint32_t node);
  /// The node's free amounts changed (freed: grew); takes effect with PublishChanged.
  void NodeChanged(uint32_t node, bool freed);
  void PublishChanged();
  /// Room may have appeared on the node: wakes the shapes that fit and the requests that wait for it.
  void NodeFreed(uint32_t node);
  void WakeNeighbours(const Node& node);
  /// `host`: the place is one, not a rack.
  void WakeAt(Place& place, bool host);
  void WakeWaiters(const std::vector<std::pair<uint32_t, uint64_t>>& waiters, Park park);
  /// What the node has for a request that holds nothing there.
  Resources Free(const Node& node) const { return node.capacity - node.used - node.held; }
  bool Open(const Node& node) const { return node.alive && node.schedulable; }
  bool HasLabel(uint32_t node, uint32_t label) const;
  FreeIndex& RackIndex(uint32_t rack);
  void TotalChanged();

  // placing.cc
  /// The end of a batch: grants whatever can be granted now. Another profile on the same books overrides it.
  virtual void PlaceAll();
  /// What another profile counts: a container was granted or recovered, is over for its application (which is refreshed
  /// after either), left its node.
  virtual void Started(uint32_t) {}
  virtual void Ended(uint32_t) {}
  virtual void Left(uint32_t) {}
  /// What the application wants, has, or may have is another now; and it is gone.
  virtual void Refreshed(uint32_t) {}
  virtual void Removed(uint32_t) {}
  void PlaceInOrder();
  void PlaceServable();
  void PlaceFrom(uint32_t slot, uint64_t servable);
  void TryWant(uint32_t slot, Want& want);
  uint32_t FirstApp(const Queue& leaf, uint64_t servable) const;
  Spot FindSpot(const App& app, const Want& want, Instant now) const;
  Spot FindNear(const App& app, const Want& want, Instant now) const;
  uint32_t FindInRack(const App& app, const Want& want, uint32_t rack) const;
  uint32_t FindAnywhere(const App& app, const Want& want, bool& excluded) const;
  uint32_t FindCandidate(const App& app, const Shape& shape, bool& excluded) const;
  Spot FindNearCandidate(const App& app, const Want& want, Locality allowed) const;
  uint32_t FindInIndex(const App& app, const Want& want, bool& excluded) const;
  Spot FindNearInIndex(const App& app, const Want& want, Locality allowed) const;
  bool Fits(const App& app, uint32_t node, const Shape& shape) const;
  Locality Allowed(const App& app, const Want& want, Instant now, Instant& until) const;
  void Grant(uint32_t slot, Want& want, const Spot& spot, const model::ContainerId* held = nullptr);
  model::ContainerId NextId(App& app);
  void Refuse(uint32_t slot, Want& want, const Limit& limit);
  void Wait(uint32_t slot, Want& want, const Spot& spot);
  void RegisterWaiter(uint32_t slot, Want& want);
  void StandAt(uint32_t place, uint32_t waiter);
  /// The request is no more; its entries go when they are met.
  void ForgetWaiter(const Want& want);
  void MoveCursor(uint32_t label, uint32_t node);
  void TakeCounts(App& app, Want& want, const Spot& spot);
  bool TimerWanted(const Timer& timer);
  void PushTimer(const Timer& timer);
  void PopTimer();
  void FireTimers();

  // books.cc
  uint32_t AddContainer(uint32_t slot, uint32_t node, const model::ContainerId& id, uint32_t shape);
  void RecordMaster(uint32_t slot, uint32_t container);
  void ChangeMasters(uint32_t leaf, const Resources& size, int32_t count);
  void FinishContainer(uint32_t container, int32_t exit_status, std::string diagnostics);
  /// The node's part of a container is over.
  void LeaveNode(uint32_t container);
  void AddUse(Node& node, const Resources& more);

  // holds.cc
  void Review();
  void HoldForLarge();
  bool MayBePassed(uint32_t shape) const;
  /// The node that misses least of the size and may be held for the request, or kNone. O(nodes).
  uint32_t NodeToHold(const App& app, const Want& want) const;
  bool MayHold(const App& app, const Want& want, uint32_t node) const;
  uint32_t AddHold(uint32_t slot, Want& want, uint32_t node, base::Duration duration);
  void DropHold(uint32_t hold);
  void DropHoldsOf(uint32_t slot, uint64_t serial);
  void DropHoldsOn(uint32_t node);
  void ServeHolds(uint32_t node);
  void TakeVictims(uint32_t hold);

  // gangs.cc
  void EnterGang(uint32_t slot, Want& want);
  void PlaceGangs();
  bool PlaceGang(const Gang& gang);
  /// A node for every member, in the members' order; empty when they do not all fit at once. `fit`: how many did.
  std::vector<std::pair<uint64_t, uint32_t>> PlanGang(const App& app, int64_t number, int64_t& fit) const;
  Limit GangLimit(const App& app, int64_t number) const;
  void EndGang(uint64_t serial);
  ev::Pending WhyGang(const App& app, const Want& want, ev::Pending out) const;

  // preemption.cc
  std::vector<Resources> LeafShares() const;
  void SharesBelow(uint32_t queue, const Resources& share, std::vector<Resources>& shares) const;
  void Preempt();
  bool Starving(uint32_t leaf, const Resources& share, const Resources& planned, uint32_t& slot, size_t& want) const;
  std::vector<std::vector<uint32_t>> Eligible(const std::vector<Resources>& shares) const;
  std::vector<uint32_t> VictimsOn(uint32_t node, const std::vector<uint32_t>& eligible, const App& app,
                                  const Want& want, const std::vector<Resources>& shares,
                                  const std::vector<Resources>& lost) const;
  std::vector<std::pair<int64_t, uint32_t>> RankNodes(const std::vector<std::vector<uint32_t>>& eligible,
                                                      const App& app, const Want& want,
                                                      const std::vector<Resources>& shares,
                                                      const std::vector<Resources>& lost) const;
  void TakeBack(const std::vector<std::pair<OrderKey, uint32_t>>& starving, const std::vector<Resources>& shares,
                std::vector<Resources>& planned);
  void Announce(uint32_t slot, Want& want, uint32_t node, const std::vector<uint32_t>& victims,
                std::vector<Resources>& lost);

  // view.cc
  void ViewQueue(uint32_t queue, const Resources& share, const Resources& steady, View& view) const;
  std::vector<Resources> ChildShares(const Queue& queue, const Resources& share, bool steady) const;
  virtual ev::Pending WhyWant(const App& app, const Want& want, Instant now) const;

  // why.cc
 public:
  /// Everything that stands in the way of each pending request, in the order of Why.
  std::vector<std::vector<Blocker>> AllBlockers(AppIndex app, Instant now) const;

 protected:
  std::vector<Blocker> BlockersOf(const App& app, const Want& want, Instant now) const;
  void FindLimits(const App& app, const Want& want, std::vector<Blocker>& out) const;
  void FindObstacles(const App& app, const Want& want, Instant now, std::vector<Blocker>& out) const;
  bool PlaceableWith(const App& app, const Want& want, Locality allowed, const Relaxed& relaxed) const;
  Locality DistanceOf(const Want& want, const Node& node) const;
  Blocker NoRoom(const Shape& shape) const;
  std::string BookErrors() const;
  std::string ShapeErrors(uint32_t shape) const;
  std::string OrderErrors() const;
  std::string WaiterErrors() const;

  FairleadConfig config_;
  bool in_order_;
  size_t types_;
  Instant now_{};
  EffectSink* out_ = nullptr;

  Interner names_;  // hosts and racks
  Interner labels_;
  Interner users_by_name_;
  std::vector<User> users_;
  std::map<std::string, uint32_t, std::less<>> queue_by_name_;
  std::vector<Queue> queues_;
  std::vector<uint32_t> spare_queues_;
  std::vector<uint32_t> app_slots_;  // by AppIndex
  std::vector<App> apps_;
  std::vector<uint32_t> spare_apps_;
  std::vector<Node> nodes_;      // by NodeIndex
  std::vector<Place> places_;    // by name number
  std::vector<Waiter> waiters_;  // by the numbers in places_ and wants
  /// Of each waiter. A node that got room looks at all that stand at its rack, of which few wait at the time: these
  /// bytes stay in the cache.
  std::vector<WaitsFor> waits_for_;
  std::vector<uint32_t> spare_waiters_;
  std::vector<std::optional<Partition>> racks_;  // by name number; made when first asked for
  std::vector<Partition> partitions_;            // [0] without a label, then by label number + 1
  ContainerTable containers_;
  std::vector<Shape> shapes_;
  std::vector<uint32_t> spare_shapes_;
  std::map<ShapeKey, uint32_t> shape_by_key_;
  std::vector<uint32_t> tight_shapes_;       // blocked or exact
  std::vector<uint32_t> changed_nodes_;      // their free amounts are to be published before the next placing
  std::array<uint32_t, 64> class_shapes_{};  // wanted shapes of each class
  std::array<uint32_t, 64> class_open_{};    // of them, those that are not blocked
  uint64_t servable_ = 0;
  uint64_t blocked_classes_ = 0;  // in `blocked` of some queue, perhaps

  Resources total_;        // capacity of the nodes that are alive
  Resources schedulable_;  // of those that take containers
  Resources closed_used_;  // on those that take none
  Resources cluster_used_;
  int32_t alive_nodes_ = 0;
  bool keys_stale_ = false;    // total_ changed: every share has
  uint64_t tree_version_ = 0;  // grows with each change of the queues or their settings
  uint64_t next_serial_ = 1;
  std::vector<uint32_t> reopened_queues_;  // an application may run there again
  std::vector<uint32_t> reopened_users_;
  std::vector<uint32_t> full_leaves_;  // masters_full
  std::vector<std::pair<uint32_t, uint64_t>> any_waiters_;
  std::vector<std::pair<uint32_t, uint64_t>> round_waiters_;
  std::vector<Gang> gangs_;    // in order of arrival
  uint64_t room_version_ = 1;  // grows when something may have got room
  std::vector<Hold> holds_;
  std::vector<uint32_t> spare_holds_;
  int32_t held_count_ = 0;
  Instant review_at_ = Instant::Max();  // holds and preemption are looked at next
  Instant last_preemption_{-(int64_t{1} << 60)};
  std::vector<Timer> timers_;                           // heap, earliest first
  std::vector<std::pair<AppIndex, uint64_t>> answers_;  // allocate calls of this batch
};

}  // namespace fairlead::scheduler::native
