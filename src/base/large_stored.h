#pragma once

#include <cstddef>
#include <string>

#include "base/stored.h"

namespace fairlead::base {

/// EncodeStored of values that may have megabytes, without copies as the text grows. `texts`: the bytes of its long
/// texts.
template <class T>
std::string EncodeLargeStored(const T& value, size_t texts) {
  constexpr size_t kBesides = 4096;
  std::string out;
  out.reserve(texts + kBesides);
  out.push_back(static_cast<char>(kStoredFormat));
  Encode<Form::kStored>(out, value);
  return out;
}

}  // namespace fairlead::base
