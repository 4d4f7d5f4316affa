#pragma once

#include <string>
#include <string_view>

#include "base/codec.h"
#include "engine/api/narrow_operators.h"

// Apart from the headers that users include, so that no job compiles the codec.

namespace fairlead::engine {

template <class T>
T DecodePayload(std::string_view payload, const char* what) {
  T value{};
  base::ByteReader in(payload);
  base::Decode(in, value);
  if (!in.done()) ThrowMalformedCapture(what);
  return value;
}
template <class T>
std::string EncodePayload(const T& value) {
  std::string out;
  base::Encode(out, value);
  return out;
}

}  // namespace fairlead::engine
