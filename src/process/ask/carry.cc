#include "process/ask/carry.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "model/refusal.h"

namespace fairlead::process::ask {

namespace ms = model::scheduler;

namespace {

class Carrier {
 public:
  Carrier(const Present& present, scheduler::Scheduler& into) : present_(present), into_(into) {}

  void Nodes() {
    for (const Present::Node& node : present_.nodes) {
      events_.emplace_back(ms::NodeAdded{node.index, node.host, node.port, node.rack, node.capacity, node.labels});
      if (node.drains) events_.emplace_back(ms::NodeSchedulable{node.index, false});
      if (!node.windows.empty()) events_.emplace_back(ms::NodeWindows{node.index, node.windows});
    }
    Tell();
  }
  /// Those that the other scheduler takes.
  std::set<model::AppIndex> Apps() {
    std::set<model::AppIndex> taken;
    for (const Present::App& app : present_.apps) {
      ms::AppAdded added;
      added.app = app.index;
      added.id = app.id;
      added.queue = app.queue;
      added.user = app.user;
      added.priority = app.priority;
      added.place = false;
      added.recovering = true;
      added.unmanaged = app.unmanaged;
      added.master_asks = app.master_asks;
      added.token = app.index.value + 1;
      added.session.kind = app.kind;
      added.name = app.name;
      events_.emplace_back(std::move(added));
      taken.insert(app.index);
    }
    Tell();
    for (const ms::Effect& effect : effects_) {
      const auto* refused = std::get_if<ms::CallRefused>(&effect);
      if (!refused) continue;
      taken.erase(model::AppIndex{static_cast<uint32_t>(refused->token - 1)});
      if (refused_.empty()) refused_ = ToString(refused->refused);
    }
    for (const Present::App& app : present_.apps) {
      if (taken.contains(app.index) && app.attempt > 0) {
        events_.emplace_back(ms::AttemptAdded{app.index, app.attempt, false});
      }
    }
    Tell();
    return taken;
  }
  void Containers(const std::set<model::AppIndex>& apps) {
    for (const Present::Container& one : present_.containers) {
      if (!apps.contains(one.app)) continue;
      events_.emplace_back(ms::ContainerRecovered{one.app, one.node, one.id, one.size, one.priority, one.master});
    }
    Tell();
  }
  /// What the applications wait for, asked for anywhere.
  std::vector<ms::Event> Asks(const std::set<model::AppIndex>& apps) {
    std::set<model::AppIndex> masters;
    for (const Present::Container& one : present_.containers) {
      if (one.master) masters.insert(one.app);
    }
    std::vector<ms::Event> calls;
    uint64_t token = 0;
    for (const Present::App& app : present_.apps) {
      if (!apps.contains(app.index) || app.attempt == 0) continue;
      ms::Allocate call;
      call.app = app.index;
      if (app.unmanaged || masters.contains(app.index)) {
        call.token = ++token;
        call.asks = AsksOf(app);
      } else {
        call.token = ms::MasterToken(app.index);
        call.asks = app.master_asks;
      }
      if (!call.asks.empty()) calls.emplace_back(std::move(call));
    }
    return calls;
  }
  const std::string& refused() const { return refused_; }
  bool places() const { return places_; }

 private:
  std::vector<model::Ask> AsksOf(const Present::App& app) {
    using Size = std::array<int64_t, model::Resources::kMaxTypes>;
    std::map<std::tuple<int32_t, int64_t, Size>, model::Ask> asks;
    for (const ms::Pending& pending : present_.scheduler->Why(app.index, present_.now)) {
      model::Ask ask = pending.ask;
      places_ = places_ || ask.name != "*" || !ask.relax_locality || ask.gang != 0;
      ask.name = "*";
      ask.relax_locality = true;
      ask.gang = 0;
      auto [at, fresh] = asks.try_emplace({ask.priority, ask.allocation_request_id, ask.capability.amount}, ask);
      if (!fresh && ask.count > at->second.count) at->second = std::move(ask);
    }
    std::vector<model::Ask> all;
    std::set<std::pair<int32_t, int64_t>> numbers;
    int64_t spare = INT64_MAX;
    for (auto& [key, ask] : asks) {
      // Not every profile takes two sizes under one number.
      if (!numbers.insert({ask.priority, ask.allocation_request_id}).second) ask.allocation_request_id = spare--;
      all.push_back(std::move(ask));
    }
    return all;
  }
  void Tell() {
    effects_.clear();
    into_.Step(present_.now, events_, effects_);
    events_.clear();
  }

  const Present& present_;
  scheduler::Scheduler& into_;
  std::vector<ms::Event> events_;
  scheduler::EffectSink effects_;
  std::string refused_;
  bool places_ = false;
};

}  // namespace

Carried Carry(const Present& present, OtherProfile into, base::Duration heartbeat) {
  Carrier carrier(present, *into.scheduler);
  carrier.Nodes();
  const std::set<model::AppIndex> apps = carrier.Apps();
  carrier.Containers(apps);
  Carried carried{present, std::move(into.passed_over)};
  carried.present.first = carrier.Asks(apps);
  carried.present.heartbeat = into.by_heartbeat ? heartbeat : base::Duration{};
  carried.present.scheduler = std::move(into.scheduler);
  std::erase_if(carried.present.apps, [&](const Present::App& app) { return !apps.contains(app.index); });
  std::erase_if(carried.present.containers, [&](const Present::Container& one) { return !apps.contains(one.app); });
  for (Present::Container& one : carried.present.containers) one.acquired = one.launched = true;
  if (apps.size() < present.apps.size()) {
    carried.lost.push_back(base::Counted(static_cast<int64_t>(present.apps.size() - apps.size()), "application") +
                           " that " + into.name + " does not take: " + carrier.refused());
  }
  if (carrier.places())
    carried.lost.emplace_back("places and gangs of what is waited for: it goes anywhere, one by one");
  carried.lost.emplace_back(
      "reservations, promised starts, past use, budgets, groups of users, and for how long somebody has waited");
  return carried;
}

}  // namespace fairlead::process::ask
