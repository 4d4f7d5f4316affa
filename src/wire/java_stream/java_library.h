#pragma once

#include "wire/java_stream/graph.h"

namespace fairlead::wire::java_stream {

/// Of the Java library's own classes those that messages hold. They are the same in every release of Java.
const ClassCatalog& JavaLibrary();

}  // namespace fairlead::wire::java_stream
