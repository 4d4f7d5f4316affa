#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine/plan/operators.h"
#include "engine/records/errors.h"
#include "engine/records/owned.h"

namespace fairlead::engine {

/// A read-only value on every executor, as a field of a function:
///   struct Lookup { Broadcast<std::vector<Row>> rows; auto operator()(int64_t i) const { return (*rows)[i]; } };
/// The bytes come from the driver once per executor and are decoded once per process.
template <class T>
struct Broadcast {
  int64_t id = -1;

  static Broadcast Make(int64_t id, const T& value) {
    const std::lock_guard lock(Mutex());
    Values()[id] = std::make_shared<const Kept>(value);
    return {id};
  }
  const T& operator*() const {
    thread_local std::pair<int64_t, std::shared_ptr<const Kept>> last{-1, nullptr};
    if (last.first != id) last = {id, Find()};
    if constexpr (Serde<T>::kHoldsViews) {
      return **last.second;
    } else {
      return *last.second;
    }
  }
  const T* operator->() const { return &**this; }

 private:
  using Kept = std::conditional_t<Serde<T>::kHoldsViews, Owned<T>, T>;
  static std::mutex& Mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static std::map<int64_t, std::shared_ptr<const Kept>>& Values() {
    static std::map<int64_t, std::shared_ptr<const Kept>> values;
    return values;
  }
  std::shared_ptr<const Kept> Find() const {
    {
      const std::lock_guard lock(Mutex());
      const auto found = Values().find(id);
      if (found != Values().end()) return found->second;
    }
    TaskContext* const task = TaskContext::Current();
    if (task == nullptr) throw JobError("a broadcast value is read outside of its program's tasks");
    const std::shared_ptr<const std::string> bytes = task->FetchBroadcast(id);
    auto value = std::make_shared<Kept>();
    if (!FromBytes(*bytes, *value)) throw TaskError("a broadcast value does not parse");
    const std::lock_guard lock(Mutex());
    return Values().emplace(id, std::move(value)).first->second;
  }
};

/// See Context::MakeCounter.
struct Counter {
  int64_t id = -1;
  void Add(int64_t amount = 1) const {
    if (TaskContext* const task = TaskContext::Current()) task->counters[id] += amount;
  }
};

}  // namespace fairlead::engine
