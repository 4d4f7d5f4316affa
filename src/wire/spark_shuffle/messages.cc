#include "wire/spark_shuffle/messages.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/budget.h"
#include "base/bytes.h"
#include "wire/spark_shuffle/layout.h"
#include "wire/spark_transport/java_text.h"

namespace fairlead::wire::spark_shuffle {
namespace {

using base::ByteWriter;

// What no real message comes near: ids have less than 100 bytes, an executor registers with its disks' directories and
// in less than 10 KiB, and lists of blocks that are told as texts are those of an RDD or of one executor's maps.
constexpr size_t kIdMax = 1024;
constexpr size_t kDirsMax = 1000;
constexpr size_t kBlockIdsMax = 100'000;
/// How many lists there may be besides one for each map.
constexpr size_t kSpareLists = 1000;

// A text of four bytes takes 32, one that is no UTF-8 becomes three times as long, and is there twice for a moment.
constexpr base::Allowance kMemory{64 << 10, 16, 16 << 20};
constexpr base::Allowance kNodes{64, 1, 8 << 20};
constexpr base::BudgetKind kRequest{"a request to the shuffle", SIZE_MAX, 4, kMemory, kNodes, {}};
constexpr base::BudgetKind kRegistration{"a registration of an executor", 64 << 10, 4, kMemory, kNodes, {}};
constexpr base::BudgetKind kDirsRequest{"a request for directories", 256 << 10, 4, kMemory, kNodes, {}};
constexpr base::BudgetKind kChunksRequest{"a request for merged chunks", 3 << 20, 4, kMemory, kNodes, {}};
constexpr base::BudgetKind kAnswer{"an answer of the shuffle", SIZE_MAX, 4, {64 << 10, 16, 1 << 30}, kNodes, {}};

/// Of a message whose class has this index.
const base::BudgetKind& KindOf(uint8_t id) {
  static_assert(std::is_same_v<std::variant_alternative_t<2, Message>, RegisterExecutor>);
  static_assert(std::is_same_v<std::variant_alternative_t<10, Message>, GetLocalDirsForExecutors>);
  static_assert(std::is_same_v<std::variant_alternative_t<11, Message>, LocalDirsForExecutors>);
  static_assert(std::is_same_v<std::variant_alternative_t<14, Message>, MergeStatuses>);
  static_assert(std::is_same_v<std::variant_alternative_t<15, Message>, FetchShuffleBlockChunks>);
  switch (id) {
    case 2:
      return kRegistration;
    case 10:
      return kDirsRequest;
    case 11:
    case 14:
      return kAnswer;
    case 15:
      return kChunksRequest;
    default:
      return kRequest;
  }
}

/// Reads fields and remembers the first failure as the exception of a Spark service of the chosen release
/// (org.apache.spark.network.protocol.Encoders over an UnpooledUnsafeDirectByteBuf).
class Reader {
 public:
  Reader(std::string_view body, Dialect dialect, base::Budget& budget)
      : body_(body), dialect_(dialect), budget_(budget) {}

  bool failed() const { return failed_; }
  base::Error error() const { return {error_, static_cast<int>(code_)}; }

  uint8_t U8() { return static_cast<uint8_t>(Number(1)); }
  bool Bool() { return U8() != 0; }
  int32_t I32() { return static_cast<int32_t>(Number(4)); }
  int64_t I64() { return static_cast<int64_t>(Number(8)); }

  std::string Blob() {
    const int32_t length = I32();
    if (failed_ || !CheckLength(length, 1)) return {};
    const std::string_view bytes = Take(static_cast<size_t>(length));
    return Charge(bytes.size()) ? std::string(bytes) : "";
  }
  std::string Text() {
    std::string text = wire::spark_transport::JavaText(Blob());
    return Charge(text.size()) ? text : "";
  }

  std::string Id() {
    const size_t begin = position_;
    const int32_t length = I32();
    const size_t readable = body_.size() - position_;
    if (failed_) return {};
    const auto announced = static_cast<size_t>(std::max(length, 0));
    if (announced > kIdMax && announced <= readable) {
      FailTooMuch(announced, "bytes in an id", kIdMax);
      return {};
    }
    position_ = begin;
    std::string id = Text();
    if (id.size() > kIdMax) FailTooMuch(id.size(), "bytes in an id", kIdMax);  // what is no UTF-8 becomes longer
    return id;
  }

