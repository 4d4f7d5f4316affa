#include <algorithm>
#include <bit>

#include "scheduler/fairlead/core.h"

// Requests: grouped by (priority, request id, shape), shapes into classes.

namespace fairlead::scheduler::native {

using model::Refusal;

namespace {

constexpr size_t kLongestName = 1024;
constexpr int64_t kMostLabels = 4096;

/// The largest application priority and count that orders and sums are made for.
bool Outlandish(const model::Ask& ask) { return ask.count < 0 || ask.name.empty() || ask.name.size() > kLongestName; }

}  // namespace

Resources Core::Normalized(Resources size) const {
  for (size_t t = 0; t < types_; ++t) {
    size[t] = std::max(size[t], config_.minimum_allocation[t]);
    const int64_t step = config_.increment[t];
    if (step > 0) size[t] = (size[t] + step - 1) / step * step;
  }
  return size;
}

model::Refused Core::CheckAsks(const App& app, const ev::Allocate& event) const {
  Resources all = app.pending;
  for (const model::Ask& ask : event.asks) {
    if (Outlandish(ask)) return {Refusal::kBadCount, {ask.name.substr(0, kLongestName)}, {}, {ask.count}};
    if (ask.count == 0) continue;
    if (!ask.label.empty() && labels_.Find(ask.label) == kNone && static_cast<int64_t>(labels_.size()) >= kMostLabels) {
      return {Refusal::kTooManyLabels, {ask.label.substr(0, 64)}, {}, {kMostLabels}};
    }
    if (ask.capability.AnyNegative() || ask.capability.IsZero()) {
      return {Refusal::kEmptySize, {}, {ask.capability}, {}};
    }
    for (size_t t = 0; t < Resources::kMaxTypes; ++t) {
      const int64_t amount = ask.capability[t];
      if (t >= types_ && amount > 0) return {Refusal::kUnknownType, {}, {ask.capability}, {}};
      const int64_t most = config_.maximum_allocation[t];
      if (most > 0 && amount > most) {
        return {Refusal::kAboveMaximum,
                {std::string(model::ResourceTypes::Name(t))},
                {ask.capability, config_.maximum_allocation, config_.maximum_allocation},
                {}};
      }
      if (amount >= kLargestSum / std::max(1, ask.count) ||
          (ask.name == "*" && (all[t] += amount * ask.count) >= kLargestSum)) {
        return {Refusal::kTooMuch, {}, {ask.capability}, {ask.count}};
      }
    }
  }
  return TooManyKeys(app, event);
}

model::Refused Core::TooManyKeys(const App& app, const ev::Allocate& event) const {
  if (app.wants.size() + event.asks.size() <= static_cast<size_t>(config_.sizes_per_app)) return {};
  using Key = std::pair<std::pair<int32_t, int64_t>, std::pair<std::array<int64_t, Resources::kMaxTypes>, std::string>>;
  std::set<Key> keys;
  std::set<std::pair<std::array<int64_t, Resources::kMaxTypes>, std::string>> sizes;
  const auto note = [&](int32_t priority, int64_t id, const Resources& size, const std::string& label) {
    keys.insert({{priority, id}, {size.amount, label}});
    sizes.insert({size.amount, label});
  };
  for (const Want& want : app.wants) {
    if (want.count == 0) continue;
    const Shape& shape = shapes_[want.shape];
    note(want.priority, want.request_id, shape.size, shape.label == kNone ? "" : labels_.Name(shape.label));
  }
  for (const model::Ask& ask : event.asks) {
    if (ask.count > 0) note(ask.priority, ask.allocation_request_id, Normalized(ask.capability), ask.label);
  }
  if (keys.size() > static_cast<size_t>(config_.keys_per_app)) {
    return {Refusal::kTooManyKeys, {}, {}, {config_.keys_per_app}};
  }
  if (sizes.size() > static_cast<size_t>(config_.sizes_per_app)) {
    return {Refusal::kTooManySizes, {}, {}, {config_.sizes_per_app}};
  }
  return {};
}

void Core::ChangeBlacklist(uint32_t slot, const ev::Allocate& event) {
  if (event.blacklist_add.empty() && event.blacklist_remove.empty()) return;
  App& app = apps_[slot];
  constexpr size_t kMost = 65'536;
  for (const std::string& name : event.blacklist_add) {
    if (app.blacklist.size() < kMost && name.size() <= kLongestName) app.blacklist.push_back(names_.Intern(name));
  }
  std::sort(app.blacklist.begin(), app.blacklist.end());
  app.blacklist.erase(std::unique(app.blacklist.begin(), app.blacklist.end()), app.blacklist.end());
  for (const std::string& name : event.blacklist_remove) {
    const uint32_t id = names_.Find(name);
    if (id != kNone) std::erase(app.blacklist, id);
  }
  places_.resize(names_.size());
  racks_.resize(names_.size());
  // What may be placed differs now: every request of the application is tried again.
  for (Want& want : app.wants) {
    if (want.park != Park::kNo && want.park != Park::kGang) SetPark(slot, want, Park::kNo);
  }
  ++room_version_;
}

bool Core::Excluded(const App& app, const Node& node) const {
  if (app.blacklist.empty()) return false;
  return std::binary_search(app.blacklist.begin(), app.blacklist.end(), node.host) ||
         std::binary_search(app.blacklist.begin(), app.blacklist.end(), node.rack);
}

void Core::ApplyAsk(uint32_t slot, const model::Ask& ask) {
  App& app = apps_[slot];
  if (!app.active) return;
  const Resources size = Normalized(ask.capability);
  ShapeKey key{size, kNone};
  if (ask.count == 0) {
    // Taking back what was never asked makes nothing.
    key.label = ask.label.empty() ? kNone : labels_.Find(ask.label);
    if (!shape_by_key_.contains(key)) return;
  } else {
    key.label = LabelFor(ask.label);
  }
  const uint32_t shape = ShapeFor(key);
  Want& want = WantFor(slot, ask, shape);
  if (want.gang != 0) {
    EnterGang(slot, want);
  } else if (want.park != Park::kNo) {
    SetPark(slot, want, Park::kNo);
  }
  if (ask.name == "*") {
    want.relax_any = ask.relax_locality;
    SetCount(app, want, ask.count);
    return;
  }
  const uint32_t name = names_.Intern(ask.name);
  places_.resize(names_.size());
  racks_.resize(names_.size());
  const auto at = std::lower_bound(want.lines.begin(), want.lines.end(), name,
                                   [](const Line& line, uint32_t id) { return line.name < id; });
  if (at != want.lines.end() && at->name == name) {
    at->count = ask.count;
    at->relax = ask.relax_locality;
  } else if (ask.count > 0) {
    want.lines.insert(at, Line{name, ask.count, ask.name.front() == '/', ask.relax_locality});
    if (want.waiter != kNone) StandAt(name, want.waiter);
  }
}

Want& Core::WantFor(uint32_t slot, const model::Ask& ask, uint32_t shape) {
  std::vector<Want>& wants = apps_[slot].wants;
  const auto before = [&](const Want& want, const model::Ask&) {
    if (want.priority != ask.priority) return want.priority < ask.priority;
    if (want.request_id != ask.allocation_request_id) return want.request_id < ask.allocation_request_id;
    if (want.shape != shape) return want.shape < shape;
    return want.gang < ask.gang;
  };
  auto at = std::lower_bound(wants.begin(), wants.end(), ask, before);
  if (at != wants.end() && at->priority == ask.priority && at->request_id == ask.allocation_request_id &&
      at->shape == shape && at->gang == ask.gang) {
    return *at;
  }
  Want want;
  want.priority = ask.priority;
  want.request_id = ask.allocation_request_id;
  want.shape = shape;
  want.gang = ask.gang;
  want.serial = next_serial_++;
  UseShape(shape);
  return *wants.insert(at, std::move(want));
}

Want* Core::FindWant(uint32_t slot, uint64_t serial) {
  if (slot >= apps_.size()) return nullptr;
  for (Want& want : apps_[slot].wants) {
    if (want.serial == serial) return &want;
  }
  return nullptr;
}

void Core::SetCount(App& app, Want& want, int32_t count) {
  if (want.count == count) return;
  const Resources size = shapes_[want.shape].size;
  const int64_t change = int64_t{count} - want.count;
  app.pending += size * change;
  AddDemand(app.leaf, size * change);
  if (want.count == 0) {
    want.since = now_;
    want.refusing_since = Instant::Max();
    WantShape(want.shape, 1);
  }
  want.count = count;
  if (count == 0) WantShape(want.shape, -1);
  if (count < want.held) DropHoldsOf(app_slots_[app.index.value], want.serial);
}

void Core::DropIdleWants(uint32_t slot) {
  std::erase_if(apps_[slot].wants, [&](Want& want) {
    if (want.count > 0) return false;
    for (const Line& line : want.lines) {
      if (line.count > 0) return false;
    }
    DropShape(want.shape);
    ForgetWaiter(want);
    return true;
  });
}

void Core::DropWants(uint32_t slot) {
  App& app = apps_[slot];
  for (Want& want : app.wants) {
    SetCount(app, want, 0);
    DropShape(want.shape);
    ForgetWaiter(want);
  }
  app.wants.clear();
  app.classes = 0;
  std::erase_if(gangs_, [&](const Gang& gang) { return gang.app == slot; });
}

void Core::RefreshClasses(uint32_t slot) {
  App& app = apps_[slot];
  uint64_t classes = 0;
  for (const Want& want : app.wants) {
    if (want.count > 0 && want.park == Park::kNo) classes |= uint64_t{1} << shapes_[want.shape].shape_class;
  }
  app.classes = classes;
  RefreshApp(slot);
  RefreshPath(app.leaf);
}

void Core::SetPark(uint32_t slot, Want& want, Park park) {
  want.park = park;
  if (want.waiter != kNone) waits_for_[want.waiter] = WaitsFor::kNothing;  // for a place: Wait says which
  RefreshClasses(slot);
}

uint32_t Core::LabelFor(std::string_view label) {
  if (label.empty()) return kNone;
  const uint32_t id = labels_.Intern(label);
  while (partitions_.size() <= labels_.size()) partitions_.emplace_back(types_);
  return id;
}

uint32_t Core::ShapeFor(const ShapeKey& key) {
  const auto [it, fresh] = shape_by_key_.try_emplace(key, 0);
  if (!fresh) return it->second;
  uint32_t shape;
  if (spare_shapes_.empty()) {
    shape = static_cast<uint32_t>(shapes_.size());
    shapes_.emplace_back();
  } else {
    shape = spare_shapes_.back();
    spare_shapes_.pop_back();
    shapes_[shape] = Shape{};
  }
  it->second = shape;
  static_cast<ShapeKey&>(shapes_[shape]) = key;
  return shape;
}

void Core::DropShape(uint32_t index) {
  Shape& shape = shapes_[index];
  if (--shape.uses > 0) return;
  shape_by_key_.erase(shape);
  spare_shapes_.push_back(index);
}

void Core::WantShape(uint32_t index, int change) {
  Shape& shape = shapes_[index];
  if (change > 0 && shape.wanted++ == 0) {
    const auto least = std::min_element(class_shapes_.begin(), class_shapes_.end());
    shape.shape_class = static_cast<uint8_t>(least - class_shapes_.begin());
    ++class_shapes_[shape.shape_class];
    ForgetBlocked(uint64_t{1} << shape.shape_class);
    if (class_open_[shape.shape_class]++ == 0) servable_ |= uint64_t{1} << shape.shape_class;
  }
  if (change < 0 && --shape.wanted == 0) {
    LoosenShape(index);
    --class_shapes_[shape.shape_class];
    if (--class_open_[shape.shape_class] == 0) servable_ &= ~(uint64_t{1} << shape.shape_class);
  }
}

/// A class means another shape now: what queues could not take of the old one says nothing.
void Core::ForgetBlocked(uint64_t classes) {
  if (!(blocked_classes_ & classes)) return;
  blocked_classes_ &= ~classes;
  for (uint32_t q = 0; q < queues_.size(); ++q) {
    if (!(queues_[q].blocked & classes)) continue;
    queues_[q].blocked &= ~classes;
    RefreshPath(q);
  }
}

void Core::BlockShape(uint32_t index) {
  Shape& shape = shapes_[index];
  if (!shape.exact) tight_shapes_.push_back(index);
  shape.exact = false;
  shape.candidates.clear();
  shape.blocked = true;
  shape.blocked_since = now_;
  if (--class_open_[shape.shape_class] == 0) servable_ &= ~(uint64_t{1} << shape.shape_class);
}

void Core::UnblockShape(uint32_t index) {
  Shape& shape = shapes_[index];
  shape.blocked = false;
  if (class_open_[shape.shape_class]++ == 0) servable_ |= uint64_t{1} << shape.shape_class;
}

void Core::OfferNode(uint32_t index, uint32_t node) {
  constexpr size_t kMostCandidates = 16;
  Shape& shape = shapes_[index];
  if (shape.blocked) UnblockShape(index);
  shape.exact = true;
  if (std::find(shape.candidates.begin(), shape.candidates.end(), node) != shape.candidates.end()) return;
  shape.candidates.push_back(node);
  if (shape.candidates.size() > kMostCandidates) LoosenShape(index);
}

void Core::LoosenShape(uint32_t index) {
  Shape& shape = shapes_[index];
  if (shape.blocked) UnblockShape(index);
  shape.exact = false;
  shape.candidates.clear();
  const auto at = std::find(tight_shapes_.begin(), tight_shapes_.end(), index);
  if (at == tight_shapes_.end()) return;
  *at = tight_shapes_.back();
  tight_shapes_.pop_back();
}

}  // namespace fairlead::scheduler::native
