#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
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

/// More than the executors that can have been granted and not stored when the process ended.
inline constexpr int32_t kIdsLeftOut = 10'000;

/// The number that an executor's id is; nullopt: it is none from 0 on.
std::optional<int32_t> NumberOfExecutor(std::string_view id);
/// Whether the numbers in it are some that this Master can have given.
base::Status CheckStored(const StoredApplication& stored);

}  // namespace fairlead::process::spark_master