  std::vector<std::string> Strings(size_t most = SIZE_MAX) {
    std::vector<std::string> out;
    ForEach(4, &out, most, [&] { out.push_back(Text()); });
    return out;
  }
  std::vector<std::string> Ids(size_t most = SIZE_MAX) {
    std::vector<std::string> out;
    const size_t bytes_max = std::max(body_.size(), size_t{64} << 10);  // what is no UTF-8 becomes longer
    size_t bytes = 0;
    ForEach(4, &out, most, [&] {
      out.push_back(Id());
      bytes += out.back().size();
      if (bytes > bytes_max) FailTooMuch(bytes, "bytes of ids", bytes_max);
    });
    return out;
  }
  std::vector<int32_t> Ints() {
    std::vector<int32_t> out;
    ForEach(4, &out, SIZE_MAX, [&] { out.push_back(I32()); });
    return out;
  }
  std::vector<int64_t> Longs() {
    std::vector<int64_t> out;
    ForEach(8, &out, SIZE_MAX, [&] { out.push_back(I64()); });
    return out;
  }
  IntLists Lists(size_t most = SIZE_MAX) {
    constexpr std::vector<int32_t>* kNotReserved = nullptr;
    IntLists out;
    ForEach(4, kNotReserved, most, [&] {
      if (!Charge(2 * sizeof(size_t))) return;  // both arrays grow by doubling
      ForEach(4, kNotReserved, SIZE_MAX, [&] {
        if (Charge(2 * sizeof(int32_t))) out.AddValue(I32());
      });
      out.CloseList();
    });
    return out;
  }
  /// A whole int32 follows and it is not 0: false. Too few bytes count as 0, to be found out by reading.
  bool NextIsZero() const {
    const std::string_view rest = body_.substr(position_);
    return rest.size() < 4 || rest.substr(0, 4) == std::string_view("\0\0\0\0", 4);
  }
  /// Fails as Java does for a count that cannot be; what a count announces is not read.
  void CheckBitmaps() {
    const size_t begin = position_;
    const int32_t count = I32();
    if (!failed_ && CheckLength(count, dialect_ == Dialect::kSpark43 ? 8 : 4)) position_ = begin;
  }
  std::string Rest() { return Charge(body_.size() - position_) ? std::string(Take(body_.size() - position_)) : ""; }

  void Fail(std::string what, DecodeError code = DecodeError::kMalformed) {
    if (failed_) return;
    failed_ = true;
    error_ = std::move(what);
    code_ = code;
  }

  void FailTooMuch(size_t count, const char* of_what, size_t most) {
    Fail("java.lang.IllegalArgumentException: " + std::to_string(count) + " " + of_what + "; this service takes " +
         std::to_string(most));
  }

 private:
  /// Java arrays of this many bytes end a default service with OutOfMemoryError.
  static constexpr int64_t kHeapBytes = int64_t{1} << 29;

  /// An int32 count, then `one` that often or until a failure; `element_bytes` is the least an element takes. `out`
  /// reserves as much as there can be.
  template <class Vector, class One>
  void ForEach(int64_t element_bytes, Vector* out, size_t most, One&& one) {
    const int32_t count = I32();
    if (failed_ || !CheckLength(count, element_bytes)) return;
    const auto announced = static_cast<size_t>(count);
    const size_t room = (body_.size() - position_) / static_cast<size_t>(element_bytes);
    if (std::min(announced, room) > most) return FailTooMuch(announced, "entries of a list", most);
    if (out != nullptr) {
      if (!Charge(std::min(announced, room) * sizeof(typename Vector::value_type))) return;
      out->reserve(std::min(announced, room));
    }
    for (size_t i = 0; i < announced && !failed_; ++i) {
      if (!budget_.Node()) return FailSpent();
      one();
    }
  }

  /// Of memory, before it is taken.
  bool Charge(size_t bytes) {
    if (!failed_ && !budget_.Memory(bytes)) FailSpent();
    return !failed_;
  }
  void FailSpent() { Fail("java.lang.IllegalArgumentException: " + budget_.error().message); }

