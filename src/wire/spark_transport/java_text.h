#pragma once

#include <string>
#include <string_view>

namespace fairlead::wire::spark_transport {

/// `new String(bytes, UTF_8)` of Java, as UTF-8: what is not well-formed becomes U+FFFD, one for what Java's decoder
/// takes as one.
std::string JavaText(std::string_view bytes);

}  // namespace fairlead::wire::spark_transport
