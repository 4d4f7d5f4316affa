#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "process/http/http.h"
#include "process/spark_master/create_request.h"
#include "process/spark_master/standalone_master.h"

namespace fairlead::process::spark_master {

/// The REST protocol of drivers on workers, port 6066 (org.apache.spark.deploy.rest.StandaloneRestServer): create, kill
/// and status, with Spark 4 killall, clear and readyz. The answers are those of the release that the cluster runs, but
/// for the stack traces of its errors.
class RestSubmission {
 public:
  /// The master outlives it. `port`: of this server, which a driver's spark.master may name instead of the master's.
  RestSubmission(StandaloneMaster& master, const endpoints::spark::SparkBuild& build, uint16_t port,
                 Variables variables)
      : master_(master),
        version_(build.version()),
        spark4_(build.has_module_proxies()),
        port_(port),
        variables_(std::move(variables)) {}

  using Reply = std::function<void(http::Response)>;
  void Handle(const http::Request& request, const Reply& reply);

 private:
  void Create(const http::Request& request, const Reply& reply);
  void Kill(const std::string& id, const Reply& reply);
  void KillAll(const Reply& reply);
  void Status(const std::string& id, const Reply& reply);
  http::Response InStandby(const std::string& action, const std::string& id) const;
  http::Response WrongPath(const std::string& path) const;
  http::Response Error(int status, const std::string& message, bool wrong_version = false) const;

  StandaloneMaster& master_;
  const std::string version_;
  const bool spark4_;
  const uint16_t port_;
  const Variables variables_;
};

}  // namespace fairlead::process::spark_master
