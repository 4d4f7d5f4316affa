#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "engine/records/owned.h"

// Text in and out: words of a line, fields to values, values to lines.

namespace fairlead::engine {

/// The words of a text, cut at bytes up to 0x20 (space, tab, ends of line, other controls): a range of views, made
/// while it is walked. Looks at 64 bytes at a time and keeps a bit for each that belongs to a word, so that finding the
/// next word waits for three operations on those bits and not for bytes.
class FL_POINTER_CLASS Words {
 public:
  explicit Words(std::string_view text FL_LIFETIME_BOUND) : text_(text) {}

  class Iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    Iterator() = default;
    explicit Iterator(std::string_view text) : block_(text.data()), text_(text) {
      bits_ = WordBits();
      Advance();
    }
    std::string_view operator*() const { return word_; }
    Iterator& operator++() {
      Advance();
      return *this;
    }
    void operator++(int) { Advance(); }
    bool operator==(std::default_sentinel_t) const { return word_.data() == nullptr; }

   private:
    static constexpr size_t kBlock = 64;
    const char* end() const { return text_.data() + text_.size(); }
    bool last_block() const { return static_cast<size_t>(end() - block_) <= kBlock; }

    void Advance() {
      while (bits_ == 0) [[unlikely]] {
        if (last_block()) {
          word_ = {};
          return;
        }
        NextBlock();
      }
      const char* const begin = block_ + std::countr_zero(bits_);
      // Adding to its lowest bit carries through a run of ones: what is above the run keeps its bits.
      const uint64_t behind = bits_ + (bits_ & -bits_);
      bits_ &= behind;
      if (behind == 0) [[unlikely]] {
        word_ = {begin, static_cast<size_t>(EndInLaterBlocks() - begin)};
      } else {
        word_ = {begin, static_cast<size_t>(block_ + std::countr_zero(behind) - begin)};
      }
    }
    /// Where a word ends that fills its block to the last byte; its bits in later blocks are taken away.
    const char* EndInLaterBlocks() {
      while (!last_block()) {
        NextBlock();
        const uint64_t first_other = ~bits_ & -~bits_;
        if (first_other == 0) continue;
        bits_ &= ~(first_other - 1);
        return block_ + std::countr_zero(first_other);
      }
      bits_ = 0;
      return end();
    }
    void NextBlock() {
      block_ += kBlock;
      bits_ = WordBits();
    }
    /// Bit i: byte i of the block belongs to a word. Bytes behind the text do not.
    uint64_t WordBits() const {
      const size_t n = std::min(kBlock, static_cast<size_t>(end() - block_));
      uint64_t bits = 0;
      size_t i = 0;
#ifdef __SSE2__
      for (; i + 16 <= n; i += 16) bits |= WordBits16(block_ + i) << i;
      if (i < n && text_.size() >= 16) return bits | WordBits16(block_ + n - 16) >> (16 - (n - i)) << i;
#endif
      for (; i < n; ++i) bits |= uint64_t{static_cast<unsigned char>(block_[i]) > 0x20} << i;
      return bits;
    }
#ifdef __SSE2__
    static uint64_t WordBits16(const char* p) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
      const __m128i limit = _mm_set1_epi8(0x20);
      return static_cast<uint16_t>(~_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, limit), bytes)));
    }
#endif

    const char* block_ = nullptr;
    uint64_t bits_ = 0;  // of words in the block not yet passed
    std::string_view text_;
    std::string_view word_;
  };

  Iterator begin() const { return Iterator(text_); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::string_view text_;
};

/// A field of text as a value; false when it is none. An empty field or NA is an absent std::optional.
template <class T>
bool ParseField(std::string_view field, T& value) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    value = field;
    return true;
  } else if constexpr (std::is_same_v<T, std::string>) {
    value.assign(field);
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    value = field == "true" || field == "TRUE" || field == "True" || field == "1" || field == "T";
    return value || field == "false" || field == "FALSE" || field == "False" || field == "0" || field == "F";
  } else if constexpr (std::is_arithmetic_v<T>) {
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    return error == std::errc() && end == field.data() + field.size();
  } else {
    static_assert(std::is_same_v<T, std::optional<typename T::value_type>>,
                  "a CSV field is a number, bool, string, std::string_view or std::optional of one of them");
    if (field.empty() || field == "NA") {
      value.reset();
      return true;
    }
    return ParseField(field, value.emplace());
  }
}

/// Appends a value as text: strings as they are, numbers in their shortest form, fields of pairs, tuples and aggregates
/// with tabs between, elements of vectors with commas.
template <class T>
void AppendText(std::string& out, const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    out.append(std::string_view(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    out.append(value ? "true" : "false");
  } else if constexpr (std::is_enum_v<T>) {
    AppendText(out, static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (std::is_arithmetic_v<T>) {
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out.append(digits, static_cast<size_t>(end - digits));
  } else if constexpr (requires { typename T::first_type; }) {
    AppendText(out, value.first);
    out.push_back('\t');
    AppendText(out, value.second);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    bool first = true;
    std::apply(
        [&](const auto&... field) {
          ((first ? void() : out.push_back('\t'), first = false, AppendText(out, field)), ...);
        },
        value);
  } else if constexpr (requires { value.has_value(); }) {
    if (value) AppendText(out, *value);
  } else if constexpr (requires { value.begin(); }) {
    bool first = true;
    for (const auto& item : value) {
      if (!first) out.push_back(',');
      first = false;
      AppendText(out, item);
    }
  } else {
    bool first = true;
    VisitEachField(value, [&](const auto& field) {
      if (!first) out.push_back('\t');
      first = false;
      AppendText(out, field);
    });
  }
}

}  // namespace fairlead::engine
