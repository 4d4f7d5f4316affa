#include "shell/nm/gathered_logs.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "model/ids.h"
#include "shell/nm/beneath.h"
#include "wire/java_stream/reader.h"

namespace fairlead::shell {

namespace {

namespace java = wire::java_stream;

constexpr std::string_view kTFileMagic("\xd1\x11\xd3\x68\x91\xb5\xd7\xb6\x39\xdf\x41\x40\x92\xba\xe1\x50", 16);
constexpr int64_t kIndexBytesMax = 64 << 20;
constexpr size_t kPieceBytes = 1 << 18;
constexpr int64_t kTextBytesMax = 1 << 16;
constexpr base::BudgetKind kIndexKind{.name = "the index of a file of logs",
                                      .bytes = kIndexBytesMax,
                                      .depth = 64,
                                      .memory = {.floor = 1 << 20, .per_byte = 64, .most = 1 << 30},
                                      .nodes = {.floor = 10'000'000, .most = 10'000'000},
                                      .work = {}};

base::Error Broken(const char* what) { return base::Error{std::string("a file of logs is broken: ") + what}; }

/// Bytes one after the other.
class Bytes {
 public:
  virtual ~Bytes() = default;
  /// `n` bytes, fewer at the end or where they cannot be read.
  virtual std::string Take(size_t n) = 0;
};

/// A part of a file, as it is or what its zlib stream says.
class FilePart final : public Bytes {
 public:
  FilePart(int file, int64_t begin, int64_t bytes, bool compressed)
      : file_(file), at_(begin), end_(begin + bytes), compressed_(compressed) {
    if (compressed_) compressed_ = ::inflateInit(&state_) == Z_OK;
    initialized_ = compressed_;
  }
  ~FilePart() override {
    if (initialized_) ::inflateEnd(&state_);
  }
  FilePart(const FilePart&) = delete;
  FilePart& operator=(const FilePart&) = delete;

  std::string Take(size_t n) override { return compressed_ ? Inflate(n) : Plain(n); }

 private:
  std::string Plain(size_t n) {
    const int64_t end = std::min(end_, at_ + static_cast<int64_t>(n));
    if (at_ >= end) return {};
    base::Result<std::string> bytes = ReadRange(file_, at_, end);
    if (!bytes) return {};
    at_ += static_cast<int64_t>(bytes->size());
    return std::move(*bytes);
  }
  std::string Inflate(size_t n) {
    std::string out(n, '\0');
    state_.next_out = reinterpret_cast<Bytef*>(out.data());
    state_.avail_out = static_cast<uInt>(n);
    while (state_.avail_out > 0) {
      if (state_.avail_in == 0) {
        in_ = Plain(kPieceBytes);
        state_.next_in = reinterpret_cast<Bytef*>(in_.data());
        state_.avail_in = static_cast<uInt>(in_.size());
      }
      if (state_.avail_in == 0 || ::inflate(&state_, Z_NO_FLUSH) != Z_OK) break;
    }
    out.resize(n - state_.avail_out);
    return out;
  }

  const int file_;
  int64_t at_;
  const int64_t end_;
  bool compressed_;
  bool initialized_ = false;
  z_stream state_{};
  std::string in_;
};

/// Big-endian, with a sign.
std::optional<int64_t> TakeNumber(Bytes& bytes, size_t n) {
  const std::string taken = bytes.Take(n);
  if (taken.size() < n || n == 0) return std::nullopt;
  auto value = static_cast<uint64_t>(static_cast<int64_t>(static_cast<signed char>(taken[0])));
  for (size_t i = 1; i < n; ++i) value = value << 8 | static_cast<uint8_t>(taken[i]);
  return static_cast<int64_t>(value);
}

/// org.apache.hadoop.io.file.tfile.Utils.readVLong.
std::optional<int64_t> TakeVLong(Bytes& bytes) {
  const std::optional<int64_t> first = TakeNumber(bytes, 1);
  if (!first || *first >= -32) return first;
  if (*first < -120) return TakeNumber(bytes, static_cast<size_t>(*first + 129));
  const size_t more = *first >= -72 ? 1 : *first >= -104 ? 2 : 3;
  constexpr int64_t kBases[] = {52, 88, 112};
  const std::string low = bytes.Take(more);
  if (low.size() < more) return std::nullopt;
  auto value = static_cast<uint64_t>(*first + kBases[more - 1]);
  for (const char c : low) value = value << 8 | static_cast<uint8_t>(c);
  return static_cast<int64_t>(value);
}

std::optional<std::string> TakeText(Bytes& bytes, std::optional<int64_t> length) {
  if (!length || *length < 0 || *length > kTextBytesMax) return std::nullopt;
  std::string text = bytes.Take(static_cast<size_t>(*length));
  if (static_cast<int64_t>(text.size()) < *length) return std::nullopt;
  return text;
}
std::optional<std::string> TakeString(Bytes& bytes) { return TakeText(bytes, TakeVLong(bytes)); }
/// DataInput.readUTF of plain text.
std::optional<std::string> TakeUtf(Bytes& bytes) {
  const std::optional<int64_t> length = TakeNumber(bytes, 2);
  return TakeText(bytes, length ? std::optional(*length & 0xffff) : std::nullopt);
}

/// A value of a TFile: chunks, each with its length, negative where another one follows.
class Chunks final : public Bytes {
 public:
  explicit Chunks(Bytes& block) : block_(block) {}
  std::string Take(size_t n) override {
    std::string out;
    while (out.size() < n && Open()) {
      const std::string more = block_.Take(std::min<size_t>(n - out.size(), static_cast<size_t>(left_)));
      if (more.empty()) {
        broken_ = true;
        break;
      }
      left_ -= static_cast<int64_t>(more.size());
      out += more;
    }
    return out;
  }
  bool broken() const { return broken_; }

