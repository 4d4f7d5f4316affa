#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "endpoints/spark/spark_build.h"
#include "wire/java_stream/graph.h"

namespace fairlead::oracle {

/// One line of tests/interop/scala/SparkMessages.scala (a message as Spark's serializer wrote it and what is in it)
/// against what is understood of it, or, for one of a master's, against what is written for the same content. Empty:
/// no difference.
std::string DifferenceToMadeMessage(const nlohmann::json& line, const endpoints::spark::SparkBuild& build);

/// A message between a worker and its master, read and written again; nothing for any other. A driver's description is
/// copied or, without `copy`, made anew.
std::optional<std::string> WrittenAgain(const wire::java_stream::Graph& graph,
                                        const endpoints::spark::SparkBuild& build, bool copy);

}  // namespace fairlead::oracle
