#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/described.h"

namespace fairlead::endpoints::v1 {

/// A credential of another machine (fairlead.auth=credentials), without its secret.
struct Credential {
  std::string name{}, kind{}, user{}, host{};
  int64_t made_ms = 0;
  std::string made_by{};

  FL_DESCRIBED("Credential", (name, ""), (kind, "node or client"), (user, "as whom a client acts; of a node empty"),
               (host, "from which alone it is taken, or empty"), (made_ms, ""), (made_by, ""))
};
struct Credentials {
  std::vector<Credential> credentials{};
  FL_DESCRIBED("Credentials", (credentials, ""))
};
struct MadeCredential {
  std::string credential{};
  FL_DESCRIBED("MadeCredential", (credential, "the secret, told this once"))
};
struct RevokedCredential {
  std::string revoked{};
  FL_DESCRIBED("RevokedCredential", (revoked, "its name"))
};
/// For a node's pages.
struct NodePass {
  std::string pass{};
  int64_t life_ms = 0;
  FL_DESCRIBED("NodePass", (pass, "the value of the cookie hadoop.auth there"), (life_ms, ""))
};

}  // namespace fairlead::endpoints::v1