 private:
  /// False at the end.
  bool Open() {
    while (left_ == 0 && !is_last_ && !broken_) {
      const std::optional<int64_t> length = TakeVLong(block_);
      if (!length || *length == INT64_MIN) {
        broken_ = true;
        return false;
      }
      is_last_ = *length >= 0;
      left_ = *length < 0 ? -*length : *length;
    }
    return left_ > 0 && !broken_;
  }

  Bytes& block_;
  int64_t left_ = 0;
  bool is_last_ = false;
  bool broken_ = false;
};

/// Gives the next `size` bytes to the reader, or passes over them; false when there are fewer.
bool PassLog(Bytes& bytes, const GatheredLog& log, LogReader& reader) {
  const bool wanted = reader.Wants(log);
  int64_t left = log.bytes;
  while (left > 0) {
    const std::string piece = bytes.Take(static_cast<size_t>(std::min<int64_t>(left, kPieceBytes)));
    if (piece.empty()) break;
    if (wanted) reader.Read(piece);
    left -= static_cast<int64_t>(piece.size());
  }
  if (wanted) reader.Ended();
  return left == 0;
}

struct Region {
  int64_t offset = 0;
  int64_t bytes = 0;
};
std::optional<Region> TakeRegion(Bytes& bytes, int64_t file_bytes) {
  const std::optional<int64_t> offset = TakeVLong(bytes), stored = TakeVLong(bytes), raw = TakeVLong(bytes);
  if (!offset || !stored || !raw || *offset < 0 || *stored < 0 || *offset > file_bytes ||
      *stored > file_bytes - *offset)
    return std::nullopt;
  return Region{*offset, *stored};
}

base::Status ReadBlock(Bytes& block, LogReader& reader) {
  while (true) {
    const std::optional<int64_t> key_bytes = TakeVLong(block);
    if (!key_bytes) return {};  // the block's end
    const std::optional<std::string> key = TakeText(block, key_bytes);
    if (!key || key->size() < 2) return Broken("a key");
    const std::string container = key->substr(2);
    const bool is_container = model::ParseContainerId(container).ok();
    Chunks value(block);
    while (is_container) {
      const std::optional<std::string> name = TakeUtf(value), length = TakeUtf(value);
      if (!name || !length) break;  // the container's end
      GatheredLog log{container, *name};
      const char* end = length->data() + length->size();
      const auto read = std::from_chars(length->data(), end, log.bytes);
      if (read.ec != std::errc() || read.ptr != end || log.bytes < 0) return Broken("a length");
      if (!PassLog(value, log, reader)) return Broken("a log is cut off");
    }
    while (!value.Take(kPieceBytes).empty()) continue;
    if (value.broken()) return Broken("a value is cut off");
  }
}

base::Status ReadTFile(int file, int64_t file_bytes, LogReader& reader) {
  constexpr int64_t kTail = 8 + 4 + 16;
  if (file_bytes < kTail + 16) return Broken("too short");
  FilePart tail(file, file_bytes - kTail, kTail, false);
  const std::optional<int64_t> directory_at = TakeNumber(tail, 8);
  (void)TakeNumber(tail, 4);
  if (tail.Take(16) != kTFileMagic) return Broken("no mark at its end");
  if (!directory_at || *directory_at < 0 || *directory_at > file_bytes - kTail) return Broken("no directory");
  FilePart directory(file, *directory_at, file_bytes - kTail - *directory_at, false);
  std::optional<Region> index_at;
  bool index_compressed = false;
  for (int64_t left = TakeVLong(directory).value_or(0); left > 0; --left) {
    const std::optional<std::string> name = TakeString(directory), compression = TakeString(directory);
    const std::optional<Region> region = TakeRegion(directory, file_bytes);
    if (!name || !compression || !region) return Broken("its directory");
    if (*name != "data:BCFile.index") continue;
    index_at = region;
    index_compressed = *compression == "gz";
  }
  if (!index_at) return Broken("no index");
  FilePart index(file, index_at->offset, index_at->bytes, index_compressed);
  const std::optional<std::string> compression = TakeString(index);
  if (!compression || (*compression != "none" && *compression != "gz"))
    return base::Error{"a file of logs is compressed as " + compression.value_or("nobody knows") +
                       "; none and gz can be read"};
  int64_t unread = file_bytes;  // blocks lie beside each other
  for (int64_t left = TakeVLong(index).value_or(0); left > 0; --left) {
    const std::optional<Region> region = TakeRegion(index, file_bytes);
    if (!region || region->bytes > unread) return Broken("its index");
    unread -= region->bytes;
    FilePart block(file, region->offset, region->bytes, *compression == "gz");
    if (base::Status read = ReadBlock(block, reader); !read) return read;
  }
  return {};
}

/// The elements of an ArrayList, or keys and values of a HashMap.
std::vector<java::Ref> ElementsOf(const java::Graph& graph, java::Ref collection) {
  std::vector<java::Ref> out;
  for (const char* level : {"java.util.ArrayList", "java.util.HashMap"}) {
    for (const java::Item& item : graph.Custom(collection, level)) {
      if (const auto* ref = std::get_if<java::Ref>(&item)) out.push_back(*ref);
    }
  }
  return out;
}

/// `unread`: of the file's bytes; logs lie beside each other.
base::Status ReadIFileLog(int file, const java::Graph& graph, java::Ref log, bool compressed, int64_t file_bytes,
                          int64_t& unread, LogReader& reader) {
  const auto number = [&](const char* field) { return graph.FieldOf(log, field, 'J').value_or(-1); };
  const int64_t start = number("startIndex"), stored = number("fileCompressedSize");
  GatheredLog found{graph.Text(graph.RefOf(log, "containerId")).value_or(""),
                    graph.Text(graph.RefOf(log, "fileName")).value_or(""), number("fileSize")};
  if (start < 0 || stored < 0 || start > file_bytes || stored > std::min(unread, file_bytes - start) || found.bytes < 0)
    return Broken("its index");
  unread -= stored;
  FilePart part(file, start, stored, compressed);
  return PassLog(part, found, reader) ? base::Status() : Broken("a log is cut off");
}

base::Status ReadIFile(int file, int64_t file_bytes, LogReader& reader) {
  constexpr int64_t kMark = 32, kTail = 4 + kMark;
  if (file_bytes < kTail + kMark) return Broken("too short");
  FilePart mark(file, 0, kMark, false), tail(file, file_bytes - kTail, kTail, false);
  const std::optional<int64_t> length = TakeNumber(tail, 4);
  if (mark.Take(kMark) != tail.Take(kMark)) return Broken("it does not end as it begins");
  if (!length || *length < 0 || *length > kIndexBytesMax || *length > file_bytes - kTail - kMark)
    return Broken("no index");
  const auto bytes = ReadRange(file, file_bytes - kTail - *length, file_bytes - kTail);
  if (!bytes) return bytes.error();
  const auto graph = java::ReadStream(*bytes, kIndexKind);
  if (!graph) return graph.error();
  const java::Ref index = graph->Root();
  const std::string compression = graph->Text(graph->RefOf(index, "compressName")).value_or("");
  if (compression != "none" && compression != "gz")
    return base::Error{"a file of logs is compressed as " + compression + "; none and gz can be read"};
  int64_t unread = file_bytes;
  for (const java::Ref cycle : ElementsOf(*graph, graph->RefOf(index, "logMetas"))) {
    for (const java::Ref entry : ElementsOf(*graph, graph->RefOf(cycle, "logMetas"))) {
      // Keys, which are texts, have no elements.
      for (const java::Ref log : ElementsOf(*graph, entry)) {
        const base::Status read = ReadIFileLog(file, *graph, log, compression == "gz", file_bytes, unread, reader);
        if (!read) return read;
      }
    }
  }
  return {};
}

}  // namespace

base::Status ReadGatheredLogs(int file, LogReader& reader) {
  struct stat info {};
  if (::fstat(file, &info) < 0) return ErrnoOf("a file of logs");
  FilePart head(file, 0, 16, false);
  const bool is_tfile = head.Take(16) == kTFileMagic;
  return is_tfile ? ReadTFile(file, info.st_size, reader) : ReadIFile(file, info.st_size, reader);
}

}  // namespace fairlead::shell
