#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "endpoints/v1/amount.h"

namespace fairlead::endpoints::v1 {

/// One thing that the scheduler, a node, an application or an operator did.
struct Event {
  int64_t number = 0, at_ms = 0;
  std::string kind{};
  std::optional<std::string> app{}, queue{}, node{}, http_address{}, container{};
  std::optional<Amount> size{};
  std::optional<int32_t> exit_status{};
  std::string detail{};
  std::optional<bool> node_gone{};

  FL_DESCRIBED("Event", (number, "grows with each"), (at_ms, ""),
               (kind, "granted, held, released, ended, preempted, notice, refused, state or action"), (app, ""),
               (queue, ""), (node, "HOST:PORT"), (http_address, "of the node's pages"), (container, ""),
               (size, "of it"), (exit_status, "of one that ended"), (detail, "for people"),
               (node_gone, "true: nobody serves pages there any more"))
};
struct Events {
  std::vector<Event> events{};
  FL_DESCRIBED("Events", (events, "the newest first"))
};

/// A queue at one moment. Without "used_mib" the queue was not there, or beyond those that are kept.
struct Sample {
  int64_t at_ms = 0, capacity_mib = 0, granted = 0;
  std::optional<int64_t> used_mib{}, fair_share_mib{}, pending_mib{}, runnable_apps{}, waiting_apps{};

  FL_DESCRIBED("Sample", (at_ms, ""), (capacity_mib, "of the cluster"),
               (granted, "containers since the first sample of all"), (used_mib, ""), (fair_share_mib, ""),
               (pending_mib, "asked for and not granted"), (runnable_apps, ""), (waiting_apps, ""))
};
struct History {
  std::string queue{};
  std::vector<Sample> samples{};
  FL_DESCRIBED("History", (queue, ""), (samples, "the finest that reach so far back"))
};

}  // namespace fairlead::endpoints::v1
