#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "rm/state.h"

namespace fairlead::rm {

/// The applications by index, in order of submission. An index is never given twice; what a forgotten application
/// leaves behind is a pointer, and not even that once all before it are forgotten, too.
class AppTable {
 public:
  /// A new application under the next index; alive.
  App& Add() {
    auto& slot = slots_.emplace_back(std::make_unique<App>());
    slot->index.value = static_cast<uint32_t>(first_ + slots_.size() - 1);
    slot->alive = true;
    return *slot;
  }
  /// It is no longer alive, and gone for good with the next Clear(): until then callers may still hold it.
  void Drop(model::AppIndex index) {
    std::unique_ptr<App>& slot = slots_[index.value - first_];
    *slot = App{};
    slot->index = index;
    dropped_.push_back(std::move(slot));
    for (; !slots_.empty() && !slots_.front(); ++first_) slots_.pop_front();
  }
  void Clear() { dropped_.clear(); }
  /// Null when it is forgotten or was never there.
  const App* Find(model::AppIndex index) const {
    const bool known = index.valid() && index.value >= first_ && index.value - first_ < slots_.size();
    return known ? slots_[index.value - first_].get() : nullptr;
  }
  /// One that is forgotten reads as an application that is not alive.
  App& operator[](model::AppIndex index) {
    App* app = const_cast<App*>(Find(index));
    if (app) return *app;
    gone_ = App{};
    return gone_;
  }
  const App& operator[](model::AppIndex index) const {
    const App* app = Find(index);
    return app ? *app : gone_;
  }
  /// `visit` may add applications and drop them.
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

 private:
  size_t first_ = 0;  // index of the first slot
  std::deque<std::unique_ptr<App>> slots_;
  std::vector<std::unique_ptr<App>> dropped_;
  App gone_;
};

}  // namespace fairlead::rm
