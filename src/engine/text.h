#pragma once

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

#include "engine/serde.h"

// Text in and out: words of a line, fields to values, values to lines.

namespace fairlead::engine {

/// The words of a text, cut at bytes up to 0x20 (space, tab, ends of line, other controls): a range of views, made
/// while it is walked. About 1 byte a cycle.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  class Iterator {
   public:
    using value_type = std::string_view;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    Iterator() = default;
    Iterator(const char* at, const char* end) : next_(at), end_(end) { Advance(); }
    std::string_view operator*() const { return word_; }
    Iterator& operator++() {
      Advance();
      return *this;
    }
    void operator++(int) { Advance(); }
    bool operator==(std::default_sentinel_t) const { return word_.data() == nullptr; }

   private:
    void Advance() {
      while (next_ != end_ && static_cast<unsigned char>(*next_) <= 0x20) ++next_;
      if (next_ == end_) {
        word_ = {};
        return;
      }
      const char* const begin = next_;
      const char* at = begin + 1;
#ifdef __SSE2__
      const __m128i limit = _mm_set1_epi8(0x20);
      while (end_ - at >= 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
        const int mask = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, limit), bytes));
        if (mask != 0) {
          at += __builtin_ctz(static_cast<unsigned>(mask));
          word_ = {begin, static_cast<size_t>(at - begin)};
          next_ = at + 1;
          return;
        }
        at += 16;
      }
#endif
      while (at != end_ && static_cast<unsigned char>(*at) > 0x20) ++at;
      word_ = {begin, static_cast<size_t>(at - begin)};
      next_ = at == end_ ? at : at + 1;
    }
    const char* next_ = nullptr;
    const char* end_ = nullptr;
    std::string_view word_;
  };

  Iterator begin() const { return Iterator(text_.data(), text_.data() + text_.size()); }
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
