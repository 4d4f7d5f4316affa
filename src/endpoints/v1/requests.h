#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/described_json.h"

// Bodies of requests, for openapi.json: who takes them reads them field by field, as strangers write them.

namespace fairlead::endpoints::v1 {

struct CredentialWanted {
  std::string kind{};
  std::optional<std::string> user{}, host{};
  FL_DESCRIBED("CredentialWanted", (kind, "node or client"), (user, "as whom a client acts; its name, if not said"),
               (host, "from which alone it is taken"))
};
struct WhatIfAsked {
  std::optional<std::vector<std::string>> changes{};
  std::optional<std::string> queues_file{}, for_{};

  FL_DESCRIBED(
      "WhatIfAsked",
      (changes,
       "NAME VALUE, with the options of fairlead what-if: queue root.prod.weight=5, lose-node HOST, lose-rack RACK, "
       "add-nodes COUNT=HOST, drain HOST, submit COUNTxMEMORY,VCORESxTIME@QUEUE, kill APP, move APP=QUEUE, profile "
       "NAME"),
      (queues_file, "a whole file of queues instead, of the manager's profile or of another one that then decides"),
      (for_, "so far is looked: 90s, 10m, 2h, 1d (default 2h, at most 1d)"))
};
/// {NAME: TEXT, ...}
struct Settings {
  static std::string Schema(base::JsonSchemas& /*schemas*/) {
    return R"({"type":"object","minProperties":1,"additionalProperties":{"type":"string"}})";
  }
};
struct QueueSettings {
  Settings settings{};
  std::optional<std::string> version{};
  FL_DESCRIBED("QueueSettings", (settings, "an empty value takes a setting out"),
               (version, "of the file, as the answer without it told; without it nothing is written"))
};
struct NodeStateWanted {
  std::string state{};
  std::optional<int64_t> timeout_s{};
  FL_DESCRIBED("NodeStateWanted", (state, "DECOMMISSIONING, DECOMMISSIONED or RUNNING"),
               (timeout_s, "after which a draining node is taken out; without it: when it is empty"))
};
struct MaintenanceWanted {
  std::optional<int64_t> at_ms{}, for_s{};
  std::optional<bool> cancel{};
  FL_DESCRIBED("MaintenanceWanted", (at_ms, "when it begins"), (for_s, "how long it lasts"),
               (cancel, "instead: none is left of the host"))
};

}  // namespace fairlead::endpoints::v1
