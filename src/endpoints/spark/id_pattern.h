#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace fairlead::endpoints::spark {

/// How ids look, as java.util.Formatter takes it (spark.deploy.appIdPattern, .driverIdPattern, spark.worker.idPattern):
/// "app-%s-%04d" is given a date and a number. Of its conversions these are taken: %s %d %x %X %o %%, with 0 - and a
/// width up to 32, and %2$d for the second argument.
class IdPattern {
 public:
  using Argument = std::variant<std::string, int64_t>;

  /// `example`: arguments of the kinds that it will be given. Refused: what Java would not format, and an id with
  /// blanks, slashes or dots alone, as ids name directories.
  static base::Result<IdPattern> Parse(std::string_view pattern, const std::vector<Argument>& example);

  std::string Format(const std::vector<Argument>& arguments) const;

 private:
  struct Part {
    std::string text;     // as it is; of a conversion empty
    char conversion = 0;  // 's', 'd', 'x', 'X', 'o'; 0: text
    size_t argument = 0;
    bool zeros = false;
    bool left = false;
    size_t width = 0;
  };
  std::vector<Part> parts_;
};

/// Ids of applications and drivers: of a date and a number, on which they must depend.
base::Result<IdPattern> NumberedIds(std::string_view pattern);
/// Ids of workers: of a date, a host and a port.
base::Result<IdPattern> WorkerIds(std::string_view pattern);

/// "20260131235959", the local time: what Spark's ids say of when.
std::string IdDate(base::WallTime time);

}  // namespace fairlead::endpoints::spark
