#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/byte_stream.h"

namespace fairlead::engine {

struct FileStatus {
  std::string path;
  bool directory = false;
  uint64_t size = 0;
};

/// A piece of a file that hosts have whole.
struct FileBlock {
  uint64_t offset = 0;
  uint64_t length = 0;
  std::vector<std::string> hosts;
  std::vector<std::string> racks;         // of each host; empty: unknown
  std::vector<std::string> cached_hosts;  // those that have it in memory
};

/// A file being written from its beginning. Without Close() it may be incomplete.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual void Write(std::string_view bytes) = 0;
  /// All bytes are with the file system.
  virtual void Close() = 0;
};

/// The files of one kind of path, for threads that may block. Paths are whole, with their scheme. Throws TaskError that
/// names the path.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// Nothing when there is no such file.
  virtual std::optional<FileStatus> Status(const std::string& path) = 0;
  /// What is in a directory, by name.
  virtual std::vector<FileStatus> List(const std::string& directory) = 0;
  /// Where the bytes of a file of `size` lie; nothing when nobody knows: places are wishes, so no failure is one here.
  virtual std::vector<FileBlock> Blocks(const std::string& path, uint64_t size) = 0;
  virtual std::unique_ptr<ByteStream> Open(const std::string& path, uint64_t offset) = 0;
  /// Replaces a file of that name; an error when its directory is not there.
  virtual std::unique_ptr<OutputFile> Create(const std::string& path) = 0;
  virtual void MakeDirectories(const std::string& path) = 0;
  /// At once or not at all; replaces a file `to`.
  virtual void Rename(const std::string& from, const std::string& to) = 0;
  /// Removes a file or tree; a missing one is fine, other errors too (clean-up is best effort).
  virtual void Remove(const std::string& path) noexcept = 0;
  /// Removes a directory when it is empty. Best effort.
  virtual void RemoveEmpty(const std::string& directory) noexcept = 0;
};

/// By the path's scheme: none is the machine's own files, webhdfs://HOST:PORT/PATH those of a HDFS.
FileSystem& FileSystemOf(const std::string& path);
bool IsRemotePath(const std::string& path);

}  // namespace fairlead::engine
