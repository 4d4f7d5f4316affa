#include "wire/hadoop_rpc/proto_runtime.h"

#include <charconv>

namespace fairlead::wire::proto {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kDelimited = 2, kStartGroup = 3, kEndGroup = 4, kFixed32 = 5 };

constexpr char kHex[] = "0123456789abcdef";

}  // namespace

bool Reader::Fail(std::string_view what) {
  failed_ = true;
  if (context_.error.empty()) context_.error = what;
  return false;
}

bool Reader::FailBudget() { return Fail(context_.budget.error().message); }

bool Reader::MissingRequired(std::string_view message, const std::string_view* names, uint32_t seen) {
  int first = 0;
  while (seen & (1U << first)) ++first;
  // protobuf's own words, which users of Hadoop's clients know.
  return Fail("Message missing required fields: " + std::string(names[first]) + " of " + std::string(message));
}

bool Reader::LongVarint(uint64_t& out) {
  uint64_t value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at_ == end_) return Fail("truncated number");
    const uint8_t byte = static_cast<uint8_t>(*at_++);
    value |= static_cast<uint64_t>(byte & 0x7f) << (shift & 63);
    if (byte < 0x80) {
      out = value;
      return true;
    }
  }
  return Fail("number longer than ten bytes");
}

bool Reader::Delimited(std::string_view& out) {
  uint64_t length = 0;
  if (!Varint(length)) return false;
  if (length > static_cast<uint64_t>(end_ - at_)) return Fail("truncated field");
  out = std::string_view(at_, length);
  at_ += length;
  return true;
}

bool Reader::Skip(uint32_t tag) {
  uint64_t number = 0;
  std::string_view bytes;
  switch (tag & 7) {
    case kVarint:
      return Varint(number);
    case kDelimited:
      return Delimited(bytes);
    case kFixed64:
    case kFixed32: {
      const ptrdiff_t size = (tag & 7) == kFixed64 ? 8 : 4;
      if (end_ - at_ < size) return Fail("truncated number");
      at_ += size;
      return true;
    }
    case kStartGroup:
      return SkipGroup(tag >> 3);
    default:
      return Fail("invalid wire type");
  }
}

bool Reader::SkipGroup(uint32_t number) {
  const base::Budget::Level level(context_.budget);
  if (!level.ok()) return FailBudget();
  while (const uint32_t tag = NextTag()) {
    if (tag == (number << 3 | kEndGroup)) return true;
    if (!Skip(tag)) return false;
  }
  return Fail("group without an end");
}

void PutFloat(std::string& out, uint32_t tag, float value) {
  PutVarint(out, tag);
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(bits >> (8 * i)));
}

void PutDouble(std::string& out, uint32_t tag, double value) {
  PutVarint(out, tag);
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(bits >> (8 * i)));
}

void FixLength(std::string& out, size_t length_at) {
  const uint64_t length = out.size() - length_at - 1;
  if (length < 0x80) {
    out[length_at] = static_cast<char>(length);
    return;
  }
  char digits[10];
  size_t n = 0;
  for (uint64_t rest = length; rest; rest >>= 7)
    digits[n++] = static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  out.replace(length_at, 1, digits, n);
}

void JsonObject::Key(std::string_view key) {
  if (!empty_) out_.push_back(',');
  empty_ = false;
  String(key);
  out_.push_back(':');
}

void JsonObject::Int(int64_t value) { out_.append(std::to_string(value)); }
void JsonObject::UInt(uint64_t value) { out_.append(std::to_string(value)); }

void JsonObject::Real(double value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof(text), value);
  const std::string_view digits(text, static_cast<size_t>(end.ptr - text));
  const bool finite = digits.find_first_of("in") == std::string_view::npos;
  finite ? void(out_.append(digits)) : String(digits);
}

void JsonObject::String(std::string_view value) {
  out_.push_back('"');
  for (const char c : value) {
    const uint8_t byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      out_.push_back('\\');
      out_.push_back(c);
    } else if (byte < 0x20 || byte == 0x7f) {
      out_.append("\\u00");
      out_.push_back(kHex[byte >> 4]);
      out_.push_back(kHex[byte & 15]);
    } else {
      out_.push_back(c);
    }
  }
  out_.push_back('"');
}

void JsonObject::Bytes(std::string_view value) {
  out_.push_back('"');
  for (const char c : value) {
    out_.push_back(kHex[static_cast<uint8_t>(c) >> 4]);
    out_.push_back(kHex[static_cast<uint8_t>(c) & 15]);
  }
  out_.push_back('"');
}

void JsonObject::Enum(std::string_view name, int32_t value) { name.empty() ? Int(value) : String(name); }

}  // namespace fairlead::wire::proto
