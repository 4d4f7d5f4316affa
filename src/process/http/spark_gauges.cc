#include "process/http/spark_gauges.h"

#include <algorithm>

namespace fairlead::process::http {

Response SparkPrometheus(const SparkGauges& gauges) {
  Response response;
  response.content_type = "text/plain;charset=utf-8";
  response.headers.emplace_back("Cache-Control", "no-cache, no-store, must-revalidate");
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  for (const auto& [name, value] : gauges) {
    std::string key = name;
    std::ranges::replace_if(
        key, [&](char c) { return !is_plain(c); }, '_');
    for (const char* kind : {"Number", "Value"}) {
      response.body += "metrics_" + key + "_" + kind + "{type=\"gauges\"} " + std::to_string(value) + "\n";
    }
  }
  return response;
}

}  // namespace fairlead::process::http
