#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/prefetch.h"
#include "base/slot_table.h"
#include "base/state.h"
#include "model/ids.h"
#include "rm/state.h"

namespace fairlead::rm {

/// The applications by index, in order of submission, and by id. An index is never given twice; what a forgotten
/// application leaves behind is a pointer, and not even that soon after all before it are forgotten, too.
///
/// Whoever may change an application gets it by a call that notes its index as touched, so that what is made of
/// applications for readers is made again of those alone. Who changes nothing that readers see uses Peek, or ForEach,
/// and Touch if it comes to it.
class AppTable {
 public:
  /// A new application under the next index; alive.
  App& Add() {
    auto& slot = slots_.emplace_back(std::make_unique<App>());
    slot->index.value = static_cast<uint32_t>(first_ + slots_.size() - 1);
    slot->alive = true;
    Touch(*slot);
    return *slot;
  }
  /// From now on it is found by the id of its submission, under which there is no other.
  void Enter(const App& app) { by_id_.Add(HashOf(app.submission.id), app.index.value); }
  /// It is no longer alive, and gone for good with the next Clear(): until then callers may still hold it.
  void Drop(model::AppIndex index) {
    Owned<App>& slot = slots_[index.value - first_];
    const model::ApplicationId& id = slot->submission.id;
    Touch(*slot);
    if (PeekById(id) == slot.get()) by_id_.Remove(HashOf(id), index.value);  // not every one was entered
    *slot = App{};
    slot->index = index;
    dropped_.push_back(std::move(slot));
    while (gone_ < slots_.size() && !slots_[gone_]) ++gone_;
    if (2 * gone_ <= slots_.size()) return;
    slots_.erase(slots_.begin(), slots_.begin() + static_cast<ptrdiff_t>(gone_));
    first_ += std::exchange(gone_, 0);
  }
  void Clear() { dropped_.clear(); }
  /// Null when it is forgotten or was never there.
  const App* Find(model::AppIndex index) const {
    const bool known = index.valid() && index.value >= first_ && index.value - first_ < slots_.size();
    return known ? slots_[index.value - first_].get() : nullptr;
  }
  /// Null when none has been entered under that id, or it is forgotten.
  const App* FindById(const model::ApplicationId& id) const {
    const uint32_t index =
        by_id_.Find(HashOf(id), [&](uint32_t candidate) { return slots_[candidate - first_]->submission.id == id; });
    return index == base::SlotTable::kNone ? nullptr : slots_[index - first_].get();
  }
  App* FindById(const model::ApplicationId& id) {
    App* app = PeekById(id);
    if (app) Touch(*app);
    return app;
  }
  /// One that is forgotten reads as an application that is not alive.
  App& operator[](model::AppIndex index) {
    App& app = Peek(index);
    if (&app != &nobody_) Touch(app);
    return app;
  }
  App* PeekById(const model::ApplicationId& id) { return const_cast<App*>(std::as_const(*this).FindById(id)); }
  App& Peek(model::AppIndex index) {
    App* app = const_cast<App*>(Find(index));
    if (app) return *app;
    nobody_ = App{};
    return nobody_;
  }
  void Touch(App& app) {
    if (std::exchange(app.touched, true)) return;
    touched_.push_back(app.index);
  }
  size_t touched() const { return touched_.size(); }
  /// Those that were added, touched or dropped since the last call, each once for what it was before.
  std::vector<model::AppIndex> TakeTouched() {
    for (const model::AppIndex index : touched_) Peek(index).touched = false;
    return std::exchange(touched_, {});
  }
  const App& operator[](model::AppIndex index) const {
    const App* app = Find(index);
    return app ? *app : nobody_;
  }
  /// `visit` may add applications and drop them. Touches none.
  template <class Visit>
  void ForEach(Visit&& visit) {
    for (size_t index = first_; index < first_ + slots_.size(); ++index) {
      if (index >= first_ && slots_[index - first_]) visit(*slots_[index - first_]);
    }
  }
  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const auto& slot : slots_) {
      if (slot) visit(std::as_const(*slot));
    }
  }

  // For Core::Prefetch: where the application is, and where its id is looked up.
  void PrefetchPlace(model::AppIndex index) const {
    if (index.value >= first_ && index.value - first_ < slots_.size()) base::Prefetch(&slots_[index.value - first_]);
  }
  void PrefetchId(const App& app) const { by_id_.Prefetch(HashOf(app.submission.id)); }
  FL_STATE_PART(first_, gone_, slots_, by_id_, touched_)

 private:
  static uint32_t HashOf(const model::ApplicationId& id) {
    // Numbers follow each other: without mixing, a few old ones among them would be looked for through all.
    const uint64_t hash = std::hash<model::ApplicationId>()(id) * 0x9fb21c651e98df25;
    return static_cast<uint32_t>(hash >> 32);
  }

  size_t first_ = 0;  // index of the first slot
  size_t gone_ = 0;   // slots at the front that are empty
  std::vector<Owned<App>> slots_;
  base::SlotTable by_id_;
  std::vector<Owned<App>> dropped_;
  std::vector<model::AppIndex> touched_;
  App nobody_;
};

}  // namespace fairlead::rm
