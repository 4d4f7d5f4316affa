#include "process/spark_master/standalone_store.h"

#include "process/spark_master/standalone_application.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;

StoredStandaloneWorker ToStored(const es::RegisterWorker& worker) {
  StoredStandaloneWorker stored{worker.host,
                                worker.port,
                                worker.worker.address.host,
                                worker.worker.address.port,
                                worker.worker.name,
                                worker.cores,
                                worker.memory_mib,
                                worker.web_url,
                                FromWire(worker.resources),
                                ""};
  return stored;
}

es::RegisterWorker FromStored(const std::string& id, const StoredStandaloneWorker& stored) {
  es::RegisterWorker worker;
  worker.id = id;
  worker.host = stored.host;
  worker.port = stored.port;
  worker.worker = {{stored.endpoint_host, stored.endpoint_port}, stored.endpoint};
  worker.cores = stored.cores;
  worker.memory_mib = stored.memory_mib;
  worker.web_url = stored.web_url;
  worker.resources = ToWire(stored.resources);
  return worker;
}

base::Result<StandaloneState> LoadStandaloneState(env::Store& store, std::vector<BadRow>& bad) {
  auto workers = LoadReadable<StoredStandaloneWorker>(store, kStandaloneWorkers, bad);
  if (!workers) return workers.error();
  auto applications = LoadReadable<StoredStandaloneApplication>(store, kStandaloneApplications, bad);
  if (!applications) return applications.error();
  auto drivers = LoadReadable<StoredStandaloneDriver>(store, kStandaloneDrivers, bad);
  if (!drivers) return drivers.error();
  return StandaloneState{std::move(*workers), std::move(*applications), std::move(*drivers)};
}

}  // namespace fairlead::process::spark_master
