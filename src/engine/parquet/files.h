#pragma once

#include <arrow/io/interfaces.h>
#include <arrow/memory_pool.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "engine/io/byte_stream.h"
#include "engine/io/save.h"

// The engine's files as Arrow wants them. Arrow's calls give a Status where ours throw.

namespace fairlead::engine {

/// A file of any of the engine's file systems, read at places. For one thread. Readers of several columns go forward
/// each at a place of its own: a stream that is at the wanted place is used on, so that a column of a remote file costs
/// one request and not one for each piece.
class ParquetInput final : public arrow::io::RandomAccessFile {
 public:
  /// Adds what it reads to `bytes_read`, which must outlive it.
  ParquetInput(std::string path, uint64_t size, int64_t& bytes_read);
  ~ParquetInput() override;

  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override;
  arrow::Result<int64_t> GetSize() override { return size_; }
  arrow::Result<int64_t> Read(int64_t n, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t n) override;

 private:
  static constexpr size_t kStreamsMax = 64;
  int64_t ReadHere(int64_t n, char* out);
  std::unique_ptr<ByteStream> StreamHere();

  const std::string path_;
  const int64_t size_;
  int64_t& bytes_read_;
  int64_t position_ = 0;
  bool closed_ = false;
  std::multimap<int64_t, std::unique_ptr<ByteStream>> streams_;  // by where they are
};

/// A task's part file.
class ParquetOutput final : public arrow::io::OutputStream {
 public:
  explicit ParquetOutput(PartFile& part) : part_(part) {}
  ~ParquetOutput() override;

  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Write(const void* data, int64_t n) override;
  using arrow::io::OutputStream::Write;

 private:
  PartFile& part_;
  int64_t position_ = 0;
  bool closed_ = false;
};

/// Memory of one file's reader or writer: no more than `most` bytes at a time; Arrow throws above them.
class ParquetMemory {
 public:
  explicit ParquetMemory(int64_t most) : counted_(arrow::system_memory_pool()), bounded_(&counted_, most) {}
  arrow::MemoryPool* pool() { return &bounded_; }

 private:
  arrow::ProxyMemoryPool counted_;
  arrow::CappedMemoryPool bounded_;
};

}  // namespace fairlead::engine
