#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::config {

/// hadoop.security.auth_to_local: which short name a principal of Kerberos has
/// (org.apache.hadoop.security.authentication.util.KerberosName).
class AuthToLocal {
 public:
  /// hadoop.security.auth_to_local.mechanism.
  enum class Mechanism : uint8_t { kHadoop, kMit };

  /// `rules`: "DEFAULT" and "RULE:[n:format](regex)s/from/to/gL", between blanks or lines; none is DEFAULT alone. An
  /// error names the rule that cannot be read, or whose regular expression this library does not have (look-around,
  /// back-references).
  static base::Result<AuthToLocal> Parse(std::string_view rules, Mechanism mechanism, std::string default_realm);

  /// By the first rule that applies; an error when none does or what it gives is no name.
  base::Result<std::string> ShortName(const std::string& principal) const;

 private:
  struct Rule;
  std::vector<std::shared_ptr<const Rule>> rules_;
  Mechanism mechanism_ = Mechanism::kHadoop;
  std::string default_realm_;
};

}  // namespace fairlead::config
