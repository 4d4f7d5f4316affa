#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace fairlead::engine {

/// Bytes that live until Clear(): bump allocation in chunks. O(1).
class Arena {
 public:
  const char* Copy(std::string_view bytes) {
    if (static_cast<size_t>(end_ - at_) < bytes.size()) [[unlikely]]
      NewChunk(bytes.size());
    char* const place = at_;
    std::memcpy(place, bytes.data(), bytes.size());
    at_ += bytes.size();
    return place;
  }
  size_t bytes() const { return bytes_; }
  void Clear() {
    chunks_.clear();
    at_ = end_ = nullptr;
    bytes_ = 0;
  }

 private:
  void NewChunk(size_t least) {
    const size_t size = std::max(least, std::clamp(bytes_, kFirstChunk, kChunk));
    chunks_.push_back(std::unique_ptr<char[]>(new char[size]));
    at_ = chunks_.back().get();
    end_ = at_ + size;
    bytes_ += size;
  }
  static constexpr size_t kFirstChunk = 16 << 10, kChunk = 256 << 10;
  std::vector<std::unique_ptr<char[]>> chunks_;
  char* at_ = nullptr;
  char* end_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace fairlead::engine
