#include "shell/kerberos/server_principal.h"

#include "env/server_pattern.h"

namespace fairlead::shell {

std::string ServerPrincipal(const config::HadoopConf& conf, const std::string& key) {
  const std::string pattern_key = key + ".pattern";
  const std::string pattern = conf.IsSet(pattern_key) ? conf.String(pattern_key) : "";
  if (pattern.empty()) return conf.IsSet(key) ? conf.String(key) : "";
  if (const base::Status read = env::CheckServerPattern(pattern); !read.ok()) {
    conf.Refuse(pattern_key, pattern + " cannot be read: " + read.error().message +
                                 "; write what servers are called with * and ? in it, rm/*@EXAMPLE.COM");
  }
  return pattern;
}

}  // namespace fairlead::shell
