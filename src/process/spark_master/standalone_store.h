#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "base/stored.h"
#include "base/time.h"
#include "endpoints/spark/descriptions.h"
#include "endpoints/spark/worker_messages.h"
#include "env/store.h"
#include "model/standalone.h"
#include "process/spark_master/set_aside.h"

// What a Standalone Master keeps over its restarts: who there is. What runs where, workers tell again.

namespace fairlead::process::spark_master {

/// Tables of the store; keys are the ids.
inline constexpr const char* kStandaloneWorkers = "standalone_workers";
inline constexpr const char* kStandaloneApplications = "standalone_applications";
inline constexpr const char* kStandaloneDrivers = "standalone_drivers";
/// One row, kImported, once the store has been used: what Spark's own master left is taken over only before.
inline constexpr const char* kStandaloneMaster = "standalone_master";
inline constexpr const char* kImported = "imported";
/// One row that is written from time to time, to know whether something can be stored.
inline constexpr const char* kStandaloneProbe = "standalone_probe";

struct StoredStandaloneWorker {
  std::string host;
  int32_t port = 0;
  std::string endpoint_host;
  int32_t endpoint_port = 0;
  std::string endpoint;
  int32_t cores = 0;
  int32_t memory_mib = 0;
  std::string web_url;
  std::vector<model::standalone::Resource> resources;
  std::string from;  // the address of its connection; empty: not known (earlier releases)
  FL_FIELDS(host, port, endpoint_host, endpoint_port, endpoint, cores, memory_mib, web_url, resources, from)
};
StoredStandaloneWorker ToStored(const endpoints::spark::RegisterWorker& worker);
endpoints::spark::RegisterWorker FromStored(const std::string& id, const StoredStandaloneWorker& stored);

struct StoredStandaloneApplication {
  std::string registration;  // the object stream of RegisterApplication
  base::WallTime started;
  std::vector<model::standalone::ProfileTarget> targets;
  /// A number is not given twice: a worker that is cut off may still run who has it. 0 (earlier releases): what workers
  /// claim tells.
  int32_t next_executor = 0;
  FL_FIELDS(registration, started, targets, next_executor)
};

struct StoredStandaloneDriver {
  endpoints::spark::DriverDescription description;
  base::WallTime submitted;
  bool waits = false;  // no worker was ever told of it
  FL_FIELDS(description, submitted, waits)
};

/// What a worker takes in memory, besides twice its registration.
inline constexpr size_t kWorkerBytes = 1024;

/// All of it, by id.
struct StandaloneState {
  std::vector<std::pair<std::string, StoredStandaloneWorker>> workers;
  std::vector<std::pair<std::string, StoredStandaloneApplication>> applications;
  std::vector<std::pair<std::string, StoredStandaloneDriver>> drivers;
};
/// `bad` gets the rows that cannot be read.
base::Result<StandaloneState> LoadStandaloneState(env::Store& store, std::vector<BadRow>& bad);

template <class T>
env::Row RowOf(const char* table, const std::string& key, const T& value) {
  return {table, key, base::EncodeStored(value)};
}

}  // namespace fairlead::process::spark_master
