#include "scheduler/yarn_fair/locality.h"

#include <algorithm>

// How long a request waits for a closer node: FSAppAttempt.getAllowedLocalityLevel and ...ByTime.

namespace fairlead::scheduler::yarn_fair {

static model::Locality AllowedByOpportunities(const Books& books, KeyState& state);
static model::Locality AllowedByTime(const Books& books, const Attempt& attempt, KeyState& state);

using model::Locality;

KeyState& StateOf(Attempt& attempt, const RequestKey& key) {
  const auto it = std::lower_bound(attempt.key_states.begin(), attempt.key_states.end(), key,
                                   [](const KeyState& a, const RequestKey& b) { return a.key < b; });
  if (it != attempt.key_states.end() && it->key == key) return *it;
  KeyState state;
  state.key = key;
  return *attempt.key_states.insert(it, state);
}

KeyState StateNow(const Attempt& attempt, const RequestKey& key) {
  const auto it = std::lower_bound(attempt.key_states.begin(), attempt.key_states.end(), key,
                                   [](const KeyState& a, const RequestKey& b) { return a.key < b; });
  if (it != attempt.key_states.end() && it->key == key) return *it;
  KeyState state;
  state.key = key;
  return state;
}

Locality AllowedLocality(const Books& books, const Attempt& attempt, KeyState& state) {
  state.opportunities = std::min<int64_t>(state.opportunities + 1, INT32_MAX);
  return books.config.continuous ? AllowedByTime(books, attempt, state) : AllowedByOpportunities(books, state);
}

Locality AllowedByOpportunities(const Books& books, KeyState& state) {
  if (!state.has_allowed) {
    state.has_allowed = true;
    state.allowed = Locality::kNodeLocal;
    return state.allowed;
  }
  if (state.allowed == Locality::kOffSwitch) return state.allowed;
  const double threshold =
      std::min<double>(state.allowed == Locality::kNodeLocal ? books.config.locality_threshold_node
                                                             : books.config.locality_threshold_rack,
                       1.0);
  if (static_cast<double>(state.opportunities) > static_cast<double>(books.nodes.count()) * threshold) {
    state.allowed = state.allowed == Locality::kNodeLocal ? Locality::kRackLocal : Locality::kOffSwitch;
    state.opportunities = 0;
  }
  return state.allowed;
}

Locality AllowedByTime(const Books& books, const Attempt& attempt, KeyState& state) {
  if (!state.has_allowed) {
    state.has_allowed = true;
    state.has_last = true;
    state.last_ms = books.now_ms;
    state.allowed = Locality::kNodeLocal;
    return state.allowed;
  }
  if (state.allowed == Locality::kOffSwitch) return state.allowed;
  const int64_t waited = books.now_ms - (state.has_last ? state.last_ms : attempt.start_ms);
  const int64_t delay =
      state.allowed == Locality::kNodeLocal ? books.config.locality_delay_node_ms : books.config.locality_delay_rack_ms;
  if (waited > delay) {
    state.allowed = state.allowed == Locality::kNodeLocal ? Locality::kRackLocal : Locality::kOffSwitch;
    state.opportunities = 0;
    state.last_ms = books.now_ms;
    state.has_last = true;
  }
  return state.allowed;
}

void TightenLocality(Books& books, Attempt& attempt, const RequestKey& key, Locality type) {
  if (!books.fixed.locality_matters) return;
  KeyState& state = StateOf(attempt, key);
  if (state.has_allowed && type < state.allowed) state.allowed = type;
  if (books.config.quirks.locality_count_survives_allocation) return;
  state.opportunities = 0;
  state.last_ms = books.now_ms;
  state.has_last = true;
}

}  // namespace fairlead::scheduler::yarn_fair
