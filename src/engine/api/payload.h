#pragma once

#include <string>
#include <string_view>

#include "base/codec.h"
#include "engine/api/narrow_operators.h"

// Apart from the headers that users include, so that no job compiles the codec.

namespace fairlead::engine {

/// What a job's own program has captured or planned.
inline constexpr base::BudgetKind kPayloadKind = base::DecodedKind("a part of a job's plan", SIZE_MAX, 1024);

template <class T>
T DecodePayload(std::string_view payload, const char* what) {
  T value{};
  base::Budget budget(kPayloadKind, payload.size());
  base::ByteReader in(payload, budget);
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
