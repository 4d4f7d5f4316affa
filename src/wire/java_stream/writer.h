#pragma once

#include <string>

#include "wire/java_stream/graph.h"

namespace fairlead::wire::java_stream {

/// The object stream of a graph, as java.io.ObjectOutputStream writes it: what was read comes out with the same bytes.
/// A Ref that leads nowhere is written as null, and of each class as many values as it has fields. Follows references
/// to any depth; cost: in proportion to the graph, without recursion.
std::string WriteStream(const Graph& graph);

}  // namespace fairlead::wire::java_stream
