#include "process/rm/token_identifier.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "wire/hadoop_rpc/message_kinds.h"
#include "wire/yarn/tokens.h"

namespace fairlead::process::rm {

namespace {

/// A number of WritableUtils.writeVLong off the front; nullopt: cut.
std::optional<int64_t> TakeVLong(std::string_view& bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto first = static_cast<int8_t>(bytes[0]);
  bytes.remove_prefix(1);
  if (first >= -112) return first;
  const bool negative = first < -120;
  const auto size = static_cast<size_t>(negative ? -(first + 120) : -(first + 112));
  if (bytes.size() < size) return std::nullopt;
  uint64_t value = 0;
  for (const char c : bytes.substr(0, size)) value = value << 8 | static_cast<unsigned char>(c);
  bytes.remove_prefix(size);
  return static_cast<int64_t>(negative ? ~value : value);
}

std::optional<std::string> TakeText(std::string_view& bytes) {
  const std::optional<int64_t> size = TakeVLong(bytes);
  if (!size || *size < 0 || static_cast<uint64_t>(*size) > bytes.size()) return std::nullopt;
  std::string text(bytes.substr(0, static_cast<size_t>(*size)));
  bytes.remove_prefix(text.size());
  return text;
}

/// Owner, renewer, real user, time of issue, end. A text that is cut behind the renewer has no end.
std::optional<TokenIdentifier> ReadWritable(std::string_view bytes) {
  const std::optional<std::string> owner = TakeText(bytes);
  std::optional<std::string> renewer = owner ? TakeText(bytes) : std::nullopt;
  if (!renewer) return std::nullopt;
  TokenIdentifier out;
  out.renewer = *std::move(renewer);
  if (!TakeText(bytes) || !TakeVLong(bytes)) return out;
  if (const std::optional<int64_t> end = TakeVLong(bytes)) out.max_ms = std::max<int64_t>(0, *end);
  return out;
}

}  // namespace

base::Result<TokenIdentifier> ReadIdentifier(const endpoints::yarn::RpcToken& token) {
  std::string_view bytes = token.identifier;
  if (bytes.starts_with('\0')) {  // the version of the Writable form
    bytes.remove_prefix(1);
    if (std::optional<TokenIdentifier> read = ReadWritable(bytes)) return *std::move(read);
  } else {
    wire::yarn::YARNDelegationTokenIdentifierProto id;
    if (id.ParseFrom(bytes, wire::hadoop_rpc::kTokenIdentifier).ok())
      return TokenIdentifier{std::string(id.Renewer()), std::max<int64_t>(0, id.max_date.value_or(INT64_MAX))};
  }
  return base::Error{"its identifier cannot be read"};
}

}  // namespace fairlead::process::rm
