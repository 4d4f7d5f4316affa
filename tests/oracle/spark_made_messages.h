#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "endpoints/spark/spark_build.h"

namespace fairlead::oracle {

/// One line of tests/interop/scala/SparkMessages.scala (a message as Spark's serializer wrote it and what is in it)
/// against what is understood of it, or, for one of a master's, against what is written for the same content. Empty:
/// no difference.
std::string DifferenceToMadeMessage(const nlohmann::json& line, const endpoints::spark::SparkBuild& build);

}  // namespace fairlead::oracle
