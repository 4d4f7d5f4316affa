#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "env/log.h"
#include "env/net.h"
#include "process/http/server.h"

namespace fairlead::shell {

using ListeningServer = base::Result<std::unique_ptr<process::http::Server>>;

/// Calls `listen` with `first`, and while that port is taken with the next one, at most `retries` times
/// (spark.port.maxRetries): as Spark's pages and REST ports do (org.apache.spark.util.Utils.startServiceOnPort). Port 0
/// is tried once. What is tried instead is logged. An Error names the ports, `what` and `key`, by which another is
/// said.
ListeningServer ListenOnNextFree(env::Log& log, const env::Endpoint& first, int retries, const char* what,
                                 const char* key, const std::function<ListeningServer(const env::Endpoint&)>& listen);

}  // namespace fairlead::shell
