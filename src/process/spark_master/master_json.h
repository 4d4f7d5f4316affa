#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "env/alive.h"
#include "process/http/http.h"
#include "process/http/metrics.h"
#include "process/http/server.h"
#include "process/http/static_file.h"
#include "process/spark_master/master_proxy.h"
#include "process/spark_master/standalone_cluster.h"
#include "process/spark_master/standalone_master.h"

namespace fairlead::process::spark_master {

/// The JSON of the master's page (org.apache.spark.deploy.JsonProtocol.writeMasterState): `/json/`, in Spark 4 also
/// `/json/FIELD` and `/json/clusterutilization`. `spark4`: which release answers.
std::string MasterJson(const StandaloneCluster& cluster, const std::string& field, bool spark4);

/// What `/json/` tells, apart from the cluster: of many rows another thread makes the text.
struct MasterView {
  struct Worker {
    endpoints::spark::RegisterWorker said;
    base::WallTime heartbeat;
    int32_t cores = 0, cores_used = 0, memory = 0, memory_used = 0;
    std::vector<model::standalone::Resource> resources_free;
    model::standalone::WorkerState state = model::standalone::WorkerState::kAlive;
  };
  struct Application {
    std::string id;
    endpoints::spark::ApplicationDescription description;
    base::WallTime started, ended;
    int32_t cores_granted = 0;
    model::standalone::AppState state = model::standalone::AppState::kWaiting;
  };
  struct Driver {
    std::string id;
    std::shared_ptr<const Submission> submission;
    base::WallTime submitted;
    std::string worker;
    std::vector<model::standalone::Resource> resources;
    model::standalone::DriverState state = model::standalone::DriverState::kSubmitted;
    bool ended = false;
  };
  std::vector<Worker> workers;
  std::vector<Application> applications;
  std::vector<Driver> drivers;
  std::string url;
  std::string status;
  base::WallTime now;
  size_t waiting_drivers = 0;
};
MasterView ViewOf(const StandaloneCluster& cluster);
std::string MasterJson(const MasterView& view, const std::string& field, bool spark4);

/// Spark's metrics, of the master (MasterSource) and of applications that have not ended (ApplicationSource), in both
/// forms: `/metrics/{master,applications}/{json,prometheus}/`. Nothing for any other path.
std::optional<http::Response> SparkMetrics(const StandaloneCluster& cluster, std::string path);
/// `/metrics`, for Prometheus.
http::Response MasterMetrics(const StandaloneCluster& cluster, const http::WebRefusals& web);
/// The executors of an application, the latest 200 of this life of the master with those that have ended:
/// `/fairlead/executors` (appId).
std::string ExecutorsJson(const StandaloneCluster& cluster, const std::string& id);
/// Of an application whose executors end by themselves as soon as they run, the last few one after the other: how the
/// last one ended. Empty where one of those that run has done so for a minute.
std::string WhyExecutorsEnd(const ApplicationRecord& record, base::WallTime now);
/// Why each application and driver waits, beside what `/json/` says: `/fairlead/waiting`. Of thousands the first
/// hundreds: each is compared with every worker.
std::string WaitingJson(const StandaloneCluster& cluster);
/// What the machine of each worker that is alive uses, as it said last: `/fairlead/use`. Amounts that are not known are
/// left out, and so are workers that tell nothing: Spark's own, and all where nobody decides by it.
std::string UseJson(const StandaloneCluster& cluster);

/// What an operator should know, as sentences: `/fairlead/notices`.
std::string NoticesJson(const StandaloneCluster& cluster);

/// A file of web/; null when there is none of this name.
const http::StaticFile* FindWebFile(std::string_view name);

/// What a visitor wants to know of the master itself: `/fairlead/about`.
struct MasterAbout {
  std::string release;   // of Spark
  std::string rest_url;  // where drivers are submitted by REST; empty: nowhere
  bool spark4 = false;   // which release answers
  std::string profile;   // who places executors
  std::string wishes;    // switches of profile fairlead that are on; "none"
};
std::string AboutJson(const MasterAbout& about);

/// The master's page, that of an application (/app/, appId), all of the above by their paths, /app/json/ of one,
/// /fairlead/pages, /healthz, and /readyz: whether it is ALIVE and can store what it promises. On the loop's thread.
class MasterPages {
 public:
  /// `loop` and `master` outlive it. `web_refusals`: of the master's web ports.
  MasterPages(env::Loop& loop, StandaloneMaster& master, ReverseProxy proxy, MasterAbout about,
              std::function<http::WebRefusals()> web_refusals)
      : loop_(loop),
        master_(master),
        proxy_(std::move(proxy)),
        about_(std::move(about)),
        web_refusals_(std::move(web_refusals)) {}

  void Handle(const http::Request& request, const http::Server::Reply& reply);

 private:
  http::Response Answer(const http::Request& request) const;
  /// `/json/` in whole or a field of it: made off the loop, one text of a kind at a time, for all that have asked
  /// before it was begun.
  void MakeJson(const std::string& field, const http::Server::Reply& reply);
  void BeginJson(const std::string& field);

  env::Loop& loop_;
  StandaloneMaster& master_;
  const ReverseProxy proxy_;
  const MasterAbout about_;
  const std::function<http::WebRefusals()> web_refusals_;
  struct Asked {
    std::vector<http::Server::Reply> served;   // by the text that is being made
    std::vector<http::Server::Reply> waiting;  // for the next one
  };
  std::map<std::string, Asked> asked_;  // by field; being made
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_master
