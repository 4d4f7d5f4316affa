#pragma once

#include <string>

#include "wire/java_stream/graph.h"

namespace fairlead::wire::java_stream {

/// The object stream of a graph, as java.io.ObjectOutputStream writes it: what was read comes out with the same bytes.
std::string WriteStream(const Graph& graph);

}  // namespace fairlead::wire::java_stream
