#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::config {

/// The hosts of yarn.resourcemanager.nodes.include-path or exclude-path.
struct HostList {
  std::vector<std::string> names;
  std::map<std::string, int64_t> timeouts_s;  // of those that name one for their graceful decommissioning
};

/// One or more names a line; a word that begins with # makes the rest of its line a comment
/// (org.apache.hadoop.util.HostsFileReader.readFileToSetWithFileInputStream).
HostList ParseHostList(std::string_view text);

/// <hosts><host><name>a, b</name><timeout>seconds</timeout></host>...</hosts>, the timeout optional
/// (HostsFileReader.readXmlFileToMapWithFileInputStream). An Error: not XML, or a timeout that is no number.
base::Result<HostList> ParseHostListXml(std::string_view text);

}  // namespace fairlead::config
