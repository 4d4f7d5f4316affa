#include "scheduler/tdw/rounds.h"

#include <algorithm>

#include "base/hash.h"
#include "base/prefetch.h"

namespace fairlead::scheduler {

std::unique_ptr<Scheduler> MakeTdw(const TdwConfig& config) { return std::make_unique<tdw::TdwCore>(config); }

namespace tdw {
namespace {

using model::Locality;
using model::Resources;
using native::App;
using native::Container;
using native::Node;
using native::Shape;
using native::Spot;
using native::Want;
using Wide = __int128;

/// Slots of the index: the first types of resources, then one per task type for the load.
constexpr size_t kIndexedResources = Resources::kMaxTypes - kTaskTypes;
constexpr int64_t kLoadUnits = int64_t{1} << 20;

FairleadConfig Adjusted(FairleadConfig config) {
  // No waiting for locality in this profile.
  config.node_locality_wait = {};
  config.rack_locality_wait = {};
  return config;
}

}  // namespace

TdwCore::TdwCore(const TdwConfig& config) : Core(Adjusted(config.base), false), settings_(config) {}

base::Instant TdwCore::NextDeadline() const { return round_due_ ? next_round_ : base::Instant::Max(); }

std::unique_ptr<Scheduler> TdwCore::Fork() const { return std::make_unique<TdwCore>(*this); }

TaskType TdwCore::TypeOf(const Container& container) const {
  if (container.is_master) return TaskType::kJobtracker;
  return container.priority == settings_.reduce_priority ? TaskType::kReduce : TaskType::kMap;
}

TaskType TdwCore::TypeOf(const App& app, const Want& want) const {
  if (app.needs_master) return TaskType::kJobtracker;
  return want.priority == settings_.reduce_priority ? TaskType::kReduce : TaskType::kMap;
}

TdwCore::Counts& TdwCore::AppCounts(uint32_t slot) {
  if (slot >= app_granted_.size()) app_granted_.resize(slot + 1);
  return app_granted_[slot];
}

TdwCore::Counts& TdwCore::NodeCounts(uint32_t node) {
  if (node >= node_granted_.size()) node_granted_.resize(node + 1);
  return node_granted_[node];
}

void TdwCore::Started(uint32_t index) {
  const Container& container = containers_[index];
  const size_t type = At(TypeOf(container));
  ++AppCounts(container.app)[type];
  ++NodeCounts(container.node)[type];
  ++all_granted_[type];
}

void TdwCore::Ended(uint32_t index) { --AppCounts(containers_[index].app)[At(TypeOf(containers_[index]))]; }

void TdwCore::Left(uint32_t index) {
  const size_t type = At(TypeOf(containers_[index]));
  --NodeCounts(containers_[index].node)[type];
  --all_granted_[type];
}

void TdwCore::PublishFree(uint32_t index) {
  while (index_.size() <= index) index_.Add();
  const Node& node = nodes_[index];
  if (!Open(node)) {
    index_.Close(index);
    return;
  }
  Resources entry;
  const Resources free = Free(node);
  for (size_t t = 0; t < std::min(types_, kIndexedResources); ++t) entry[t] = free[t];
  const int64_t capacity = std::max<int64_t>(node.capacity.vcores(), 1);
  for (const TaskType type : kTypes) {
    // Larger is emptier; rounded up, so that the search sees every node that may be below the mean.
    const int64_t load = NodeCounts(index)[At(type)] * kLoadUnits / capacity;
    entry[kIndexedResources + At(type)] = std::max<int64_t>(native::kUnlimited - load, 0);
  }
  index_.Set(index, entry);
}

void TdwCore::PrefetchFree(uint32_t node) const {
  if (node < index_.size()) index_.Prefetch(node);
  if (node < node_granted_.size()) base::Prefetch(&node_granted_[node]);
}

void TdwCore::PrefetchOrder(uint32_t slot) const {
  if (slot >= sessions_.size() || sessions_[slot].pool == kNone) return;
  for (const TaskType type : kTypes) {
    standing_[At(type)].pools()[sessions_[slot].pool].sessions.Prefetch(sessions_[slot].seat[At(type)]);
  }
}

void TdwCore::PlaceAll() {
  for (const uint32_t node : changed_nodes_) {
    nodes_[node].changed = false;
    nodes_[node].freed = false;
    PublishFree(node);
    round_due_ = true;
  }
  changed_nodes_.clear();
  if (keys_stale_) RebuildKeys();
  // Requests change without a node changing: whatever the batch was, it may have brought some.
  round_due_ = true;
  if (now_ < next_round_) return;
  next_round_ = now_ + settings_.round_interval;
  round_due_ = false;
  RunRounds();
}

void TdwCore::RunRounds() {
  if (seated_tree_ != tree_version_) SeatAll();
  OpenPools();
  for (const TaskType type : kTypes) {
    if (!standing_[At(type)].AnyoneWaits()) continue;
    const RoundResult result = Round(type);
    if (result.grants >= settings_.round_limit) round_due_ = true;
    if (settings_.preemption && result.full) Preempt(type);
  }
}

RoundResult TdwCore::Round(TaskType type) {
  RoundResult result;
  infeasible_wants_.clear();
  infeasible_shapes_.clear();
  open_classes_ = UINT64_MAX;
  Standing& standing = standing_[At(type)];
  std::vector<uint32_t> passed_over;
  while (result.grants < settings_.round_limit) {
    const uint32_t pool = standing.FirstPool(open_classes_);
    if (pool == kNone) break;
    const uint32_t slot = standing.FirstSession(pool, open_classes_);
    switch (TrySession(slot, type, result)) {
      case Try::kGranted:
        ++result.grants;
        break;
      case Try::kNothing:
        standing.PassOver(pool, sessions_[slot].seat[At(type)]);
        passed_over.push_back(slot);
        break;
      case Try::kMastersFull:
        ClosePool(pool);
        break;
    }
  }
  for (const uint32_t slot : passed_over) Seat(slot);
  return result;
}

void TdwCore::CondemnShape(uint32_t shape) {
  infeasible_shapes_.insert(shape);
  const uint8_t shape_class = shapes_[shape].shape_class;
  if (class_shapes_[shape_class] == 1) open_classes_ &= ~(uint64_t{1} << shape_class);
}

/// Grants one task of the session, of its first request that finds a node; requests that find none are out for the
/// round.
TdwCore::Try TdwCore::TrySession(uint32_t slot, TaskType type, RoundResult& result) {
  for (Want& want : apps_[slot].wants) {
    const App& app = apps_[slot];
    if (want.count == 0 || TypeOf(app, want) != type) continue;
    if (infeasible_shapes_.contains(want.shape) || infeasible_wants_.contains({slot, want.serial})) continue;
    const Resources& size = shapes_[want.shape].size;
    if (app.needs_master && (LeafMastersExceed(app.leaf, size) || ClusterMastersExceed(size))) return Try::kMastersFull;
    Spot spot;
    bool excluded = false;
    const uint32_t node = FindNode(app, want, type, spot, excluded);
    if (node == kNone) {
      const bool strict = !want.relax_any;
      if (strict || excluded) {
        infeasible_wants_.emplace(slot, want.serial);
      } else {
        CondemnShape(want.shape);
        result.full = true;
      }
      continue;
    }
    Grant(slot, want, spot);
    PublishFree(node);  // with the load that counts it
    cursor_[At(type)] = node + 1;
    return Try::kGranted;
  }
  return Try::kNothing;
}

/// Preferred nodes in the request's order, without the load test; then nodes below the mean load; then any.
uint32_t TdwCore::FindNode(const App& app, const Want& want, TaskType type, Spot& spot, bool& excluded) {
  const Shape& shape = shapes_[want.shape];
  spot.verdict = Spot::Verdict::kFound;
  for (size_t i = 0; i < want.lines.size(); ++i) {
    if (want.lines[i].rack || want.lines[i].count == 0) continue;
    for (const uint32_t node : places_[want.lines[i].name].nodes) {
      if (!Fits(app, node, shape)) continue;
      spot.node = node;
      spot.locality = Locality::kNodeLocal;
      spot.line = i;
      return node;
    }
  }
  if (!want.relax_any) return kNone;
  spot.node = Walk(app, shape, type, true, excluded);
  if (spot.node == kNone) spot.node = Walk(app, shape, type, false, excluded);
  if (spot.node == kNone) return kNone;
  spot.locality = Locality::kOffSwitch;
  for (const native::Line& line : want.lines) {
    if (line.rack && line.count > 0 && line.name == nodes_[spot.node].rack) spot.locality = Locality::kRackLocal;
  }
  return spot.node;
}

bool TdwCore::BelowMean(uint32_t index, TaskType type) const {
  const int64_t granted = index < node_granted_.size() ? node_granted_[index][At(type)] : 0;
  const int64_t capacity = nodes_[index].capacity.vcores();
  return Wide{granted} * total_.vcores() < Wide{all_granted_[At(type)]} * capacity;
}

/// By node number, starting after the node of the last grant of this type.
uint32_t TdwCore::Walk(const App& app, const Shape& shape, TaskType type, bool below_mean, bool& excluded) const {
  Resources need;
  for (size_t t = 0; t < std::min(types_, kIndexedResources); ++t) need[t] = shape.size[t];
  if (below_mean) {
    const int64_t mean =
        static_cast<int64_t>(Wide{all_granted_[At(type)]} * kLoadUnits / std::max<int64_t>(total_.vcores(), 1));
    need[kIndexedResources + At(type)] = native::kUnlimited - mean - 1;
  }
  const auto size = static_cast<uint32_t>(index_.size());
  const uint32_t start = cursor_[At(type)] < size ? cursor_[At(type)] : 0;
  for (const auto& [from, end] : {std::pair(start, size), std::pair(0U, start)}) {
    uint32_t at = from < end ? index_.FindFrom(from, need) : kNone;
    for (; at < end; at = index_.FindFrom(at + 1, need)) {
      const Node& node = nodes_[at];
      if (!shape.size.FitsIn(Free(node)) || !HasLabel(at, shape.label)) continue;
      if (below_mean && !BelowMean(at, type)) continue;
      if (!Excluded(app, nodes_[at])) return at;
      excluded = true;
    }
  }
  return kNone;
}

model::scheduler::Pending TdwCore::WhyWant(const App& app, const Want& want, base::Instant now) const {
  using model::scheduler::PendingReason;
  model::scheduler::Pending out = Core::WhyWant(app, want, now);
  if (out.reason == PendingReason::kMaxRunningApps || out.reason == PendingReason::kUserLimit) return out;
  const TaskType type = TypeOf(app, want);
  for (uint32_t q = app.leaf; q != native::kRoot; q = queues_[q].parent) {
    const bool level = q == app.leaf || queues_[q].parent == native::kRoot;  // its pool, its group
    int64_t granted = 0;
    for (uint32_t slot = 0; level && slot < apps_.size(); ++slot) {
      if (!apps_[slot].used_slot || slot >= app_granted_.size()) continue;
      uint32_t above = apps_[slot].leaf;
      while (above != native::kRoot && above != q) above = queues_[above].parent;
      granted += above == q ? app_granted_[slot][At(type)] : 0;
    }
    if (!level || granted < queues_[q].high.vcores()) continue;
    out.reason = PendingReason::kQueueMaximum;
    out.detail = queues_[q].name + " has " + std::to_string(granted) + " tasks of this type of at most " +
                 std::to_string(queues_[q].high.vcores());
    out.remedy = "raise maxResources of " + queues_[q].name + ", or wait for its tasks to end";
    return out;
  }
  for (const Blocker& blocker : BlockersOf(app, want, now)) {
    if (blocker.reason != PendingReason::kMasterShare) continue;
    out.reason = blocker.reason;
    out.detail = blocker.detail;
    out.remedy = blocker.remedy;
    return out;
  }
  // The default profile's maxima count resources; here they count tasks.
  if (out.reason == PendingReason::kQueueMaximum || out.reason == PendingReason::kFairShare) {
    out.reason = PendingReason::kFairShare;
    out.detail = "waits for the next round, behind those who are further below their share";
    out.remedy = "raise the weight or the minimum of its pool";
  }
  return out;
}

uint64_t TdwCore::StateHash() const {
  base::StateHasher hash;
  hash.Mix(Core::StateHash());
  for (const uint32_t cursor : cursor_) hash.Mix(cursor);
  for (const int64_t granted : all_granted_) hash.Mix(static_cast<uint64_t>(granted));
  hash.Mix(static_cast<uint64_t>(next_round_.ns));
  return hash.value();
}

std::string TdwCore::CheckInvariants() const {
  if (std::string error = Core::CheckInvariants(); !error.empty()) return error;
  std::vector<Counts> by_app(app_granted_.size());
  std::vector<Counts> by_node(node_granted_.size());
  Counts all{};
  for (uint32_t i = 0; i < containers_.slots(); ++i) {
    const Container& container = containers_[i];
    if (!container.in_use) continue;
    const size_t type = At(TypeOf(container));
    ++by_node[container.node][type];
    ++all[type];
    if (container.app != kNone) ++by_app[container.app][type];
  }
  if (by_app != app_granted_ || by_node != node_granted_ || all != all_granted_) return "grants by task type";
  if (!index_.Consistent()) return "index of free resources and loads";
  return SeatErrors();
}

}  // namespace tdw
}  // namespace fairlead::scheduler
