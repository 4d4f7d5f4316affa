#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::engine {

class Context;

/// The program's own arguments, without those of the engine.
class Arguments {
 public:
  explicit Arguments(std::vector<std::string> values) : values_(std::move(values)) {}
  size_t size() const { return values_.size(); }
  /// Throws JobError that says which argument is missing.
  const std::string& at(size_t i) const;
  /// The i-th argument as a number, or `otherwise` when there are fewer.
  long Number(size_t i, long otherwise) const;

 private:
  std::vector<std::string> values_;
};

using JobFunction = void (*)(Context& context, const Arguments& arguments);

/// main() of a job program: the driver (in a master's container, or with --local[N] as one process) or, started by the
/// driver, an executor. `settings` by Spark's names (docs/engine.md) go above those of submit or of `--conf`. Gives the
/// exit code: 0 the job function returned, 1 it threw, 2 wrong usage.
int Main(int argc, char** argv, JobFunction job,
         std::initializer_list<std::pair<const char*, const char*>> settings = {});

}  // namespace fairlead::engine

/// Makes the program's main() run `function(Context&, const Arguments&)`. Settings may follow:
///   FAIRLEAD_JOB(Count, {"spark.scheduler.mode", "FAIR"}, {"spark.locality.wait", "1s"})
#define FAIRLEAD_JOB(function, ...) \
  int main(int argc, char** argv) { return ::fairlead::engine::Main(argc, argv, function, {__VA_ARGS__}); }
