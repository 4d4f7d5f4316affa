#include "engine/parquet/files.h"

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>

#include <algorithm>
#include <exception>

#include "engine/io/file_system.h"

namespace fairlead::engine {

ParquetInput::ParquetInput(std::string path, uint64_t size, int64_t& bytes_read)
    : path_(std::move(path)), size_(static_cast<int64_t>(size)), bytes_read_(bytes_read) {}

ParquetInput::~ParquetInput() = default;

arrow::Status ParquetInput::Close() {
  closed_ = true;
  streams_.clear();
  return arrow::Status::OK();
}

arrow::Status ParquetInput::Seek(int64_t position) {
  if (position < 0 || position > size_) return arrow::Status::IOError("a place outside of the file");
  position_ = position;
  return arrow::Status::OK();
}

std::unique_ptr<ByteStream> ParquetInput::StreamHere() {
  const auto found = streams_.find(position_);
  if (found == streams_.end()) return FileSystemOf(path_).Open(path_, static_cast<uint64_t>(position_));
  std::unique_ptr<ByteStream> stream = std::move(found->second);
  streams_.erase(found);
  return stream;
}

int64_t ParquetInput::ReadHere(int64_t n, char* out) {
  n = std::clamp<int64_t>(n, 0, size_ - position_);
  if (n == 0) return 0;
  std::unique_ptr<ByteStream> stream = StreamHere();
  int64_t done = 0;
  while (done < n) {
    const size_t got = stream->Read(out + done, static_cast<size_t>(n - done));
    if (got == 0) break;
    done += static_cast<int64_t>(got);
  }
  position_ += done;
  bytes_read_ += done;
  if (streams_.size() == kStreamsMax) streams_.erase(streams_.begin());
  streams_.emplace(position_, std::move(stream));
  return done;
}

arrow::Result<int64_t> ParquetInput::Read(int64_t n, void* out) {
  try {
    return ReadHere(n, static_cast<char*>(out));
  } catch (const std::exception& failed) {
    return arrow::Status::IOError(failed.what());
  }
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ParquetInput::Read(int64_t n) {
  n = std::clamp<int64_t>(n, 0, size_ - position_);
  auto buffer = arrow::AllocateResizableBuffer(n, arrow::system_memory_pool());
  if (!buffer.ok()) return buffer.status();
  const arrow::Result<int64_t> got = Read(n, (*buffer)->mutable_data());
  if (!got.ok()) return got.status();
  const arrow::Status cut = (*buffer)->Resize(*got);
  if (!cut.ok()) return cut;
  return std::shared_ptr<arrow::Buffer>(std::move(*buffer));
}

ParquetOutput::~ParquetOutput() = default;

arrow::Status ParquetOutput::Close() {
  closed_ = true;
  return arrow::Status::OK();
}

arrow::Status ParquetOutput::Write(const void* data, int64_t n) {
  constexpr int64_t kPiece = 256 << 10;  // the part's buffer stays small
  if (closed_) return arrow::Status::Invalid("the file is closed");
  try {
    for (int64_t at = 0; at < n; at += kPiece) {
      part_.buffer().Append(static_cast<const char*>(data) + at, static_cast<size_t>(std::min(kPiece, n - at)));
      part_.Written();
    }
  } catch (const std::exception& failed) {
    return arrow::Status::IOError(failed.what());
  }
  position_ += n;
  return arrow::Status::OK();
}

}  // namespace fairlead::engine
