#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/bytes.h"
#include "base/result.h"
#include "wire/hadoop_rpc/message_kinds.h"

// What the structs made by tools/protoc_gen_wire stand on: Protocol Buffers' binary format (proto2), read with bounds
// and written in ascending field order, byte for byte as protobuf's own C++ and Java write it (tokens are hashed over
// these bytes).

namespace fairlead::wire::proto {

/// Optional value of an incomplete type, for messages that contain themselves. Copies are deep.
template <class T>
class Box {
 public:
  Box() = default;
  Box(const Box& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box(T value) : value_(std::make_unique<T>(std::move(value))) {}
  Box& operator=(const Box& other) {
    if (this != &other) value_ = other.value_ ? std::make_unique<T>(*other.value_) : nullptr;
    return *this;
  }
  Box& operator=(Box&&) noexcept = default;

  bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  T& emplace() {
    value_ = std::make_unique<T>();
    return *value_;
  }
  void reset() { value_.reset(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  friend bool operator==(const Box& a, const Box& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || *a == *b);
  }

 private:
  std::unique_ptr<T> value_;
};

struct ParseContext {
  base::Budget& budget;
  std::string error;
};

/// Reads the fields of one message. Every read returns false when the bytes are malformed; the reason is then in the
/// context.
class Reader {
 public:
  Reader(std::string_view bytes, ParseContext& context)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()), context_(context) {}

  /// The next field's tag; 0 at the end and after an error.
  uint32_t NextTag() {
    if (at_ == end_) return 0;
    uint64_t tag = 0;
    if (!Varint(tag)) return 0;
    if (tag > UINT32_MAX || (tag >> 3) == 0) return Fail("invalid field number"), 0;
    return static_cast<uint32_t>(tag);
  }
  bool failed() const { return failed_; }
  bool Skip(uint32_t tag);

  bool Varint(uint64_t& out) {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) [[likely]] {
      out = static_cast<uint8_t>(*at_++);
      return true;
    }
    return LongVarint(out);
  }
  bool Int32(int32_t& out) { return Number(out); }
  bool Int64(int64_t& out) { return Number(out); }
  bool UInt32(uint32_t& out) { return Number(out); }
  bool UInt64(uint64_t& out) { return Varint(out); }
  bool SInt32(int32_t& out) {
    uint64_t raw = 0;
    if (!Varint(raw)) return false;
    const uint32_t zigzag = static_cast<uint32_t>(raw);
    out = static_cast<int32_t>((zigzag >> 1) ^ (0 - (zigzag & 1)));
    return true;
  }
  bool Bool(bool& out) {
    uint64_t raw = 0;
    if (!Varint(raw)) return false;
    out = raw != 0;
    return true;
  }
  template <class E>
  bool Enum(E& out) {
    int32_t raw = 0;
    if (!Int32(raw)) return false;
    out = static_cast<E>(raw);
    return true;
  }
  bool Float(float& out) { return Fixed<uint32_t>(out); }
  bool Double(double& out) { return Fixed<uint64_t>(out); }
  /// Bytes or text without a copy.
  bool View(std::string_view& out) { return Delimited(out); }
  bool String(std::string& out) {
    std::string_view bytes;
    if (!Delimited(bytes)) return false;
    if (!context_.budget.Memory(bytes.size())) return FailBudget();
    out.assign(bytes);
    return true;
  }

  /// Makes the message when it is absent, else merges into it, as protobuf does with a repeated singular field.
  template <class Holder>
  bool Message(Holder& holder) {
    if (!holder) holder.emplace();
    return RequiredMessage(*holder);
  }
  template <class T>
  bool RequiredMessage(T& out) {
    std::string_view bytes;
    if (!Delimited(bytes)) return false;
    const base::Budget::Level level(context_.budget);
    if (!level.ok()) return FailBudget();
    Reader inner(bytes, context_);
    failed_ = !out.ParseFields(inner);
    return !failed_;
  }
  /// A place at the end of `list`; null when the message has used up its memory.
  template <class T>
  T* Append(std::vector<T>& list) {
    if (!context_.budget.Memory(sizeof(T))) return FailBudget(), nullptr;
    return &list.emplace_back();
  }
  template <class T>
  bool RepeatedMessage(std::vector<T>& list) {
    T* element = Append(list);
    return element && RequiredMessage(*element);
  }
  bool RepeatedString(std::vector<std::string>& list) {
    std::string* element = Append(list);
    return element && String(*element);
  }
  /// Unpacked element.
  template <class T, class Read>
  bool RepeatedScalar(std::vector<T>& list, Read read) {
    T* element = Append(list);
    return element && read(*this, *element);
  }
  /// Packed elements: one length-delimited run.
  template <class T, class Read>
  bool PackedScalar(std::vector<T>& list, Read read) {
    std::string_view bytes;
    if (!Delimited(bytes)) return false;
    Reader inner(bytes, context_);
    while (inner.at_ != inner.end_) {
      if (!inner.RepeatedScalar(list, read)) return failed_ = true, false;
    }
    return true;
  }