  /// 4.x: Objects.checkFromIndexSize(0, length, readable / element size). 3.5: `new T[length]`.
  bool CheckLength(int32_t length, int64_t element_bytes) {
    const auto readable = static_cast<int64_t>(body_.size() - position_);
    if (dialect_ == Dialect::kSpark43) {
      const int64_t limit = readable / element_bytes;
      if (length >= 0 && length <= limit) return true;
      Fail("java.lang.IndexOutOfBoundsException: Range [0, 0 + " + std::to_string(length) +
           ") out of bounds for length " + std::to_string(limit));
      return false;
    }
    if (length < 0) {
      Fail("java.lang.NegativeArraySizeException: " + std::to_string(length));
    } else if (length * element_bytes > readable && length * element_bytes >= kHeapBytes) {
      Fail("java.lang.OutOfMemoryError: Requested array size exceeds VM limit", DecodeError::kOutOfMemory);
    }
    return !failed_;
  }

  std::string_view Take(size_t n) {
    if (failed_) return {};
    if (n > body_.size() - position_) {
      Short(n);
      return {};
    }
    const std::string_view slice = body_.substr(position_, n);
    position_ += n;
    return slice;
  }

  uint64_t Number(size_t bytes) {
    uint64_t value = 0;
    for (const char c : Take(bytes)) value = (value << 8) | static_cast<uint8_t>(c);
    return value;
  }

  /// io.netty.buffer.AbstractByteBuf.checkReadableBytes0; an empty body is Unpooled.EMPTY_BUFFER, which says nothing.
  void Short(size_t wanted) {
    if (body_.empty()) return Fail("java.lang.IndexOutOfBoundsException");
    const std::string at = std::to_string(position_);
    const std::string size = std::to_string(body_.size());
    Fail("java.lang.IndexOutOfBoundsException: readerIndex(" + at + ") + length(" + std::to_string(wanted) +
         ") exceeds writerIndex(" + size + "): UnpooledUnsafeDirectByteBuf(ridx: " + at + ", widx: " + size +
         ", cap: " + size + "/" + size + ")");
  }

