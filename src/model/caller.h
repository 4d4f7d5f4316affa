#pragma once

#include <cstdint>
#include <string>

namespace fairlead::model {

/// How it was shown who calls.
enum class LoginMethod : uint8_t {
  kSimple,    // not at all: the name is believed
  kToken,     // by a secret that this cluster gave
  kKerberos,  // by a ticket
};

/// Who calls: all that access lists see.
struct Caller {
  std::string user;       // whose rights count, by the short name; for a token the user of the token
  std::string real_user;  // who acts in the user's name; empty: nobody
  LoginMethod method = LoginMethod::kSimple;
};

/// For lines about who did what: "bob", or "bob via livy".
inline std::string WhoActs(const Caller& caller) {
  return caller.real_user.empty() ? caller.user : caller.user + " via " + caller.real_user;
}

}  // namespace fairlead::model
