#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/fields.h"
#include "base/time.h"
#include "model/resources.h"

namespace fairlead::nm {

/// What the nm core is told once; names of the Hadoop keys behind the values in comments.
struct Config {
  std::string node_address;                                            // host:port, as registered
  model::Resources capacity;                                           // yarn.nodemanager.resource.*
  std::set<std::string> services;                                      // yarn.nodemanager.aux-services
  base::Duration kill_delay = base::Duration::Millis(250);             // ...sleep-delay-before-sigkill.ms
  base::Duration heartbeat_interval = base::Duration::Millis(1000);    // until the RM says otherwise
  base::Duration rm_retry_first = base::Duration::Millis(100);         // doubles up to rm_retry_max
  base::Duration rm_retry_max = base::Duration::Seconds(3);            // yarn.resourcemanager.connect.retry-interval.ms
  base::Duration cache_check_interval = base::Duration::Seconds(600);  // ...localizer.cache.cleanup.interval-ms
  int64_t cache_bytes_max = int64_t{10240} << 20;                      // ...localizer.cache.target-size-mb
  base::Duration remember_stopped = base::Duration::Seconds(600);      // ...duration-to-track-stopped-containers
  bool check_physical = true;                                          // ...pmem-check-enabled
  bool check_virtual = true;                                           // ...vmem-check-enabled
  double virtual_ratio = 2.1;                                          // ...vmem-pmem-ratio
  size_t diagnostics_bytes_max = 10000;                                // ...container-diagnostics-maximum-size
  base::Duration stop_limit = base::Duration::Seconds(10);  // for files and logs at the end, after kill_delay
  bool check_rm_identifier = true;
  bool room_is_all_types = false;  // a launch waits for room of every resource type, not of memory alone
};

}  // namespace fairlead::nm
