// expect: an alternative without a rule, or with two
#include "base/dispatch.h"

struct Started {};
struct Ended {};

void Step(const std::variant<Started, Ended>& event) {
#ifdef RIGHT
  fairlead::base::Dispatch(
      event, [](const Started&) {}, [](const Ended&) {});
#else
  fairlead::base::Dispatch(
      event, [](const Started&) {}, [](const Ended&) {}, fairlead::base::Ignored<Ended>{});
#endif
}
