#pragma once

#include <cstddef>
#include <string>
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
/// driver, an executor. Gives the exit code: 0 the job function returned, 1 it threw, 2 wrong usage.
int Main(int argc, char** argv, JobFunction job);

}  // namespace fairlead::engine

/// Makes the program's main() run `function(Context&, const Arguments&)`.
#define FAIRLEAD_JOB(function) \
  int main(int argc, char** argv) { return ::fairlead::engine::Main(argc, argv, function); }
