#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/spark/descriptions.h"

namespace fairlead::process::spark_master {

/// An environment; nothing for a name that is not set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

/// Where a driver is submitted.
struct CreateContext {
  std::string master_url;  // "spark://HOST:PORT"
  uint16_t rest_port = 0;  // which spark.master may name instead
  bool spark4 = false;
  /// The master's environment, for values such as {{NAME}}.
  Variables variable;
};

/// The driver that a CreateSubmissionRequest, a JSON object, describes
/// (StandaloneSubmitRequestServlet.buildDriverDescription). Stricter than Spark's: cores and memory below 0,
/// and texts longer than docs/ports.md says, are refused.
base::Result<endpoints::spark::DriverDescription> ReadCreateRequest(const nlohmann::ordered_json& request,
                                                                    const CreateContext& context);

/// Names the application of a driver that was submitted in any way (Master.maybeUpdateAppName).
void NameApplication(endpoints::spark::DriverDescription& driver, const std::string& name);

/// Fields that such a request has and nobody knows, which the answer names.
std::vector<std::string> UnknownFields(const nlohmann::ordered_json& request);

}  // namespace fairlead::process::spark_master
