// expect: a rule that takes no alternative
#include "base/dispatch.h"

struct Started {};
struct StartedAgain {};

void Step(const std::variant<Started>& event) {
#ifdef RIGHT
  fairlead::base::Dispatch(
      event, [](const Started&) {}, fairlead::base::Others{[](const auto&) {}});
#else
  fairlead::base::Dispatch(
      event, [](const StartedAgain&) {}, fairlead::base::Others{[](const auto&) {}});
#endif
}
