#include "profiles/parts.h"
#include "scheduler/spark_standalone/standalone.h"

namespace fairlead::profiles {
namespace {

using scheduler::StandaloneConfig;

constexpr Key<StandaloneConfig> kKeys[] = {
    KeyOf<&StandaloneConfig::spread_out>("spark.deploy.spreadOutApps",
                                         "one container at a time around the nodes, or node after node"),
};

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
    .settings = SettingsOnBooks<StandaloneConfig, kKeys>,
    .read = ReadOnBooks<StandaloneConfig, kKeys, scheduler::MakeStandalone>,
};

}  // namespace fairlead::profiles
