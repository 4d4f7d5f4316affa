#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"
#include "wire/java_stream/graph.h"

namespace fairlead::wire::java_stream {

/// Bounds for a stream from outside; one that goes over them is refused.
struct ReadLimits {
  size_t depth_max = 100;      // objects within objects, and classes above classes
  size_t nodes_max = 100'000;  // nodes of the graph, parts of objects and items of writeObject methods
};

/// Reads a whole object stream. Memory is at most some hundred bytes per node and a small multiple of the input.
/// Refused besides what is no stream: a stream that resets its handles or carries an exception of its writer, and
/// objects of protocol version 1.
base::Result<Graph> ReadStream(std::string_view bytes, const ReadLimits& limits = {});

}  // namespace fairlead::wire::java_stream
