#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "endpoints/v1/amount.h"

namespace fairlead::endpoints::v1 {

/// An ask that waits.
struct Pending {
  std::string name{};
  int32_t priority = 0;
  int64_t count = 0;
  Amount capability{};
  std::string reason{}, detail{}, remedy{};
  int64_t waiting_ms = 0;

  FL_DESCRIBED("Pending", (name, "a node, a rack, or *: anywhere"), (priority, ""), (count, "containers"),
               (capability, "of each"), (reason, "as a word"), (detail, "the reason with its numbers"),
               (remedy, "what would free it"), (waiting_ms, "how long"))
};

struct Application {
  std::string id{}, name{}, type{}, user{}, queue{}, state{}, final_status{};
  int32_t priority = 0;
  float progress = 0;
  int64_t submitted_ms = 0, launched_ms = 0, finished_ms = 0, elapsed_ms = 0;
  int32_t containers = 0;
  Amount used{};
  std::string tracking_url{};
  bool hidden = false;

  FL_DESCRIBED("Application", (id, "application_TIMESTAMP_NUMBER"), (name, ""), (type, ""), (user, ""),
               (queue, "root.a.b"), (state, "as YARN's clients see it"), (final_status, "what its master said"),
               (priority, ""), (progress, "0 to 1"), (submitted_ms, ""),
               (launched_ms, "of its first master; 0: not yet"), (finished_ms, "0: not yet"),
               (elapsed_ms, "since it was submitted, until it ended"), (containers, "that run"), (used, "by them"),
               (tracking_url, "its master's page, or empty"), (hidden, "the caller may not see what it uses and has"))
};

/// One of a list; one that waits says why.
struct ListedApplication : Application {
  std::optional<Pending> pending{};
  FL_DESCRIBED_BEYOND(Application, "ListedApplication", (pending, "its first ask that waits, where one does"))
};
struct Applications {
  int64_t total = 0;
  std::vector<ListedApplication> apps{};
  FL_DESCRIBED("Applications", (total, "that match"), (apps, "those of this page"))
};

struct Attempt {
  std::string id{}, state{}, master{}, node{}, http_address{};
  int32_t exit_status = 0;
  std::string diagnostics{};
  std::optional<bool> node_gone{};

  FL_DESCRIBED("Attempt", (id, ""), (state, ""), (master, "its container; empty: none yet"),
               (node, "HOST:PORT, or empty"), (http_address, "of the node's pages"),
               (exit_status, "-1000: it has not ended"), (diagnostics, ""),
               (node_gone, "true: nobody serves its logs at the node any more"))
};

struct Container {
  std::string id{}, state{}, node{}, http_address{};
  Amount resources{};
  int32_t priority = 0;
  int64_t created_ms = 0;

  FL_DESCRIBED("Container", (id, ""), (state, ""), (node, "HOST:PORT"), (http_address, "of the node's pages"),
               (resources, ""), (priority, "of its ask"), (created_ms, "when it was granted"))
};

/// How far an application's logs have been gathered.
struct NodesLogs {
  std::string node{}, status{}, messages{}, failures{};
  FL_DESCRIBED("NodesLogs", (node, "HOST:PORT"), (status, "LogAggregationStatus"),
               (messages, "its last ones, a line each"), (failures, "its last ones, a line each"))
};
struct GatheredLogs {
  std::string status{};
  std::vector<NodesLogs> nodes{};
  FL_DESCRIBED("GatheredLogs", (status, "LogAggregationStatus of all; empty where it is hidden"),
               (nodes, "by each node"))
};

/// An application with its attempts, its containers and what it waits for.
struct ApplicationDetail : Application {
  std::string diagnostics{};
  std::optional<bool> preemptable{};
  GatheredLogs logs{};
  std::vector<Attempt> attempts{};
  std::vector<Container> running{};
  std::vector<Pending> pending{};

  FL_DESCRIBED_BEYOND(Application, "ApplicationDetail", (diagnostics, ""),
                      (preemptable, "containers of it may be taken back; left out where it is hidden"),
                      (logs, "how far they have been gathered"), (attempts, ""), (running, "its live containers"),
                      (pending, "its asks that wait"))
};

}  // namespace fairlead::endpoints::v1
