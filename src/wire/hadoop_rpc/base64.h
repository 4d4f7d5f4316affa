#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace fairlead::wire::hadoop_rpc {

/// RFC 4648 with padding, one line.
std::string EncodeBase64(std::string_view bytes);
/// Nothing for characters outside the alphabet or wrong padding.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace fairlead::wire::hadoop_rpc
