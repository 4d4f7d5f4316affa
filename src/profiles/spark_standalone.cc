#include "profiles/parts.h"
#include "scheduler/spark_standalone/standalone.h"

namespace fairlead::profiles {
namespace {

using scheduler::BooksConfig;
using scheduler::StandaloneConfig;

constexpr Key<StandaloneConfig> kKeys[] = {
    KeyOf<&StandaloneConfig::spread_out>("spark.deploy.spreadOutApps",
                                         "one container at a time around the nodes, or node after node"),
};

std::vector<Setting> Settings() {
  std::vector<Setting> out;
  AppendSettings<StandaloneConfig>(kKeys, {}, out);
  AppendSettings<BooksConfig>(SharedKeys(), {}, out);
  return out;
}

base::Result<Maker> Read(const config::HadoopConf& conf, const model::QueueTree& queues) {
  const base::Result<BooksConfig> shared = ReadShared(conf, queues);
  if (!shared) return shared.error();
  StandaloneConfig config;
  config.base = *shared;
  ReadKeys<StandaloneConfig>(conf, kKeys, config);
  return Maker([config](int64_t epoch) mutable {
    config.base.epoch = epoch;
    return scheduler::MakeStandalone(config);
  });
}

}  // namespace

namespace {

constexpr Profile::PassedOver kPassesOver[] = {
    {kMinShareTimeout, "nothing is taken back"},
    {kFairShareTimeout, "nothing is taken back"},
    {kFairShareThreshold, "nothing is taken back"},
    {kReservation, "nothing is planned ahead"},
    {kReservationLists, "nothing is planned ahead"},
    {kQueuePriority, "applications are served in the order of their registration"},
    {kStartTime, "applications are served in the order of their registration"},
    {kGroupApplications, "it is for profiles fairlead and tdw"},
    {kUserResources, "it is for profile fairlead"},
};

}  // namespace

const Profile kSparkStandalone = {
    .name = "spark-standalone",
    .about = "Spark's Standalone Master: drivers first, applications in order of submission, spread out or packed",
    .hadoop_name = "FairScheduler",
    .by_heartbeat = false,
    .pushes_grants = true,
    .queue_file = kFairSchedulerFile,
    .passes_over = kPassesOver,
    .settings = Settings,
    .read = Read,
};

}  // namespace fairlead::profiles
