#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/message_values.h"
#include "endpoints/spark/spark_build.h"
#include "wire/java_stream/graph.h"

// Descriptions of applications and drivers as they are stored and sent on: written anew, as objects of the build's own
// classes, with the fields that these classes have and nothing else of what came. A driver of the build writes the same
// bytes: what Workers and the executors' command lines depend on is all there. Fields of another build are left out.

namespace fairlead::endpoints::spark {

/// The RegisterApplication that says what `message` says, whose description is in `graph`: an object stream. Fails
/// where the description has more or other parts than can be said.
base::Result<std::string> KeptRegistration(const SparkBuild& build, const wire::java_stream::Graph& graph,
                                           const RegisterApplication& message);
/// Likewise an object of class ApplicationDescription or DriverDescription.
base::Result<std::string> KeptDescription(const SparkBuild& build, const wire::java_stream::Graph& graph,
                                          wire::java_stream::Ref description);

/// Puts a kept description (or that of a kept registration) into a message; kNull when it is none.
wire::java_stream::Ref PutKept(MessageWriter& out, const SparkBuild& build, std::string_view kept);

}  // namespace fairlead::endpoints::spark
