#include "shell/spark/spark_filters.h"

namespace fairlead::shell {

std::optional<process::http::TokenFilter> ReadSparkFilter(SparkKeys& keys, const char* key) {
  constexpr const char* kFilter = "org.apache.spark.ui.JWSFilter";
  const std::string secret_key = std::string("spark.") + kFilter + ".param.secretKey";
  const std::string named = keys.String(key, "");
  if (named.empty()) return std::nullopt;
  if (named != kFilter) {
    keys.Refuse(key, named + " is not supported here; set " + kFilter);
    return std::nullopt;
  }
  const std::string must = keys.String(std::string("spark.") + kFilter + ".param.requireExpiration", "false");
  auto filter = process::http::TokenFilter::Make(keys.String(secret_key, ""), must == "true");
  if (filter.ok()) return std::move(*filter);
  keys.Refuse(secret_key, filter.error().message);
  return std::nullopt;
}

process::http::Server::Handler Guarded(env::Loop& loop, const std::optional<process::http::TokenFilter>& filter,
                                       uint64_t& refused, process::http::Server::Handler handler) {
  if (!filter) return handler;
  return [&loop, &filter, &refused, handler = std::move(handler)](const process::http::Request& request,
                                                                  const process::http::Server::Reply& reply) {
    auto refusal = filter->Check(request, loop.Wall());
    if (!refusal) return handler(request, reply);
    ++refused;
    reply(std::move(*refusal));
  };
}

}  // namespace fairlead::shell
