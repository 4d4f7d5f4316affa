#include "engine/io/file_system.h"

#include <algorithm>
#include <filesystem>

#include "engine/io/files.h"
#include "engine/io/web_hdfs.h"
#include "engine/records/errors.h"

namespace fairlead::engine {

namespace {

namespace fs = std::filesystem;

class LocalStream : public ByteStream {
 public:
  LocalStream(const std::string& path, uint64_t offset) : path_(path), file_(OpenForReading(path)), offset_(offset) {}
  size_t Read(char* out, size_t n) override {
    const size_t got = ReadAt(file_.get(), path_, offset_, out, n);
    offset_ += got;
    return got;
  }

 private:
  std::string path_;
  FileDescriptor file_;
  uint64_t offset_;
};

class LocalOutput : public OutputFile {
 public:
  explicit LocalOutput(const std::string& path) : path_(path), file_(CreateFile(path)) {}
  void Write(std::string_view bytes) override { WriteAll(file_.get(), path_, bytes); }
  void Close() override { file_ = FileDescriptor(); }

 private:
  std::string path_;
  FileDescriptor file_;
};

class LocalFiles : public FileSystem {
 public:
  std::optional<FileStatus> Status(const std::string& path) override {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) return std::nullopt;
    if (error) throw TaskError("cannot read " + path + ": " + error.message());
    const bool directory = fs::is_directory(status);
    return FileStatus{path, directory, directory ? 0 : SizeOf(path)};
  }
  std::vector<FileStatus> List(const std::string& directory) override {
    std::vector<FileStatus> found;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
      const std::string path = entry.path().string();
      std::error_code ignored;
      const bool is_directory = entry.is_directory(ignored);
      found.push_back({path, is_directory, is_directory ? 0 : SizeOf(path)});
    }
    if (error) throw TaskError("cannot read directory " + directory + ": " + error.message());
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return found;
  }
  std::vector<FileBlock> Blocks(const std::string&, uint64_t) override { return {}; }
  std::unique_ptr<ByteStream> Open(const std::string& path, uint64_t offset) override {
    return std::make_unique<LocalStream>(path, offset);
  }
  std::unique_ptr<OutputFile> Create(const std::string& path) override { return std::make_unique<LocalOutput>(path); }
  void MakeDirectories(const std::string& path) override { engine::MakeDirectories(path); }
  void Rename(const std::string& from, const std::string& to) override { RenameFile(from, to); }
  void Remove(const std::string& path) noexcept override { RemoveAll(path); }
  void RemoveEmpty(const std::string& directory) noexcept override {
    std::error_code ignored;
    fs::remove(directory, ignored);
  }

 private:
  static uint64_t SizeOf(const std::string& path) {
    std::error_code error;
    const uintmax_t size = fs::file_size(path, error);
    return error ? 0 : size;
  }
};

}  // namespace

bool IsRemotePath(const std::string& path) { return path.find("://") != std::string::npos; }

FileSystem& FileSystemOf(const std::string& path) {
  static LocalFiles local;
  static WebHdfs hdfs;
  if (IsRemotePath(path)) return hdfs;
  return local;
}

}  // namespace fairlead::engine
