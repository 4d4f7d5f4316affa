#include "endpoints/yarn/url_token.h"

#include <algorithm>
#include <optional>

#include "endpoints/yarn/credentials.h"
#include "wire/hadoop_rpc/base64.h"

namespace fairlead::endpoints::yarn {

std::string EncodeUrlToken(const RpcToken& token) {
  std::string bytes;
  AppendWritableToken(bytes, token);
  std::string text = wire::hadoop_rpc::EncodeBase64(bytes);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  while (text.ends_with('=')) text.pop_back();
  return text;
}

base::Result<RpcToken> DecodeUrlToken(std::string_view text) {
  std::string padded(text.substr(0, kUrlTokenMax + 1));
  if (padded.size() > kUrlTokenMax) return base::Error{"the token is too long"};
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  while (padded.ends_with('=')) padded.pop_back();
  while (padded.size() % 4 != 0) padded.push_back('=');
  const std::optional<std::string> bytes = wire::hadoop_rpc::DecodeBase64(padded);
  if (!bytes) return base::Error{"the token is no BASE64URL"};
  return ParseWritableToken(*bytes);
}

}  // namespace fairlead::endpoints::yarn