  std::string_view body_;
  Dialect dialect_;
  base::Budget& budget_;
  size_t position_ = 0;
  bool failed_ = false;
  std::string error_;
  DecodeError code_ = DecodeError::kMalformed;
};

// ---- decoding: one overload a message, in wire order ---------------------------------------------------------------

void Read(Reader& in, OpenBlocks& m) {
  m.app_id = in.Id();
  m.exec_id = in.Id();
  m.block_ids = in.Ids(kBlockIdsMax);
}
void Read(Reader& in, UploadBlock& m) {
  m.app_id = in.Id();
  m.exec_id = in.Id();
  m.block_id = in.Text();
  m.metadata = in.Blob();
  m.data = in.Blob();
}
void Read(Reader& in, RegisterExecutor& m) {
  m.app_id = in.Id();
  m.exec_id = in.Id();
  m.local_dirs = in.Strings(kDirsMax);
  m.sub_dirs_per_local_dir = in.I32();
  m.shuffle_manager = in.Text();
}
void Read(Reader& in, StreamHandle& m) {
  m.stream_id = in.I64();
  m.num_chunks = in.I32();
}
void Read(Reader& in, RegisterDriver& m) {
  m.app_id = in.Id();
  m.heartbeat_timeout_ms = in.I64();
}
void Read(Reader& in, ShuffleServiceHeartbeat& m) { m.app_id = in.Id(); }
void Read(Reader& in, UploadBlockStream& m) {
  m.block_id = in.Text();
  m.metadata = in.Blob();
}
void Read(Reader& in, RemoveBlocks& m) {
  m.app_id = in.Id();
  m.exec_id = in.Id();
  m.block_ids = in.Ids(kBlockIdsMax);
}
void Read(Reader& in, BlocksRemoved& m) { m.num_removed = in.I32(); }
void Read(Reader& in, FetchShuffleBlocks& m) {
  m.app_id = in.Id();
  m.exec_id = in.Id();
  m.shuffle_id = in.I32();
  m.map_ids = in.Longs();
  m.reduce_ids = in.Lists(m.map_ids.size() + kSpareLists);
  m.batch = in.Bool();
}
void Read(Reader& in, GetLocalDirsForExecutors& m) {
  m.app_id = in.Id();
  m.exec_ids = in.Ids();
}
void Read(Reader& in, LocalDirsForExecutors& m) {
  m.exec_ids = in.Strings();
  m.num_dirs_by_exec = in.Ints();
  m.all_dirs = in.Strings();
}
void Read(Reader& in, PushBlockStream& m) {
  m.app_id = in.Id();
  m.app_attempt_id = in.I32();
  m.shuffle_id = in.I32();
  m.shuffle_merge_id = in.I32();
  m.map_index = in.I32();
  m.reduce_id = in.I32();
  m.index = in.I32();
}
void Read(Reader& in, FinalizeShuffleMerge& m) {
  m.app_id = in.Id();
  m.app_attempt_id = in.I32();
  m.shuffle_id = in.I32();
  m.shuffle_merge_id = in.I32();
}
void Read(Reader& in, MergeStatuses& m) {
  m.shuffle_id = in.I32();
  m.shuffle_merge_id = in.I32();
  if (in.NextIsZero()) {
    in.I32();
    m.reduce_ids = in.Ints();
    m.sizes = in.Longs();
  } else {
    in.CheckBitmaps();
    m.rest = in.Rest();
  }
}
void Read(Reader& in, FetchShuffleBlockChunks& m) {
  m.app_id = in.Id();
  m.exec_id = in.Id();
  m.shuffle_id = in.I32();
  m.shuffle_merge_id = in.I32();
  m.reduce_ids = in.Ints();
  m.chunk_ids = in.Lists();
}
void Read(Reader& in, DiagnoseCorruption& m) {
  m.app_id = in.Id();
  m.exec_id = in.Id();
  m.shuffle_id = in.I32();
  m.map_id = in.I64();
  m.reduce_id = in.I32();
  m.checksum = in.I64();
  m.algorithm = in.Text();
}
void Read(Reader& in, CorruptionCause& m) {
  const uint8_t ordinal = in.U8();
  if (ordinal > static_cast<uint8_t>(Cause::kUnsupportedChecksumAlgorithm)) {
    return in.Fail("java.lang.ArrayIndexOutOfBoundsException: Index " + std::to_string(static_cast<int8_t>(ordinal)) +
                   " out of bounds for length 5");
  }
  m.cause = static_cast<Cause>(ordinal);
}
void Read(Reader& in, BlockPushReturnCode& m) {
  m.code = in.U8();
  m.failed_block_id = in.Text();
  constexpr uint8_t kCodes = 5;  // BlockPushNonFatalFailure.ReturnCode
  if (m.code >= kCodes) {
    in.Fail("java.lang.IllegalArgumentException: Unknown block push return code: " +
            std::to_string(static_cast<int8_t>(m.code)));
  }
}
void Read(Reader& in, RemoveShuffleMerge& m) {
  m.app_id = in.Id();
  m.app_attempt_id = in.I32();
  m.shuffle_id = in.I32();
  m.shuffle_merge_id = in.I32();
}

template <size_t... I>
bool ReadAlternative(Reader& in, uint8_t id, Message& out, std::index_sequence<I...>) {
  return ((id == I && (Read(in, out.emplace<I>()), true)) || ...);
}

// ---- encoding ------------------------------------------------------------------------------------------------------

class Writer {
 public:
  explicit Writer(std::string& out) : out_(out) {}
  void Put(std::string_view bytes) {
    out_.I32(static_cast<int32_t>(bytes.size()));
    out_.Bytes(bytes);
  }
  void Put(uint8_t v) { out_.U8(v); }
  void Put(bool v) { out_.U8(v ? 1 : 0); }
  void Put(int32_t v) { out_.I32(v); }
  void Put(int64_t v) { out_.I64(v); }
  template <class T>
  void Put(const std::vector<T>& list) {
    out_.I32(static_cast<int32_t>(list.size()));
    for (const auto& item : list) PutOne(item);
  }
  void Put(const IntLists& lists) {
    out_.I32(static_cast<int32_t>(lists.size()));
    for (size_t i = 0; i < lists.size(); ++i) {
      out_.I32(static_cast<int32_t>(lists[i].size()));
      for (const int32_t value : lists[i]) out_.I32(value);
    }
  }
  void Raw(std::string_view bytes) { out_.Bytes(bytes); }

