#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
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

}  // namespace fairlead::process::http
