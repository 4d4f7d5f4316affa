#pragma once

#include <string_view>

#include "base/budget.h"
#include "base/result.h"
#include "wire/java_stream/graph.h"

namespace fairlead::wire::java_stream {

/// Reads a whole object stream, at the cost that `kind` allows: memory counts what the graph takes, nodes are its
/// nodes, parts of objects and items of writeObject methods, depth is what stands within each other in the stream (what
/// references lead to, the graph's user follows at their own cost). Classes with more than 256 fields or 32 classes
/// above them are refused, and besides what is no stream: one that resets its handles or carries an exception of its
/// writer, and objects of protocol version 1.
base::Result<Graph> ReadStream(std::string_view bytes, const base::BudgetKind& kind);

}  // namespace fairlead::wire::java_stream
