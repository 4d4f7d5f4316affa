#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace fairlead::base {

/// Order-sensitive 64-bit hash of a state, equal on every machine (FNV-style multiply and fold over 64-bit words).
class StateHasher {
 public:
  void Mix(uint64_t word) {
    hash_ = (hash_ ^ word) * 0x9fb21c651e98df25;
    hash_ ^= hash_ >> 32;
  }
  void Mix(std::string_view text) {
    Mix(text.size());
    while (!text.empty()) {
      uint64_t word = 0;
      const size_t n = text.size() < 8 ? text.size() : 8;
      std::memcpy(&word, text.data(), n);
      Mix(word);
      text.remove_prefix(n);
    }
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace fairlead::base
