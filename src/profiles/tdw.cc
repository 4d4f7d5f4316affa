#include "scheduler/tdw/tdw.h"

#include "profiles/parts.h"

namespace fairlead::profiles {
namespace {

using scheduler::BooksConfig;
using scheduler::TdwConfig;
using scheduler::TdwMasterMemory;
using scheduler::TdwTaskSize;

constexpr char kPreset[] = "fairlead.scheduler.tdw.preset";

constexpr Key<TdwConfig> kKeys[] = {
    KeyOf<&TdwConfig::round_limit>("fairlead.scheduler.tdw.round-limit", "grants of one task type in one round",
                                   Range{1}),
    KeyOf<&TdwConfig::round_interval>("fairlead.scheduler.tdw.round-interval-ms",
                                      "time between two rounds; 0: one at the end of every batch of events"),
    KeyOf<&TdwConfig::reduce_priority>("fairlead.scheduler.tdw.reduce-priority",
                                       "asks of this priority are reduce tasks; the master apart, all others are maps"),
    KeyOf<&TdwConfig::preemption>("yarn.scheduler.fair.preemption",
                                  "take young grants back for pools below their share"),
    KeyOf<&TdwConfig::victim_age>("fairlead.scheduler.tdw.victim-age-ms", "only grants at most so old are taken back"),
    KeyOf<&TdwConfig::base, &BooksConfig::ask_again>("fairlead.scheduler.tdw.ask-again",
                                                     "a grant that ends before its master has heard of it is asked for "
                                                     "again, as in Hadoop; false: its master asks, as "
                                                     "in the article"),
    KeyOf<&TdwConfig::over_kill>("fairlead.scheduler.tdw.over-kill",
                                 "the last victim session gives its whole surplus, even if less is needed"),
    KeyOf<&TdwConfig::jobtracker, &TdwTaskSize::vcores>("fairlead.scheduler.tdw.jobtracker.vcores",
                                                        "of a jobtracker (master); 0: what its ask says"),
    KeyOf<&TdwConfig::jobtracker, &TdwTaskSize::network_mbit>("fairlead.scheduler.tdw.jobtracker.network",
                                                              "of the network type, for a jobtracker; 0: as asked"),
    KeyOf<&TdwConfig::jobtracker, &TdwTaskSize::disk_gb>("fairlead.scheduler.tdw.jobtracker.disk",
                                                         "of the disk type, for a jobtracker; 0: as asked"),
    KeyOf<&TdwConfig::map, &TdwTaskSize::vcores>("fairlead.scheduler.tdw.map.vcores", "the same for a map"),
    KeyOf<&TdwConfig::map, &TdwTaskSize::network_mbit>("fairlead.scheduler.tdw.map.network", "the same for a map"),
    KeyOf<&TdwConfig::map, &TdwTaskSize::disk_gb>("fairlead.scheduler.tdw.map.disk", "the same for a map"),
    KeyOf<&TdwConfig::reduce, &TdwTaskSize::vcores>("fairlead.scheduler.tdw.reduce.vcores", "the same for a reduce"),
    KeyOf<&TdwConfig::reduce, &TdwTaskSize::network_mbit>("fairlead.scheduler.tdw.reduce.network",
                                                          "the same for a reduce"),
    KeyOf<&TdwConfig::reduce, &TdwTaskSize::disk_gb>("fairlead.scheduler.tdw.reduce.disk", "the same for a reduce"),
    KeyOf<&TdwConfig::network_type>("fairlead.scheduler.tdw.network-type",
                                    "name of the resource type that is the network (Mbit/s); counts if there is one"),
    KeyOf<&TdwConfig::disk_type>("fairlead.scheduler.tdw.disk-type",
                                 "name of the resource type that is disk space (GB); counts if there is one"),
    KeyOf<&TdwConfig::test_network>("fairlead.scheduler.tdw.test-network",
                                    "a node without enough of the network type is passed over"),
    KeyOf<&TdwConfig::master_memory, &TdwMasterMemory::base_mb>(
        "fairlead.scheduler.tdw.jobtracker.memory-base-mb",
        "memory of the jobtracker of a job that tells its numbers of maps and reduces, before these; 0: as asked"),
    KeyOf<&TdwConfig::master_memory, &TdwMasterMemory::per_map_mb>(
        "fairlead.scheduler.tdw.jobtracker.memory-per-map-mb", "and for each map"),
    KeyOf<&TdwConfig::master_memory, &TdwMasterMemory::per_reduce_mb>(
        "fairlead.scheduler.tdw.jobtracker.memory-per-reduce-mb", "and for each reduce"),
    KeyOf<&TdwConfig::master_memory, &TdwMasterMemory::most_mb>("fairlead.scheduler.tdw.jobtracker.memory-most-mb",
                                                                "and at most"),
};

/// Preemption is off as in every profile; the article has it always.
TdwConfig Defaults() {
  TdwConfig config;
  config.preemption = false;
  return config;
}

/// The article: always preemption, the whole surplus, no share of the masters, sizes by type, network not tested.
void UseArticle(TdwConfig& config) {
  config.preemption = true;
  config.over_kill = true;
  config.jobtracker = {1, 50, 10};
  config.map = {1, 10, 10};
  config.reduce = {1, 50, 10};
  config.test_network = false;
  config.base.cluster_master_share = 1000;
  auto& share = config.base.queues.queue_max_am_share_default;
  if (!share) share = -1.0;
}

std::vector<Setting> Settings() {
  std::vector<Setting> out = {
      {kPreset, "fairlead",
       "fairlead, or article: preemption and over-kill on, cluster-master-share 1000, maxAMShare -1 where no queue "
       "says otherwise, tasks of 1 vcore and 10 GB, jobtrackers and reduces of 50 Mbit/s, maps of 10, network not "
       "tested; a key that is set still counts"}};
  AppendSettings<TdwConfig>(kKeys, Defaults(), out);
  AppendSettings<BooksConfig>(SharedKeys(), {}, out);
  return out;
}

/// The defaults need not be there.
void CheckTypes(const config::HadoopConf& conf, const TdwConfig& config) {
  const auto check = [&](const char* key, const std::string& type, const std::string& fallback) {
    if (type != fallback && model::ResourceTypes::Find(type) < 0)
      conf.Refuse(key, "'" + type + "' is not a resource type; add it to yarn.resource-types");
  };
  check("fairlead.scheduler.tdw.network-type", config.network_type, TdwConfig{}.network_type);
  check("fairlead.scheduler.tdw.disk-type", config.disk_type, TdwConfig{}.disk_type);
}

base::Result<Maker> Read(const config::HadoopConf& conf, const model::QueueTree& queues) {
  const base::Result<BooksConfig> shared = ReadShared(conf, queues);
  if (!shared) return shared.error();
  TdwConfig config = Defaults();
  config.base = *shared;
  const std::string preset = conf.String(kPreset, "fairlead");
  if (preset == "article") {
    UseArticle(config);
    ReadKeys<BooksConfig>(conf, SharedKeys(), config.base);
  } else if (preset != "fairlead") {
    conf.Refuse(kPreset, "'" + preset + "' is not a preset; write fairlead or article");
  }
  ReadKeys<TdwConfig>(conf, kKeys, config);
  CheckTypes(conf, config);
  return Maker([config](int64_t epoch) mutable {
    config.base.epoch = epoch;
    return scheduler::MakeTdw(config);
  });
}

}  // namespace

namespace {

constexpr Profile::PassedOver kPassesOver[] = {
    {kMinShareTimeout,
     "its preemption has keys of its own, yarn.scheduler.fair.preemption and fairlead.scheduler.tdw.*"},
    {kFairShareTimeout,
     "its preemption has keys of its own, yarn.scheduler.fair.preemption and fairlead.scheduler.tdw.*"},
    {kFairShareThreshold,
     "its preemption has keys of its own, yarn.scheduler.fair.preemption and fairlead.scheduler.tdw.*"},
    {kReservation, "nothing is planned ahead"},
    {kReservationLists, "nothing is planned ahead"},
    {kUserResources, "it is for profile fairlead"},
    {kMemoryMaximum, "it counts tasks: the vcores of a maximum are how many of each type may run"},
    {kMiddleMaximum, "groups (root.GROUP) and pools (its leaves) have maxima"},
};

}  // namespace

const Profile kTdw = {
    .name = "tdw",
    .about = "Tencent's TDW: groups, pools and sessions, one round per task type, preferred nodes, then low load",
    .hadoop_name = "FairScheduler",
    .by_heartbeat = false,
    .pushes_grants = true,
    .queue_file = kFairSchedulerFile,
    .passes_over = kPassesOver,
    .settings = Settings,
    .read = Read,
};

}  // namespace fairlead::profiles
