#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "process/http/http.h"

namespace fairlead::process::http {

/// Numbers of a daemon under the names that monitors of Hadoop read (javax.management, Hadoop's metrics2).
struct Bean {
  std::string name;  // "Hadoop:service=ResourceManager,name=ClusterMetrics"
  std::string type;  // its modelerType
  nlohmann::ordered_json attributes = nlohmann::ordered_json::object();
};

/// What /jmx answers (org.apache.hadoop.jmx.JMXJsonServlet): all beans, those of `?qry=PATTERN`, or the one attribute
/// of
/// `?get=NAME::ATTRIBUTE`. Cost: the beans, and for each the pattern's length times its name's.
Response JmxAnswer(const std::map<std::string, std::string>& query, const std::vector<Bean>& beans);

/// JvmMetrics of the daemon that Hadoop calls `service` (org.apache.hadoop.metrics2.source.JvmMetrics), as far as a
/// number has a meaning where there is no JVM: memory in RAM for the heap, threads, and a collector that never runs.
/// Nothing where the process cannot be read.
void AddJvmBean(const std::string& service, const std::string& host, std::vector<Bean>& beans);

/// What /stacks, /logLevel and /logs say instead of Hadoop's pages; nothing for another path.
std::optional<Response> InsteadOfServlet(std::string_view path);

}  // namespace fairlead::process::http
