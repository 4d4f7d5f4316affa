#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Blocking local files for task threads: plain descriptors with errors as TaskError that name the file. (The env ports
// serve the event loops; a task thread reads and writes hundreds of MB/s and may block.)

namespace fairlead::engine {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// The whole path of a file as a user names it (see FileSystemOf): "file://" is taken off; a relative path begins at
/// the directory from which the job was submitted, which must be there under the same name on every node. Throws
/// JobError for unknown schemes.
std::string ResolveUserPath(const std::string& path);

/// Throw TaskError "cannot read FILE: reason".
FileDescriptor OpenForReading(const std::string& path);
FileDescriptor CreateFile(const std::string& path, uint32_t mode = 0644);
uint64_t FileSize(int file, const std::string& path);
/// Reads up to `n` bytes at `offset`; fewer only at the end.
size_t ReadAt(int file, const std::string& path, uint64_t offset, char* out, size_t n);
void WriteAll(int file, const std::string& path, std::string_view bytes);
/// Writes all pieces; `pieces` is used up.
void WriteAll(int file, const std::string& path, std::vector<iovec>& pieces);
void MakeDirectories(const std::string& path, uint32_t mode = 0755);
void RenameFile(const std::string& from, const std::string& to);
/// Removes a file or tree; a missing one is fine, other errors too (clean-up is best effort).
void RemoveAll(const std::string& path) noexcept;

}  // namespace fairlead::engine
