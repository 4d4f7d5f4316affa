#pragma once

#include <optional>

#include "env/loop.h"
#include "process/http/server.h"
#include "process/http/token_filter.h"
#include "shell/spark/spark_properties.h"

namespace fairlead::shell {

/// spark.ui.filters and spark.master.rest.filters: who may come to a port. Of Spark's filters there is JWSFilter;
/// another class is refused by name, since what it would keep out would come in.
std::optional<process::http::TokenFilter> ReadSparkFilter(SparkKeys& keys, const char* key);

/// `handler` for who is let through; all of these outlive it. Without a filter that is everybody. `refused` counts the
/// others.
process::http::Server::Handler Guarded(env::Loop& loop, const std::optional<process::http::TokenFilter>& filter,
                                       uint64_t& refused, process::http::Server::Handler handler);

}  // namespace fairlead::shell
