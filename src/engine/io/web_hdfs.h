#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/file_system.h"

namespace fairlead::engine {

/// A path of hdfs:// or webhdfs:// in WebHdfs' form, by the `name_nodes` that `fairlead submit` tells
/// (kEnvNameNodes). Throws JobError.
std::string ResolveHdfsPath(const std::string& path, const std::string& name_nodes);

/// Files of a HDFS by its REST interface (Hadoop: WebHDFS REST API, org.apache.hadoop.hdfs.web.WebHdfsFileSystem), by a
/// delegation token of it (hdfs_tokens.h), else as the user HADOOP_USER_NAME, or USER. Paths are
/// webhdfs://[SERVICE@]HOST:PORT[,HOST:PORT]/PATH of the NameNodes' HTTP addresses; where there are several, the one
/// that serves is asked, through their change of roles (process/http/failover.h). A connection per request; a peer that
/// is silent for a minute is an error. Thread-safe.
class WebHdfs : public FileSystem {
 public:
  static constexpr std::string_view kScheme = "webhdfs://";

  std::optional<FileStatus> Status(const std::string& path) override;
  std::vector<FileStatus> List(const std::string& directory) override;
  std::vector<FileBlock> Blocks(const std::string& path, uint64_t size) override;
  std::unique_ptr<ByteStream> Open(const std::string& path, uint64_t offset) override;
  std::unique_ptr<OutputFile> Create(const std::string& path) override;
  void MakeDirectories(const std::string& path) override;
  void Rename(const std::string& from, const std::string& to) override;
  void Remove(const std::string& path) noexcept override;
  void RemoveEmpty(const std::string& directory) noexcept override;
};

}  // namespace fairlead::engine