  bool Fail(std::string_view what);
  bool FailBudget();
  /// For required fields: names the first one that is missing. `seen` has one bit per name.
  bool MissingRequired(std::string_view message, const std::string_view* names, uint32_t seen);

 private:
  template <class N>
  bool Number(N& out) {
    uint64_t raw = 0;
    if (!Varint(raw)) return false;
    out = static_cast<N>(raw);
    return true;
  }
  template <class Bits, class F>
  bool Fixed(F& out) {
    if (static_cast<size_t>(end_ - at_) < sizeof(Bits)) return Fail("truncated number");
    Bits bits = 0;
    for (size_t i = 0; i < sizeof(Bits); ++i) bits |= static_cast<Bits>(static_cast<uint8_t>(at_[i])) << (8 * i);
    out = std::bit_cast<F>(bits);
    at_ += sizeof(Bits);
    return true;
  }
  bool LongVarint(uint64_t& out);
  bool Delimited(std::string_view& out);
  bool SkipGroup(uint32_t number);

  const char* at_;
  const char* end_;
  ParseContext& context_;
  bool failed_ = false;
};

/// Replaces `message` by what `bytes` hold; after an error it holds what was read so far.
template <class T>
base::Status ParseMessage(T& message, std::string_view bytes, const base::BudgetKind& kind, std::string_view name) {
  base::Budget budget(kind, bytes.size());
  ParseContext context{budget, {}};
  message = T{};
  Reader in(bytes, context);
  if (budget.ok() ? message.ParseFields(in) : in.FailBudget()) return {};
  return base::Error{std::string(name) + ": " + context.error};
}

using base::PutVarint;
inline void PutUInt(std::string& out, uint32_t tag, uint64_t value) {
  PutVarint(out, tag);
  PutVarint(out, value);
}
/// Also for int32, bool and enums: negative numbers take ten bytes.
inline void PutInt(std::string& out, uint32_t tag, int64_t value) { PutUInt(out, tag, static_cast<uint64_t>(value)); }
inline void PutSInt32(std::string& out, uint32_t tag, int32_t value) {
  PutUInt(out, tag, (static_cast<uint32_t>(value) << 1) ^ static_cast<uint32_t>(value >> 31));
}
void PutFloat(std::string& out, uint32_t tag, float value);
void PutDouble(std::string& out, uint32_t tag, double value);
inline void PutString(std::string& out, uint32_t tag, std::string_view value) {
  PutVarint(out, tag);
  PutVarint(out, value.size());
  out.append(value);
}
/// Turns the single byte at `length_at` into the varint of the length of all bytes after it.
void FixLength(std::string& out, size_t length_at);
template <class T>
void PutMessage(std::string& out, uint32_t tag, const T& message) {
  PutVarint(out, tag);
  const size_t length_at = out.size();
  out.push_back(0);
  message.AppendTo(out);
  FixLength(out, length_at);
}

/// Writes one JSON object for people and logs; bytes as hexadecimal digits.
class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_.push_back('{'); }
  ~JsonObject() { out_.push_back('}'); }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  void Key(std::string_view key);
  void Int(int64_t value);
  void UInt(uint64_t value);
  void Real(double value);
  void Bool(bool value) { out_.append(value ? "true" : "false"); }
  void String(std::string_view value);
  void Bytes(std::string_view value);
  /// The name, or the number of an unknown value.
  void Enum(std::string_view name, int32_t value);
  template <class T>
  void Message(const T& value) {
    value.AppendJson(out_);
  }
  template <class List, class Each>
  void Array(const List& list, Each each) {
    out_.push_back('[');
    bool first = true;
    for (const auto& element : list) {
      if (!first) out_.push_back(',');
      first = false;
      each(*this, element);
    }
    out_.push_back(']');
  }

 private:
  std::string& out_;
  bool empty_ = true;
};

/// One message type for tests, fuzzing and tools: decode and encode again, decode and print.
struct MessageEntry {
  std::string_view name;
  base::Result<std::string> (*recode)(std::string_view bytes);
  base::Result<std::string> (*to_json)(std::string_view bytes);
};
template <class T>
base::Result<std::string> Recode(std::string_view bytes) {
  T message;
  if (base::Status parsed = message.ParseFrom(bytes, hadoop_rpc::kAnswer); !parsed) return parsed.error();
  return message.Encode();
}
template <class T>
base::Result<std::string> RecodeJson(std::string_view bytes) {
  T message;
  if (base::Status parsed = message.ParseFrom(bytes, hadoop_rpc::kAnswer); !parsed) return parsed.error();
  return message.DebugString();
}

/// One method of a protocol, from its `service` block.
struct MethodInfo {
  std::string_view name;
  std::string_view request;
  std::string_view response;
};

}  // namespace fairlead::wire::proto
