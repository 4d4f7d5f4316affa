#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/queue_set.h"
#include "model/resources.h"
#include "model/scheduler.h"
#include "scheduler/scheduler.h"

namespace fairlead::process::ask {

/// What a question starts from: a cluster as it was at one moment, taken on the thread that decides. Any thread may
/// read it, one at a time: schedulers note what they have worked out.
struct Present {
  struct Container {
    model::ContainerId id;
    model::AppIndex app;
    model::NodeIndex node;
    model::Resources size;
    base::Instant started;
    int32_t priority = 0;
    bool master = false;
    bool acquired = true;  // its master has heard of it
    bool launched = true;  // its node has reported it
  };
  struct App {
    model::AppIndex index;
    model::ApplicationId id;
    std::string name;
    std::string user;
    std::string queue;
    std::string kind;     // its name without digits
    int32_t attempt = 0;  // 0: none yet
    bool unmanaged = false;
    bool visible = true;  // to whom the question is
    std::vector<model::Ask> master_asks;
    int32_t priority = 0;
  };
  struct Node {
    model::NodeIndex index;
    std::string host;
    int32_t port = 0;
    std::string rack;
    model::Resources capacity;
    std::vector<std::string> labels;
    base::Instant next_beat;                          // of profiles that grant by heartbeats
    bool drains = false;                              // it takes nothing new
    std::vector<model::scheduler::Window> windows{};  // of maintenance, that have not ended
  };

  std::shared_ptr<const scheduler::Scheduler> scheduler;
  base::Instant now;
  base::Duration heartbeat;  // of nodes, where the profile grants by heartbeats; else 0
  std::vector<Container> containers;
  std::vector<App> apps;                            // that the scheduler knows, by index
  std::vector<Node> nodes;                          // that the scheduler knows
  std::shared_ptr<const model::QueueSet> queues{};  // who may submit where; null: everybody everywhere
  bool acls = false;                                // yarn.acl.enable
  std::vector<model::scheduler::Event> first{};     // that the scheduler is still to hear: Allocate alone
};

/// A container of whose end somebody asks.
struct Running {
  model::ContainerId id;
  model::AppIndex app;
  model::Resources size;
  int32_t priority = 0;
  bool master = false;
  base::Duration age;  // it runs for so long
};
/// How long it runs in all; nothing: nobody knows.
using RunTimeOf = std::function<std::optional<base::Duration>(const Running&)>;

}  // namespace fairlead::process::ask
