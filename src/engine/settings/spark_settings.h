#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/setting.h"
#include "engine/settings/job_settings.h"
#include "tasks/config.h"
#include "tasks/merge_rule.h"
#include "wire/spark_transport/security.h"

namespace fairlead::engine {

/// Settings of the scheduling of tasks by the names of Spark 3.5 (org.apache.spark.internal.config), with its meaning,
/// units and defaults, and by names that begin with `fairlead.` what goes beyond them. Written into `config` all or not
/// at all; a name or value that is unknown or impossible is an error that names it.
base::Status ApplySparkSettings(const std::map<std::string, std::string>& settings, tasks::Config& config);

/// How executors and shuffle services show each other a secret that is derived from the one between driver and
/// executors; without a secret: they do not (spark.authenticate is false).
base::Result<wire::spark_transport::Security> MakeShuffleSecurity(const JobSettings& settings,
                                                                  std::string_view application_secret);

/// Names that ApplySparkSettings knows, sorted.
std::vector<std::string> SparkSettingNames();
/// The same with defaults and meanings, for people.
std::vector<base::Setting> SparkSettings();

/// Where Spark has the file of its pools; whoever starts the job reads it into JobSettings::pools.
inline constexpr const char* kAllocationFile = "spark.scheduler.allocation.file";

/// Name nodes beside fs.defaultFS that `fairlead submit` gets tokens from: "hdfs://nn2:8020,hdfs://other".
inline constexpr const char* kHadoopFileSystems = "spark.kerberos.access.hadoopFileSystems";

/// A file that tells executors the load of their hosts instead of their meters (engine/run/host_load.h).
inline constexpr const char* kLoadFile = "fairlead.locality.loadFile";

/// PEM files by which the driver's page is HTTPS (engine/driver/page_tls.h).
inline constexpr const char* kPageCertificate = "fairlead.tls.certificate";
inline constexpr const char* kPageKey = "fairlead.tls.key";

/// Whether the blocks of shuffles are merged by the nodes' shuffle services (fairlead.shuffle.merge).
base::Result<tasks::MergeWhen> MakeMergeWhen(const JobSettings& settings);

/// What the settings say about the scheduling of tasks.
base::Result<tasks::Config> MakeTasksConfig(const JobSettings& settings);

}  // namespace fairlead::engine
