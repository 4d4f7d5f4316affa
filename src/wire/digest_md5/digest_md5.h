#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

// What two sides say to each other in a login by DIGEST-MD5 (RFC 2831 with md5-sess), and the keys that come of it.
// Whose names, realms and texts of refusals: wire/hadoop_rpc and wire/spark_transport.

namespace fairlead::wire::digest_md5 {

/// 16 bytes each.
std::string Md5(std::string_view bytes);
std::string HmacMd5(std::string_view key, std::string_view bytes);
/// Same bytes? In time that depends on the length alone.
bool Same(std::string_view a, std::string_view b);

using Fields = std::map<std::string, std::string, std::less<>>;
/// A challenge or response: key=value,key="value", with backslashes in quotes (RFC 2831, 7.1). Nothing: it is not of
/// that form, longer than 64 KiB, or has a key twice.
std::optional<Fields> ParseFields(std::string_view text);
/// The value of a key; empty: there is none.
std::string_view Find(const Fields& fields, std::string_view key);
/// A value as such a message has it.
std::string Quoted(std::string_view text);

/// What both sides know at the end of a login.
struct Login {
  std::string username;
  std::string realm;
  std::string password;
  std::string nonce;
  std::string cnonce;
  std::string digest_uri;
  std::string nonce_count = "00000001";
  std::string qop = "auth";  // or auth-int, auth-conf
  std::string authzid;
};
/// H(A1): 16 bytes.
std::string SessionKey(const Login& login);
/// The client's "response" (`from_client`) or the server's "rspauth": 32 hexadecimal digits.
std::string Response(const Login& login, bool from_client);

}  // namespace fairlead::wire::digest_md5
