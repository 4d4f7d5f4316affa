#include "engine/io/byte_stream.h"

#include <zlib.h>
#include <zstd.h>

#include <vector>

#include "engine/io/file_system.h"
#include "engine/records/errors.h"

namespace fairlead::engine {

namespace {

bool EndsWith(const std::string& name, const char* suffix) { return name.ends_with(suffix); }

std::unique_ptr<ByteStream> OpenPlain(const std::string& path, uint64_t offset) {
  return FileSystemOf(path).Open(path, offset);
}

class GzipStream : public ByteStream {
 public:
  explicit GzipStream(const std::string& path) : path_(path), plain_(OpenPlain(path, 0)), in_(256 << 10) {
    if (inflateInit2(&z_, 15 + 32) != Z_OK) throw TaskError("cannot start to decompress " + path);
  }
  ~GzipStream() override { inflateEnd(&z_); }
  size_t Read(char* out, size_t n) override {
    z_.next_out = reinterpret_cast<Bytef*>(out);
    z_.avail_out = static_cast<uInt>(n);
    while (z_.avail_out == n) {
      if (z_.avail_in == 0) {
        const size_t got = plain_->Read(in_.data(), in_.size());
        if (got == 0) {
          if (inside_) throw TaskError("cannot read " + path_ + ": the gzip data ends too early");
          return 0;
        }
        z_.next_in = reinterpret_cast<Bytef*>(in_.data());
        z_.avail_in = static_cast<uInt>(got);
      }
      if (!inside_) {
        inflateReset(&z_);
        inside_ = true;
      }
      const int status = inflate(&z_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        inside_ = false;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        throw TaskError("cannot read " + path_ + ": damaged gzip data");
      }
    }
    return n - z_.avail_out;
  }

 private:
  std::string path_;
  std::unique_ptr<ByteStream> plain_;
  std::vector<char> in_;
  z_stream z_{};
  bool inside_ = false;
};

class ZstdStream : public ByteStream {
 public:
  explicit ZstdStream(const std::string& path) : path_(path), plain_(OpenPlain(path, 0)), in_(ZSTD_DStreamInSize()) {
    if (z_ == nullptr) throw TaskError("cannot start to decompress " + path);
  }
  ~ZstdStream() override { ZSTD_freeDStream(z_); }
  size_t Read(char* out, size_t n) override {
    ZSTD_outBuffer target{out, n, 0};
    while (target.pos == 0) {
      if (source_.pos == source_.size) {
        const size_t got = plain_->Read(in_.data(), in_.size());
        if (got == 0) {
          if (inside_) throw TaskError("cannot read " + path_ + ": the zstd data ends too early");
          return 0;
        }
        source_ = {in_.data(), got, 0};
      }
      const size_t status = ZSTD_decompressStream(z_, &target, &source_);
      if (ZSTD_isError(status)) throw TaskError("cannot read " + path_ + ": " + ZSTD_getErrorName(status));
      inside_ = status != 0;
    }
    return target.pos;
  }

 private:
  std::string path_;
  std::unique_ptr<ByteStream> plain_;
  std::vector<char> in_;
  ZSTD_DStream* z_ = ZSTD_createDStream();
  ZSTD_inBuffer source_{nullptr, 0, 0};
  bool inside_ = false;
};

}  // namespace

bool IsCompressedName(const std::string& path) { return EndsWith(path, ".gz") || EndsWith(path, ".zst"); }

std::unique_ptr<ByteStream> OpenStream(const std::string& path, uint64_t offset) {
  if (EndsWith(path, ".gz")) return std::make_unique<GzipStream>(path);
  if (EndsWith(path, ".zst")) return std::make_unique<ZstdStream>(path);
  return OpenPlain(path, offset);
}

}  // namespace fairlead::engine
