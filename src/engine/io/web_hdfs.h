#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/io/file_system.h"

namespace fairlead::engine {

/// Files of a HDFS by its REST interface (Hadoop: WebHDFS REST API, org.apache.hadoop.hdfs.web.WebHdfsFileSystem), by a
/// delegation token of it (hdfs_tokens.h), else as the user HADOOP_USER_NAME, or USER. Paths are
/// webhdfs://HOST:PORT/PATH of the NameNode's HTTP address. A connection per request; a peer that is silent for a
/// minute is an error. Thread-safe.
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
