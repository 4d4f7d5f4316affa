#include "scheduler/spark_standalone/standalone.h"

#include <algorithm>

#include "scheduler/books/core.h"
#include "scheduler/books/small_policy.h"

namespace fairlead::scheduler {
namespace standalone {
namespace {

class StandalonePolicy final : public native::PolicyOf<StandalonePolicy, native::SmallPolicy> {
 public:
  explicit StandalonePolicy(bool spread_out) : spread_out_(spread_out) {}

 protected:
  /// Most free cores first (Master.startExecutorsOnWorkers sorts ascending and reverses).
  int64_t ScoreOf(const native::Node& node) const override { return std::max<int64_t>(0, node.free().vcores()); }
  bool TooLow(int64_t cores, const native::Shape& shape) const override { return cores < shape.size.vcores(); }
  bool SpreadsOut() const override { return spread_out_; }

 private:
  bool spread_out_;
};

}  // namespace
}  // namespace standalone

std::unique_ptr<Scheduler> MakeStandalone(const StandaloneConfig& config) {
  return std::make_unique<native::Core>(config.base, std::make_unique<standalone::StandalonePolicy>(config.spread_out));
}

}  // namespace fairlead::scheduler
