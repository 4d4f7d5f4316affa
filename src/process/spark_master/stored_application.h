#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"
#include "endpoints/spark/driver_messages.h"

namespace fairlead::process::spark_master {

/// Table of the store: applications that have not ended, by id.
inline constexpr const char* kApplicationTable = "applications";

struct StoredExecutor {
  std::string id;
  int32_t profile = 0;
  std::string container;
  std::string host;
  int32_t port = 0;
  std::string http_address;
  bool started = false;
  bool killed = false;  // by the driver; perhaps not yet by the resource manager
  FL_FIELDS(id, profile, container, host, port, http_address, started, killed)
};

struct StoredTotal {
  endpoints::spark::ResourceProfile profile;
  int32_t executors = 0;
  FL_FIELDS(profile, executors)
};

/// What cannot be learnt again about an application when this process has ended in its middle.
struct StoredApplication {
  std::string registration;      // the object stream of RegisterApplication
  std::string token_identifier;  // AMRMToken; empty: there is none yet
  std::string token_password;
  std::string token_kind;
  std::string token_service;
  std::vector<StoredTotal> totals;
  std::vector<StoredExecutor> executors;
  int32_t last_executor = 0;
  FL_FIELDS(registration, token_identifier, token_password, token_kind, token_service, totals, executors, last_executor)
};

}  // namespace fairlead::process::spark_master
