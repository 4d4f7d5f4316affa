#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/codec.h"
#include "base/result.h"

// The form of everything that outlives a process, and so a release: rows of a store, journals, supervisors' records.
//
//   byte 1, then the value as base/codec.h writes it, with the length of every struct before its fields (varint)
//
// A struct may grow at its end: what an earlier release wrote is read with defaults for the fields that it did not
// know, wherever the struct is nested. What a later release wrote (more fields, another alternative, another format)
// is refused, since the part that is not understood would be lost with the next write. Fields are never removed,
// reordered or given another type. `tests/golden/state` holds what each release wrote.

namespace fairlead::base {

inline constexpr uint8_t kStoredFormat = 1;

template <class T>
std::string EncodeStored(const T& value) {
  std::string out(1, static_cast<char>(kStoredFormat));
  Encode<Form::kStored>(out, value);
  return out;
}

/// Rows, journals and records: our own, so only what no struct becomes is refused.
inline constexpr BudgetKind kStoredKind = DecodedKind("a stored value", SIZE_MAX, 1024);

/// What EncodeStored of this or of an earlier release wrote; anything else is an error, never another value. Needs no
/// more memory than a constant times the bytes.
template <class T>
Result<T> DecodeStored(std::string_view bytes, const BudgetKind& kind = kStoredKind) {
  Budget budget(kind, bytes.size());
  ByteReader in(bytes, budget);
  const uint8_t format = in.U8();
  if (bytes.empty()) return Error{"it is empty"};
  if (!budget.ok()) return budget.error();
  if (format != kStoredFormat) {
    return Error{"its format is " + std::to_string(format) + " and this release reads " +
                 std::to_string(kStoredFormat) + ": another release wrote it, or it is damaged"};
  }
  T value{};
  Decode<Form::kStored>(in, value);
  if (!budget.ok()) return budget.error();
  if (!in.done()) return Error{"it does not decode: a later release wrote it, or it is damaged"};
  return value;
}

/// For reading alone: kStored, of structs that have grown since. What is behind the fields that are known is passed
/// over.
inline constexpr Form kGrown{2};

template <Form form, class T>
  requires(form == kGrown)
void DecodeFields(ByteReader& in, T& value) {
  ByteReader own(in.Take(TakeVarint(in)), in.budget());
  T::VisitFields(value, [&](std::string_view, auto& field) {
    if (own.remaining() > 0) Decode<form>(own, field);
  });
  if (own.failed()) in.Fail();
}

/// Whether bytes that DecodeStored refuses are what a later release would write: another format, or structs that have
/// grown. Nothing is wrong with them then.
template <class T>
bool IsOfLaterRelease(std::string_view bytes) {
  Budget budget(kStoredKind, bytes.size());
  ByteReader in(bytes, budget);
  if (const uint8_t format = in.U8(); format != kStoredFormat) return format > kStoredFormat;
  T value{};
  Decode<kGrown>(in, value);
  return in.done();
}

/// EncodeStored with a checksum in front, for a file of its own.
template <class T>
std::string EncodeSealed(const T& value) {
  std::string bytes = EncodeStored(value);
  std::string out;
  ByteWriter(out).U64(Checksum({bytes}));
  return out + bytes;
}

template <class T>
Result<T> DecodeSealed(std::string_view bytes) {
  if (bytes.size() < sizeof(uint64_t)) return Error{"it is too short"};
  const auto sum = BigEndian<uint64_t>(bytes);
  const std::string_view rest = bytes.substr(sizeof sum);
  if (Checksum({rest}) != sum) return Error{"its checksum does not match: it is damaged"};
  return DecodeStored<T>(rest);
}

}  // namespace fairlead::base