  template <class... T>
  void All(const T&... fields) {
    (PutOne(fields), ...);
  }

 private:
  template <class T>
  void PutOne(const T& field) {
    if constexpr (std::is_same_v<T, std::string>) {
      Put(std::string_view(field));
    } else {
      Put(field);
    }
  }
  ByteWriter out_;
};

void Write(Writer& w, const OpenBlocks& m) { w.All(m.app_id, m.exec_id, m.block_ids); }
void Write(Writer& w, const UploadBlock& m) { w.All(m.app_id, m.exec_id, m.block_id, m.metadata, m.data); }
void Write(Writer& w, const RegisterExecutor& m) {
  w.All(m.app_id, m.exec_id, m.local_dirs, m.sub_dirs_per_local_dir, m.shuffle_manager);
}
void Write(Writer& w, const StreamHandle& m) { w.All(m.stream_id, m.num_chunks); }
void Write(Writer& w, const RegisterDriver& m) { w.All(m.app_id, m.heartbeat_timeout_ms); }
void Write(Writer& w, const ShuffleServiceHeartbeat& m) { w.All(m.app_id); }
void Write(Writer& w, const UploadBlockStream& m) { w.All(m.block_id, m.metadata); }
void Write(Writer& w, const RemoveBlocks& m) { w.All(m.app_id, m.exec_id, m.block_ids); }
void Write(Writer& w, const BlocksRemoved& m) { w.All(m.num_removed); }
void Write(Writer& w, const FetchShuffleBlocks& m) {
  w.All(m.app_id, m.exec_id, m.shuffle_id, m.map_ids, m.reduce_ids, m.batch);
}
void Write(Writer& w, const GetLocalDirsForExecutors& m) { w.All(m.app_id, m.exec_ids); }
void Write(Writer& w, const LocalDirsForExecutors& m) { w.All(m.exec_ids, m.num_dirs_by_exec, m.all_dirs); }
void Write(Writer& w, const PushBlockStream& m) {
  w.All(m.app_id, m.app_attempt_id, m.shuffle_id, m.shuffle_merge_id, m.map_index, m.reduce_id, m.index);
}
void Write(Writer& w, const FinalizeShuffleMerge& m) {
  w.All(m.app_id, m.app_attempt_id, m.shuffle_id, m.shuffle_merge_id);
}
void Write(Writer& w, const MergeStatuses& m) {
  w.All(m.shuffle_id, m.shuffle_merge_id);
  if (m.rest.empty()) return w.All(int32_t{0}, m.reduce_ids, m.sizes);
  w.Raw(m.rest);
}
void Write(Writer& w, const FetchShuffleBlockChunks& m) {
  w.All(m.app_id, m.exec_id, m.shuffle_id, m.shuffle_merge_id, m.reduce_ids, m.chunk_ids);
}
void Write(Writer& w, const DiagnoseCorruption& m) {
  w.All(m.app_id, m.exec_id, m.shuffle_id, m.map_id, m.reduce_id, m.checksum, m.algorithm);
}
void Write(Writer& w, const CorruptionCause& m) { w.All(static_cast<uint8_t>(m.cause)); }
void Write(Writer& w, const BlockPushReturnCode& m) { w.All(m.code, m.failed_block_id); }
void Write(Writer& w, const RemoveShuffleMerge& m) {
  w.All(m.app_id, m.app_attempt_id, m.shuffle_id, m.shuffle_merge_id);
}

// ---- Java's toString -----------------------------------------------------------------------------------------------

std::string Text(int64_t v) { return std::to_string(v); }

template <class T>
std::string List(const std::vector<T>& items) {
  std::string out = "[";
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    if constexpr (std::is_same_v<T, std::string>) {
      out += items[i];
    } else {
      out += Text(items[i]);
    }
  }
  return out + "]";
}

std::string Print(const UploadBlock& m) {
  return "UploadBlock[appId=" + m.app_id + ",execId=" + m.exec_id + ",blockId=" + m.block_id +
         ",metadata size=" + Text(static_cast<int64_t>(m.metadata.size())) +
         ",block size=" + Text(static_cast<int64_t>(m.data.size())) + "]";
}
std::string Print(const StreamHandle& m) {
  return "StreamHandle[streamId=" + Text(m.stream_id) + ",numChunks=" + Text(m.num_chunks) + "]";
}
std::string Print(const UploadBlockStream& m) {
  return "UploadBlockStream[blockId=" + m.block_id + ",metadata size=" + Text(static_cast<int64_t>(m.metadata.size())) +
         "]";
}
std::string Print(const BlocksRemoved& m) { return "BlocksRemoved[numRemovedBlocks=" + Text(m.num_removed) + "]"; }
std::string Print(const LocalDirsForExecutors& m) {
  return "LocalDirsForExecutors[execIds=" + List(m.exec_ids) + ",numLocalDirsByExec=" + List(m.num_dirs_by_exec) +
         ",allLocalDirs=" + List(m.all_dirs) + "]";
}
std::string Print(const PushBlockStream& m) {
  return "PushBlockStream[appId=" + m.app_id + ",attemptId=" + Text(m.app_attempt_id) +
         ",shuffleId=" + Text(m.shuffle_id) + ",shuffleMergeId=" + Text(m.shuffle_merge_id) +
         ",mapIndex=" + Text(m.map_index) + ",reduceId=" + Text(m.reduce_id) + ",index=" + Text(m.index) + "]";
}
std::string Print(const MergeStatuses& m) {
  return "MergeStatuses[shuffleId=" + Text(m.shuffle_id) + ",shuffleMergeId=" + Text(m.shuffle_merge_id) +
         ",reduceId size=" + Text(static_cast<int64_t>(m.reduce_ids.size())) + "]";
}
std::string Print(const CorruptionCause& m) { return "CorruptionCause[cause=" + std::string(EnumName(m.cause)) + "]"; }
std::string Print(const BlockPushReturnCode& m) {
  return "BlockPushReturnCode[returnCode=" + Text(static_cast<int8_t>(m.code)) +
         ",failureBlockId=" + m.failed_block_id + "]";
}
/// java.util.Objects.hash over a string and a long, as the Mesos message's hashCode.
std::string Print(const RegisterDriver& m) {
  const auto time = static_cast<uint64_t>(m.heartbeat_timeout_ms);
  const uint32_t hash =
      (31 + static_cast<uint32_t>(JavaHash(m.app_id))) * 31 + static_cast<uint32_t>(time ^ (time >> 32));
  char hex[9];
  std::snprintf(hex, sizeof hex, "%x", hash);
  return std::string("org.apache.spark.network.shuffle.protocol.mesos.RegisterDriver@") + hex;
}
std::string Print(const ShuffleServiceHeartbeat&) {
  return "org.apache.spark.network.shuffle.protocol.mesos.ShuffleServiceHeartbeat@0";
}
/// Arrays.deepToString.
std::string List(const IntLists& lists) {
  std::string out = "[";
  for (size_t i = 0; i < lists.size(); ++i) {
    if (i > 0) out += ", ";
    out += List(std::vector<int32_t>(lists[i].begin(), lists[i].end()));
  }
  return out + "]";
}
/// "Name[appId=...".
std::string Begin(const char* name, const std::string& app) { return std::string(name) + "[appId=" + app; }

std::string Print(const OpenBlocks& m) {
  return Begin("OpenBlocks", m.app_id) + ",execId=" + m.exec_id + ",blockIds=" + List(m.block_ids) + "]";
}
std::string Print(const RemoveBlocks& m) {
  return Begin("RemoveBlocks", m.app_id) + ",execId=" + m.exec_id + ",blockIds=" + List(m.block_ids) + "]";
}
std::string Print(const RegisterExecutor& m) {
  return Begin("RegisterExecutor", m.app_id) + ", execId=" + m.exec_id +
         ",executorInfo=ExecutorShuffleInfo[localDirs=" + List(m.local_dirs) +
         ",subDirsPerLocalDir=" + Text(m.sub_dirs_per_local_dir) + ",shuffleManager=" + m.shuffle_manager + "]]";
}
std::string Print(const FetchShuffleBlocks& m) {
  return Begin("FetchShuffleBlocks", m.app_id) + ",execId=" + m.exec_id + ",shuffleId=" + Text(m.shuffle_id) +
         ",mapIds=" + List(m.map_ids) + ",reduceIds=" + List(m.reduce_ids) +
         ",batchFetchEnabled=" + (m.batch ? "true" : "false") + "]";
}
std::string Print(const FetchShuffleBlockChunks& m) {
  return Begin("FetchShuffleBlockChunks", m.app_id) + ",execId=" + m.exec_id + ",shuffleId=" + Text(m.shuffle_id) +
         ",shuffleMergeId=" + Text(m.shuffle_merge_id) + ",reduceIds=" + List(m.reduce_ids) +
         ",chunkIds=" + List(m.chunk_ids) + "]";
}
std::string Print(const GetLocalDirsForExecutors& m) {
  return Begin("GetLocalDirsForExecutors", m.app_id) + ",execIds=" + List(m.exec_ids) + "]";
}
std::string Print(const FinalizeShuffleMerge& m) {
  return Begin("FinalizeShuffleMerge", m.app_id) + ",attemptId=" + Text(m.app_attempt_id) +
         ",shuffleId=" + Text(m.shuffle_id) + ",shuffleMergeId=" + Text(m.shuffle_merge_id) + "]";
}
std::string Print(const RemoveShuffleMerge& m) {
  return Begin("RemoveShuffleMerge", m.app_id) + ",attemptId=" + Text(m.app_attempt_id) +
         ",shuffleId=" + Text(m.shuffle_id) + ",shuffleMergeId=" + Text(m.shuffle_merge_id) + "]";
}
std::string Print(const DiagnoseCorruption& m) {
  return Begin("DiagnoseCorruption", m.app_id) + ",execId=" + m.exec_id + ",shuffleId=" + Text(m.shuffle_id) +
         ",mapId=" + Text(m.map_id) + ",reduceId=" + Text(m.reduce_id) + ",checksum=" + Text(m.checksum) +
         ",algorithm=" + m.algorithm + "]";
}

/// Spark 3.5 prints by commons-lang's ToStringBuilder, which differs in a few classes.
void PrintAs35(const Message& message, std::string& text) {
  if (message.index() == 2) {
    const size_t space = text.find(", execId=");
    if (space != std::string::npos) text.erase(space + 1, 1);
  }
}

}  // namespace

