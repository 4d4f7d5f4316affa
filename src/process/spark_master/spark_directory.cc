#include "process/spark_master/spark_directory.h"

#include <cerrno>

#include "endpoints/spark/recovery_files.h"
#include "process/spark_master/standalone_store.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;

namespace {

constexpr uint64_t kFileBytesMax = 1 << 20;

/// The row of one file, by the beginning of its name; nothing for files that are none of the master's.
base::Result<std::optional<env::Row>> RowOfFile(const std::string& name, const std::string& bytes,
                                                const es::SparkBuild& build) {
  if (name.starts_with("worker_")) {
    const auto worker = es::DecodeWorkerInfo(bytes);
    if (!worker) return worker.error();
    return std::optional(RowOf(kStandaloneWorkers, worker->id, ToStored(*worker)));
  }
  if (name.starts_with("app_")) {
    auto info = es::DecodeApplicationInfo(build, bytes);
    if (!info) return info.error();
    return std::optional(RowOf(kStandaloneApplications, info->id,
                               StoredStandaloneApplication{std::move(info->registration), info->started, {}}));
  }
  if (name.starts_with("driver_")) {
    auto info = es::DecodeDriverInfo(bytes);
    if (!info) return info.error();
    return std::optional(RowOf(kStandaloneDrivers, info->id,
                               StoredStandaloneDriver{std::move(info->description), info->submitted, false}));
  }
  return std::optional<env::Row>();
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
    const auto row = bytes.ok() ? RowOfFile(file.name, *bytes, build) : bytes.error();
    if (!row.ok()) {
      found.unread.push_back(file.name + " cannot be read: " + row.error().message);
    } else if (row->has_value()) {
      found.rows.push_back(**row);
    }
  }
  return found;
}

}  // namespace fairlead::process::spark_master
