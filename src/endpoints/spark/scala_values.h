#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "wire/java_stream/graph.h"

// Scala's values in a Java object stream, in the shapes that the libraries of Scala 2.12 and 2.13 give them. A shape
// that is not known is an error that names its class. Each element is a node of the budget and takes memory, each look
// for a field is work; what comes of a budget that is spent is not whole, so whoever calls looks at budget.ok().

namespace fairlead::endpoints::spark {

/// Name of the module that a scala.runtime.ModuleSerializationProxy (2.13) stands for; empty for anything else.
std::string_view ModuleOf(const wire::java_stream::Graph& graph, wire::java_stream::Ref proxy);
/// An Option: what is in it, or nothing.
base::Result<std::optional<wire::java_stream::Ref>> OptionOf(const wire::java_stream::Graph& graph,
                                                             base::Budget& budget, wire::java_stream::Ref option);
/// A Seq, in order.
base::Result<std::vector<wire::java_stream::Ref>> ElementsOf(const wire::java_stream::Graph& graph,
                                                             base::Budget& budget, wire::java_stream::Ref sequence);
/// A Map, in the order of the stream.
base::Result<std::vector<std::pair<wire::java_stream::Ref, wire::java_stream::Ref>>> EntriesOf(
    const wire::java_stream::Graph& graph, base::Budget& budget, wire::java_stream::Ref map);

/// A java.lang.Integer.
base::Result<int32_t> IntOf(const wire::java_stream::Graph& graph, base::Budget& budget, wire::java_stream::Ref boxed);

}  // namespace fairlead::endpoints::spark