std::string_view EnumName(Cause cause) {
  constexpr std::array<std::string_view, 5> kNames = {"DISK_ISSUE", "NETWORK_ISSUE", "UNKNOWN_ISSUE",
                                                      "CHECKSUM_VERIFY_PASS", "UNSUPPORTED_CHECKSUM_ALGORITHM"};
  const auto index = static_cast<size_t>(cause);
  return index < kNames.size() ? kNames[index] : "UNKNOWN_ISSUE";
}

base::Result<Message> DecodeMessage(std::string_view body, Dialect dialect) {
  const base::BudgetKind& kind = KindOf(body.empty() ? 0 : static_cast<uint8_t>(body[0]));
  base::Budget budget(kind, body.size());
  Reader in(body, dialect, budget);
  const uint8_t id = in.U8();
  if (in.failed()) return in.error();
  if (body.size() > kind.bytes) {
    in.FailTooMuch(body.size(), "bytes in such a request", kind.bytes);
    return in.error();
  }
  Message message;
  const bool mesos = id == 4 || id == 5;
  const bool known = !(mesos && dialect == Dialect::kSpark43) &&
                     ReadAlternative(in, id, message, std::make_index_sequence<std::variant_size_v<Message>>{});
  if (!known) {
    return base::Error{
        "java.lang.IllegalArgumentException: Unknown message type: " + std::to_string(static_cast<int8_t>(id)),
        static_cast<int>(DecodeError::kMalformed)};
  }
  if (in.failed()) return in.error();
  return message;
}

std::string EncodeMessage(const Message& message) {
  std::string out;
  out.push_back(static_cast<char>(message.index()));
  Writer writer(out);
  std::visit([&](const auto& alternative) { Write(writer, alternative); }, message);
  return out;
}

std::string ToJavaString(const Message& message, Dialect dialect) {
  std::string text = std::visit([](const auto& alternative) { return Print(alternative); }, message);
  if (dialect == Dialect::kSpark35) PrintAs35(message, text);
  return text;
}

}  // namespace fairlead::wire::spark_shuffle
