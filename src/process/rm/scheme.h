#pragma once

#include <string>
#include <string_view>

namespace fairlead::process::rm {

/// "http://" or "https://", as of the manager's own pages: yarn.http.policy is the whole cluster's
/// (org.apache.hadoop.yarn.webapp.util.WebAppUtils.getHttpSchemePrefix).
inline std::string SchemeOf(std::string_view web_base) {
  return web_base.starts_with("https://") ? "https://" : "http://";
}

}  // namespace fairlead::process::rm
