#include "scheduler/spark_standalone/standalone.h"

#include <algorithm>
#include <set>

#include "scheduler/fairlead/core.h"

namespace fairlead::scheduler {
namespace standalone {
namespace {

using native::App;
using native::kNone;
using native::Node;
using native::Shape;
using native::Spot;
using native::Want;

FairleadConfig Adjusted(FairleadConfig config) {
  config.node_locality_wait = {};
  config.rack_locality_wait = {};
  return config;
}

class StandaloneCore final : public native::Core {
 public:
  explicit StandaloneCore(const StandaloneConfig& config)
      : Core(Adjusted(config.base)), spread_out_(config.spread_out) {}

  base::Instant NextDeadline() const override { return base::Instant::Max(); }
  std::unique_ptr<Scheduler> Fork() const override { return std::make_unique<StandaloneCore>(*this); }

 private:
  /// Most free cores first, then larger number (Master.startExecutorsOnWorkers sorts ascending and reverses).
  using Order = std::set<std::pair<int64_t, uint32_t>, std::greater<>>;

  void PlaceAll() override {
    for (const uint32_t node : changed_nodes_) {
      nodes_[node].changed = nodes_[node].freed = false;
      Reorder(node);
    }
    changed_nodes_.clear();
    if (keys_stale_) RebuildKeys();
    full_.clear();
    while (first_app_ < app_slots_.size() && app_slots_[first_app_] == kNone) ++first_app_;
    for (const bool masters : {true, false}) {
      for (size_t index = first_app_; index < app_slots_.size(); ++index) {
        const uint32_t slot = app_slots_[index];
        if (slot == kNone || !apps_[slot].runnable || !apps_[slot].active) continue;
        if (apps_[slot].needs_master == masters) Serve(slot);
      }
    }
  }

  void Reorder(uint32_t node) {
    if (node >= cores_.size()) cores_.resize(node + 1, -1);
    if (cores_[node] >= 0) order_.erase({cores_[node], node});
    cores_[node] = Open(nodes_[node]) ? std::max<int64_t>(0, Free(nodes_[node]).vcores()) : -1;
    if (cores_[node] >= 0) order_.insert({cores_[node], node});
  }

  void Serve(uint32_t slot) {
    for (size_t i = 0; i < apps_[slot].wants.size(); ++i) {
      Want& want = apps_[slot].wants[i];
      if (want.count == 0 || full_.contains(want.shape)) continue;
      Distribute(slot, want);
    }
  }

  /// One container a node in turn (or node after node) over the nodes that have room, in the order as it was when the
  /// request's turn came.
  void Distribute(uint32_t slot, Want& want) {
    const Shape shape = shapes_[want.shape];
    std::vector<uint32_t> usable;
    for (const auto& [cores, node] : order_) {
      if (cores < shape.size.vcores()) break;
      if (Fits(apps_[slot], node, shape)) usable.push_back(node);
      // A round over as many nodes as containers are wanted goes no further; the next round sees the order anew.
      if (usable.size() >= static_cast<size_t>(want.count)) break;
    }
    if (usable.empty() && apps_[slot].blacklist.empty()) full_.insert(want.shape);
    while (!usable.empty() && want.count > 0) {
      for (size_t i = 0; i < usable.size() && want.count > 0; ++i) {
        do {
          const native::Limit limit = FindLimit(apps_[slot].leaf, shape.size, apps_[slot].needs_master);
          if (limit.kind != native::Limit::Kind::kFree) return;
          GrantOn(slot, want, usable[i]);
        } while (!spread_out_ && want.count > 0 && Fits(apps_[slot], usable[i], shape));
      }
      std::erase_if(usable, [&](uint32_t node) { return !Fits(apps_[slot], node, shape); });
    }
  }

  void GrantOn(uint32_t slot, Want& want, uint32_t node) {
    Spot spot{Spot::Verdict::kFound, node, model::Locality::kOffSwitch};
    for (size_t i = 0; i < want.lines.size(); ++i) {
      if (want.lines[i].count == 0) continue;
      if (want.lines[i].name == nodes_[node].host) {
        spot.locality = model::Locality::kNodeLocal;
        spot.line = i;
      } else if (want.lines[i].name == nodes_[node].rack && spot.locality == model::Locality::kOffSwitch) {
        spot.locality = model::Locality::kRackLocal;
      }
    }
    Grant(slot, want, spot);
    Reorder(node);
  }

  bool spread_out_;
  size_t first_app_ = 0;  // those before it are gone, and none comes there again
  Order order_;
  std::vector<int64_t> cores_;  // as in order_; -1: not there
  std::set<uint32_t> full_;     // shapes that no node has room for, of this pass
};

}  // namespace
}  // namespace standalone

std::unique_ptr<Scheduler> MakeStandalone(const StandaloneConfig& config) {
  return std::make_unique<standalone::StandaloneCore>(config);
}

}  // namespace fairlead::scheduler
