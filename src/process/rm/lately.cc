#include "process/rm/lately.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "model/exit_status.h"
#include "process/rm/queue_names.h"

namespace fairlead::process::rm {

using fairlead::rm::App;
using fairlead::rm::Core;
using fairlead::rm::Node;

namespace ms = model::scheduler;

namespace {

/// Happenings as the scheduler's effects tell them; an effect that nobody asks about gives none.
class Teller {
 public:
  Teller(base::WallTime at, const Core& core) : at_(at), core_(core) {}

  template <class Effect>
  bool operator()(const Effect&, Happening&) const {
    return false;
  }
  bool operator()(const ms::Granted& effect, Happening& out) const {
    Of(HappeningKind::kGranted, effect.app, out);
    At(effect.node, out);
    out.container = effect.container;
    out.size = effect.resources;
    out.detail = effect.is_master ? "the application's master" : EnumName(effect.locality);
    if (effect.from_reservation) out.detail += ", on room that was held for it";
    return true;
  }
  bool operator()(const ms::Reserved& effect, Happening& out) {
    held_for_ = effect.app;
    Of(HappeningKind::kHeld, effect.app, out);
    At(effect.node, out);
    out.size = effect.resources;
    return true;
  }
  bool operator()(const ms::Unreserved& effect, Happening& out) const {
    Of(HappeningKind::kReleased, effect.app, out);
    At(effect.node, out);
    return true;
  }
  bool operator()(const ms::Finished& effect, Happening& out) const {
    const bool taken = effect.exit_status == model::kExitPreempted;
    Of(taken ? HappeningKind::kPreempted : HappeningKind::kEnded, effect.app, out);
    At(effect.node, out);
    out.container = effect.container;
    out.exit_status = effect.exit_status;
    out.detail = effect.diagnostics;
    if (const fairlead::rm::Container* container = core_.FindContainer(effect.container)) {
      out.size = container->resources;
      if (out.detail.empty()) out.detail = container->diagnostics;
    }
    return true;
  }
  /// A reservation precedes the preemption notice: `held_for_` is the application that will get the room.
  bool operator()(const ms::PreemptionNotice& effect, Happening& out) const {
    Of(HappeningKind::kNotice, effect.app, out);
    out.container = effect.container;
    if (const fairlead::rm::Container* container = core_.FindContainer(effect.container)) At(container->node, out);
    out.detail = effect.contract ? "as much will be taken back" : "this container will be taken back";
    if (const App* gains = held_for_.valid() ? core_.AppAt(held_for_) : nullptr) {
      out.detail += " for " + ToString(gains->submission.id) + " in " + gains->submission.queue;
    }
    return true;
  }
  bool operator()(const ms::VictimsChosen& effect, Happening& out) const {
    Of(HappeningKind::kNotice, effect.app, out);
    out.size = effect.starvation;
    out.detail = "starves; " + base::Counted(static_cast<int64_t>(effect.victims.size()), "container") +
                 " of others will be taken back";
    return true;
  }
  bool operator()(const ms::GangExpired& effect, Happening& out) const {
    Of(HappeningKind::kRefused, effect.app, out);
    out.detail = "gang " + std::to_string(effect.gang) + " could not start in time";
    return true;
  }
  bool operator()(const ms::CallRefused& effect, Happening& out) const {
    out.at = at_;
    out.kind = HappeningKind::kRefused;
    out.detail = ToString(effect.refused);
    return true;
  }

 private:
  void Of(HappeningKind kind, model::AppIndex index, Happening& out) const {
    out.at = at_;
    out.kind = kind;
    const App* app = core_.AppAt(index);
    if (!app) return;
    out.app = app->submission.id;
    out.queue = app->submission.queue;
  }
  void At(model::NodeIndex index, Happening& out) const {
    const Node* node = core_.NodeAt(index);
    if (!node) return;
    out.node = ToString(node->address);
    out.http_address = node->HttpAddress();
  }

  base::WallTime at_;
  const Core& core_;
  model::AppIndex held_for_;  // of this step's last reservation
};

}  // namespace

std::string_view EnumName(HappeningKind kind) {
  static constexpr std::array<std::string_view, kHappeningKinds> kNames = {
      "granted", "held", "released", "ended", "preempted", "notice", "refused", "state", "action"};
  return kNames[static_cast<size_t>(kind)];
}

void Lately::Add(Happening happening) {
  happening.number = ++last_;
  const auto at = static_cast<size_t>(happening.kind);
  ++counts_[at];
  std::deque<Happening>& ring = kept_[at];
  if (ring.size() == kMostOfAKind) ring.pop_front();
  ring.push_back(std::move(happening));
}

void Lately::Record(base::WallTime at, const Core& core, std::span<const ms::Effect> effects) {
  queues_.Take(at, core, effects);
  Teller teller(at, core);
  for (const ms::Effect& effect : effects) {
    Happening happening;
    if (std::visit([&](const auto& one) { return teller(one, happening); }, effect)) Add(std::move(happening));
  }
}

void Lately::Record(base::WallTime at, const Core& core, const model::rm::StateChanged& change) {
  queues_.Take(core, change);
  Happening happening;
  happening.at = at;
  happening.kind = HappeningKind::kState;
  happening.app = change.app;
  if (happening.app.number == 0) {
    happening.node = change.subject;
  } else if (const App* app = core.FindApp(happening.app)) {
    happening.queue = app->submission.queue;
  }
  happening.detail = change.subject + " is " + change.to + (change.detail.empty() ? "" : ": " + change.detail);
  Add(std::move(happening));
}

std::vector<const Happening*> Lately::Find(const Filter& filter, size_t most, const Told& told) const {
  std::vector<const Happening*> found;
  for (size_t kind = 0; kind < kHappeningKinds; ++kind) {
    if (!filter.kind.empty() && filter.kind != EnumName(HappeningKind{static_cast<uint8_t>(kind)})) continue;
    size_t of_kind = 0;
    for (auto one = kept_[kind].rbegin(); one != kept_[kind].rend() && of_kind < most; ++one) {
      if (one->number <= filter.after) break;
      if (filter.app.number != 0 && one->app != filter.app) continue;
      if (!filter.queue.empty() && !AtOrBelow(one->queue, filter.queue)) continue;
      if (!filter.node.empty() && one->node != filter.node) continue;
      if (told && !told(*one)) continue;
      found.push_back(&*one);
      ++of_kind;
    }
  }
  std::sort(found.begin(), found.end(), [](const Happening* a, const Happening* b) { return a->number > b->number; });
  if (found.size() > most) found.resize(most);
  return found;
}

}  // namespace fairlead::process::rm
