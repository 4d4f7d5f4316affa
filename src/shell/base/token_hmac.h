#pragma once

#include <string>

#include "config/hadoop_conf.h"
#include "endpoints/yarn/tokens.h"

namespace fairlead::shell {

/// The hash under the tokens' passwords, which Hadoop 3.5 makes a choice (HmacSHA1 before). An unknown name is an error
/// of the configuration: a daemon with another hash than its peers could verify none of their tokens.
inline endpoints::yarn::TokenHmac ReadTokenHmac(const config::HadoopConf& conf) {
  constexpr char kKey[] = "hadoop.security.secret-manager.key-generator.algorithm";
  const std::string name = conf.String(kKey, "HmacSHA1");
  const auto hmac = endpoints::yarn::TokenHmacByName(name);
  if (!hmac) conf.Refuse(kKey, name + " is not supported; write HmacSHA1, HmacSHA256 or HmacSHA512");
  return hmac.value_or(endpoints::yarn::TokenHmac::kSha1);
}

}  // namespace fairlead::shell
