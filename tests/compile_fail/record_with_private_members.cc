// expect: Collect: this type of record cannot leave its task. Records are numbers, enums, std::string
#include "fairlead/engine.h"

using namespace fairlead;

class Money {
 public:
  Money() = default;
  explicit Money(int64_t cents) : cents_(cents) {}
  int64_t cents() const { return cents_; }

 private:
  int64_t cents_ = 0;
};

#ifdef RIGHT
template <>
struct fairlead::engine::Serde<Money> {
  static constexpr size_t kFixed = 8;
  static constexpr bool kHoldsViews = false;
  static void Write(Buffer& out, const Money& v) { Serde<int64_t>::Write(out, v.cents()); }
  static bool Read(Cursor& in, Money& v) {
    int64_t cents = 0;
    if (!Serde<int64_t>::Read(in, cents)) return false;
    v = Money(cents);
    return true;
  }
};
#endif

void Job(Context& context, const Arguments&) {
  const auto money = context.Range(0, 10).Map([](int64_t x) { return Money(x); });
  money.Count();
  const auto all = money.Collect();
  std::ignore = all;
}

FAIRLEAD_JOB(Job)
