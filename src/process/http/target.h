#pragma once

#include <map>
#include <string>
#include <string_view>

namespace fairlead::process::http {

/// The path and the query of a request's target, decoded; the last of equal names.
void SplitTarget(std::string_view target, std::string& path, std::map<std::string, std::string>& query);

}  // namespace fairlead::process::http
