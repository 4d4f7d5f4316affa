#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "engine/plan/operators.h"
#include "engine/records/serde.h"

namespace fairlead::engine {

/// A function that can travel to executors: without state (a lambda without captures, a function object), or an
/// aggregate whose fields are serializable and which has a const operator().
template <class F>
concept Shippable =
    (std::is_empty_v<F> && std::is_default_constructible_v<F>) || (!std::is_empty_v<F> && Serializable<F>);

#define FL_ENGINE_CHECK_FUNCTION(F)                                                                                  \
  static_assert(::fairlead::engine::Shippable<F>,                                                                    \
                "this function cannot travel to executors: a lambda must not capture (executors do not share the "   \
                "driver's memory); write a struct with the values as public fields and a const operator(), such as " \
                "struct Scale { double by; double operator()(double x) const { return x * by; } }; "                 \
                "its fields are of the types that records may have: no std::map, no class with private members")

/// `who` is the operator's name as a literal.
#define FL_ENGINE_CHECK_RECORD(T, who)                                                                              \
  static_assert(::fairlead::engine::Serializable<T>, who                                                            \
                ": this type of record cannot leave its task. Records are numbers, enums, std::string, "            \
                "std::string_view, std::pair, tuple, array, vector and optional of such, and structs whose fields " \
                "are public and such themselves (up to 12; more are listed with FL_FIELDS). For another class "     \
                "write Serde<T> (engine/records/serde.h)")

/// What a function takes along: the bytes of its fields, and what they refer to at the driver, which lives as long as
/// the dataset that has the function.
struct Captured {
  std::string bytes;
  std::vector<std::shared_ptr<const void>> holds;

  Captured(std::string fields) : bytes(std::move(fields)) {}
  Captured(const char* fields) : bytes(fields) {}
};

/// While it lives, a field that refers to something says so (see Serde<Broadcast<T>>). One at a time in a thread.
class HoldsCollector {
 public:
  HoldsCollector() { current_ = this; }
  ~HoldsCollector() { current_ = nullptr; }
  HoldsCollector(const HoldsCollector&) = delete;
  HoldsCollector& operator=(const HoldsCollector&) = delete;

  static void Note(const std::shared_ptr<const void>& held) {
    if (current_ != nullptr && held != nullptr) current_->holds_.push_back(held);
  }
  std::vector<std::shared_ptr<const void>> Take() { return std::move(holds_); }

 private:
  static inline thread_local HoldsCollector* current_ = nullptr;
  std::vector<std::shared_ptr<const void>> holds_;
};

template <class F>
Captured SaveFunction(const F& f) {
  if constexpr (std::is_empty_v<F>) {
    return "";
  } else {
    HoldsCollector collector;
    Captured captured = ToBytes(f);
    captured.holds = collector.Take();
    return captured;
  }
}

template <class F>
F LoadFunction(std::string_view payload) {
  F f{};
  if constexpr (!std::is_empty_v<F>) {
    if (!FromBytes(payload, f)) ThrowMalformedCapture(typeid(F).name());
  }
  return f;
}

}  // namespace fairlead::engine
