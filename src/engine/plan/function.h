#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>

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
                "struct Scale { double by; double operator()(double x) const { return x * by; } };")

template <class F>
std::string SaveFunction(const F& f) {
  if constexpr (std::is_empty_v<F>) {
    return {};
  } else {
    return ToBytes(f);
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
