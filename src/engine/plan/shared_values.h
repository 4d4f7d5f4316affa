#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "engine/plan/function.h"
#include "engine/plan/operators.h"
#include "engine/records/errors.h"
#include "engine/records/owned.h"

namespace fairlead::engine {

/// The broadcast values that this process has decoded. An id is of one type. Thread-safe.
struct DecodedBroadcasts {
  /// The value that holds from now on: the one that was there first.
  static std::shared_ptr<const void> Put(int64_t id, std::shared_ptr<const void> value);
  /// Null when it is not there.
  static std::shared_ptr<const void> Find(int64_t id);
  static void Forget(int64_t id);
};

/// A read-only value on every executor, as a field of a function:
///   struct Lookup { Broadcast<std::vector<Row>> rows; auto operator()(int64_t i) const { return (*rows)[i]; } };
/// The bytes come from the driver once per executor and are decoded once per process. The value is forgotten everywhere
/// when the last handle to it and the last dataset whose functions have one are gone (a thread keeps the last value of
/// each type that it read until it reads another).
template <class T>
struct Broadcast {
  int64_t id = -1;
  std::shared_ptr<const void> hold;  // at the driver

  /// `drop` is called when nobody needs the value any more.
  static Broadcast Make(int64_t id, const T& value, std::function<void()> drop) {
    Put(id, std::make_shared<const Kept>(value));
    static constexpr char kSomewhere = 0;
    return {id, std::shared_ptr<const void>(&kSomewhere, [drop = std::move(drop)](const void*) { drop(); })};
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
  static std::shared_ptr<const Kept> Put(int64_t id, std::shared_ptr<const Kept> value) {
    return std::static_pointer_cast<const Kept>(DecodedBroadcasts::Put(id, std::move(value)));
  }
  std::shared_ptr<const Kept> Find() const {
    if (auto found = std::static_pointer_cast<const Kept>(DecodedBroadcasts::Find(id))) return found;
    TaskContext* const task = TaskContext::Current();
    if (task == nullptr) throw JobError("a broadcast value is read outside of its program's tasks");
    const std::shared_ptr<const std::string> bytes = task->FetchBroadcast(id);
    auto value = std::make_shared<Kept>();
    if (!FromBytes(*bytes, *value)) throw TaskError("a broadcast value does not parse");
    return Put(id, std::move(value));
  }
};

template <class T>
struct Serde<Broadcast<T>> {
  static constexpr size_t kFixed = sizeof(int64_t);
  static constexpr bool kHoldsViews = false;
  static void Write(Buffer& out, const Broadcast<T>& v) {
    HoldsCollector::Note(v.hold);
    Serde<int64_t>::Write(out, v.id);
  }
  static bool Read(Cursor& in, Broadcast<T>& v) { return Serde<int64_t>::Read(in, v.id); }
};

/// See Context::MakeCounter.
struct Counter {
  int64_t id = -1;
  void Add(int64_t amount = 1) const;
};

}  // namespace fairlead::engine
