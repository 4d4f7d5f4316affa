#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>

// How a machine brings the alternative of a variant (event, effect, message) to its rule. The compiler refuses an
// alternative without a rule or with two, and a rule that takes no alternative, as one of a misspelt type does not.

namespace fairlead::base {

/// Alternatives that change nothing here.
template <class... Alternatives>
struct Ignored {
  template <class Given>
    requires(std::same_as<std::remove_cvref_t<Given>, Alternatives> || ...)
  void operator()(Given&&) const {}
};

/// The last rule: for every alternative that no other takes, such as messages that a peer must not send.
template <class Rule>
struct Others {
  Rule rule;
};
template <class Rule>
Others(Rule) -> Others<Rule>;

namespace dispatch_internal {

template <class Rule>
constexpr bool kIsOthers = false;
template <class Rule>
constexpr bool kIsOthers<Others<Rule>> = true;

template <class Alternative, class Rule, class... Rest>
decltype(auto) Take(Alternative&& alternative, Rule& rule, Rest&... rest) {
  if constexpr (kIsOthers<std::remove_const_t<Rule>>) {
    return rule.rule(std::forward<Alternative>(alternative));
  } else if constexpr (std::invocable<Rule&, Alternative>) {
    return rule(std::forward<Alternative>(alternative));
  } else if constexpr (sizeof...(Rest) > 0) {
    return Take(std::forward<Alternative>(alternative), rest...);
  }
}

template <class Variant, size_t I>
using AlternativeOf = decltype(std::get<I>(std::declval<Variant>()));

/// A rule that names one type; not a template, which may be for several variants.
template <class Rule>
concept NamesAType = requires { &Rule::operator(); };

template <class Rule, class Variant, size_t... I>
constexpr bool TakesSome(std::index_sequence<I...>) {
  return !NamesAType<Rule> || (std::invocable<Rule&, AlternativeOf<Variant, I>> || ...);
}

}  // namespace dispatch_internal

/// Calls the one rule that takes the alternative that `variant` holds, with the value category of `variant`; gives what
/// the rule gives. Costs what std::visit does.
template <class Variant, class... Rules>
decltype(auto) Dispatch(Variant&& variant, Rules&&... rules) {
  using Indices = std::make_index_sequence<std::variant_size_v<std::remove_cvref_t<Variant>>>;
  static_assert((dispatch_internal::TakesSome<std::remove_reference_t<Rules>, Variant>(Indices{}) && ...),
                "a rule that takes no alternative");
  constexpr bool kHasOthers = (dispatch_internal::kIsOthers<std::remove_cvref_t<Rules>> || ...);
  return std::visit(
      [&](auto&& alternative) -> decltype(auto) {
        using Alternative = decltype(alternative);
        constexpr int kTakers = (0 + ... + (std::invocable<std::remove_reference_t<Rules>&, Alternative> ? 1 : 0));
        static_assert(kTakers == 1 || (kTakers == 0 && kHasOthers), "an alternative without a rule, or with two");
        return dispatch_internal::Take(std::forward<Alternative>(alternative), rules...);
      },
      std::forward<Variant>(variant));
}

}  // namespace fairlead::base
