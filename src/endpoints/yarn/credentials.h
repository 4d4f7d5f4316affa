#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "endpoints/yarn/rpc_identity.h"

namespace fairlead::endpoints::yarn {

/// Tokens and secret keys by alias (org.apache.hadoop.security.Credentials), the "HDTS" blob of launch contexts and of
/// container_tokens files.
struct Credentials {
  std::map<std::string, RpcToken> tokens;
  std::map<std::string, std::string> secrets;
  friend bool operator==(const Credentials&, const Credentials&) = default;
};

/// The secret of a master's page, which Fairlead's resource manager gives its container (process/http/page_proxy.h).
inline constexpr std::string_view kPageSecretAlias = "fairlead.page.secret";

/// Reads either format. Bytes behind the blob are allowed (Spark sends its whole buffer); no bytes at all are no
/// credentials.
base::Result<Credentials> ParseCredentials(std::string_view bytes);

enum class CredentialsFormat { kWritable, kProtobuf };
std::string EncodeCredentials(const Credentials& credentials, CredentialsFormat format = CredentialsFormat::kWritable);

/// One token in Writable form, as the data of `mapreduce_shuffle` and Token.encodeToUrlString carry it.
base::Result<RpcToken> ParseWritableToken(std::string_view bytes);
void AppendWritableToken(std::string& out, const RpcToken& token);

}  // namespace fairlead::endpoints::yarn
