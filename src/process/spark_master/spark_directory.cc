#include "process/spark_master/spark_directory.h"

#include <cerrno>

#include "endpoints/spark/recovery_files.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;

namespace {

constexpr uint64_t kFileBytesMax = 1 << 20;

/// Takes up one file, by the beginning of its name; others are none of the master's.
base::Status TakeUp(const std::string& name, const std::string& bytes, const es::SparkBuild& build,
                    StandaloneState& state) {
  if (name.starts_with("worker_")) {
    const auto worker = es::DecodeWorkerInfo(bytes);
    if (!worker) return worker.error();
    state.workers.emplace_back(worker->id, ToStored(*worker));
  } else if (name.starts_with("app_")) {
    auto info = es::DecodeApplicationInfo(build, bytes);
    if (!info) return info.error();
    state.applications.emplace_back(info->id,
                                    StoredStandaloneApplication{std::move(info->registration), info->started, {}});
  } else if (name.starts_with("driver_")) {
    auto info = es::DecodeDriverInfo(bytes);
    if (!info) return info.error();
    state.drivers.emplace_back(info->id, StoredStandaloneDriver{std::move(info->description), info->submitted, false});
  }
  return {};
}

}  // namespace

base::Result<SparkDirectory> ReadSparkDirectory(env::Disk& disk, const std::string& directory,
                                                const es::SparkBuild& build) {
  SparkDirectory found;
  const auto files = disk.List(directory);
  if (!files && files.error().code == ENOENT) return found;
  if (!files) return files.error();
  for (const env::FileInfo& file : *files) {
    if (file.kind != env::FileInfo::Kind::kFile) continue;
    const auto bytes = disk.ReadFile(directory + "/" + file.name, kFileBytesMax);
    const base::Status taken = bytes.ok() ? TakeUp(file.name, *bytes, build, found.state) : bytes.error();
    if (!taken.ok()) found.unread.push_back(file.name + " cannot be read: " + taken.error().message);
  }
  return found;
}

}  // namespace fairlead::process::spark_master
