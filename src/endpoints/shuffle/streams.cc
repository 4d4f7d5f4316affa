#include "endpoints/shuffle/streams.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "wire/spark_shuffle/layout.h"

namespace fairlead::endpoints::shuffle {
namespace {

using base::Error;

Error IllegalArgument(const std::string& what) { return {"java.lang.IllegalArgumentException: " + what}; }

template <class Int>
base::Result<Int> ParseJava(std::string_view text) {
  std::string_view digits = text;
  if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
  Int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool doubled_sign = digits.size() < text.size() && !digits.empty() && digits[0] == '-';
  if (error != std::errc() || end != digits.data() + digits.size() || doubled_sign) {
    return Error{"java.lang.NumberFormatException: For input string: \"" + std::string(text) + "\""};
  }
  return value;
}

/// Java's reduceId + 1, which wraps.
int32_t Next(int32_t id) { return static_cast<int32_t>(static_cast<uint32_t>(id) + 1); }

/// Which kind of ids a list begins with, and how its parts are read (ExternalBlockHandler.ManagedBufferIterator).
struct IdForm {
  BlockRef::Kind kind;
  std::string_view prefix;
  size_t parts;
  const char* name;  // in "Unexpected <name> id format"
};
constexpr IdForm kForms[] = {{BlockRef::Kind::kShuffle, "shuffle", 4, "shuffle block"},
                             {BlockRef::Kind::kMerged, "shuffleChunk", 5, "shuffle chunk"},
                             {BlockRef::Kind::kRdd, "rdd", 3, "RDD block"}};

/// What two blocks of one OpenBlocks differ by, in one number: the two last parts of their ids (map and reduce id, RDD
/// and split, reduce id and chunk).
int64_t Pack(int32_t before_last, int32_t last) {
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(before_last)) << 32 |
                              static_cast<uint32_t>(last));
}

/// Reads one id into `out`, packed, after the first one fixed `form` and, for shuffles, `first`.
std::optional<Error> ReadId(const std::string& text, const IdForm& form, const BlockRef& first, int64_t& out) {
  const auto parts = JavaSplit(text);
  if (parts.size() != form.parts || parts[0] != form.prefix) {
    return IllegalArgument("Unexpected " + std::string(form.name) + " id format: " + text);
  }
  int32_t numbers[4] = {0, 0, 0, 0};
  for (size_t i = 1; i < parts.size(); ++i) {
    const auto number = JavaParseInt(parts[i]);
    if (!number.ok()) return number.error();
    numbers[i - 1] = *number;
    const bool other_shuffle = i == 1 && form.kind == BlockRef::Kind::kShuffle && *number != first.shuffle_id;
    if (other_shuffle) {
      return IllegalArgument("Expected shuffleId=" + std::to_string(first.shuffle_id) + ", got:" + text);
    }
    const bool other_merge = i == 2 && form.kind == BlockRef::Kind::kMerged &&
                             (numbers[0] != first.shuffle_id || numbers[1] != first.merge_id);
    if (other_merge) {
      return IllegalArgument("Expected shuffleId = " + std::to_string(first.shuffle_id) +
                             " and shuffleMergeId = " + std::to_string(first.merge_id) + " but got " + text);
    }
  }
  out = Pack(numbers[form.parts - 3], numbers[form.parts - 2]);
  return std::nullopt;
}

}  // namespace

base::Result<int64_t> JavaParseLong(std::string_view text) { return ParseJava<int64_t>(text); }
base::Result<int32_t> JavaParseInt(std::string_view text) { return ParseJava<int32_t>(text); }

std::vector<std::string_view> JavaSplit(std::string_view text) {
  std::vector<std::string_view> out;
  const std::string_view whole = text;
  while (true) {
    const size_t end = text.find('_');
    out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  if (out.size() > 1 || whole.empty()) {
    while (out.size() > (whole.empty() ? 1u : 0u) && out.back().empty()) out.pop_back();
  }
  return out;
}

Error ArrayIndexError(int64_t index, int64_t length) {
  return {"java.lang.ArrayIndexOutOfBoundsException: Index " + std::to_string(index) + " out of bounds for length " +
          std::to_string(length)};
}

BlockStream::BlockStream(wire::spark_shuffle::FetchShuffleBlocks request)
    : form_(request.batch ? Form::kBatch : Form::kLists),
      app_(std::move(request.app_id)),
      executor_(std::move(request.exec_id)),
      shuffle_id_(request.shuffle_id),
      num_chunks_(static_cast<int32_t>(request.batch ? request.map_ids.size() : request.reduce_ids.total())),
      map_ids_(std::move(request.map_ids)),
      lists_(std::move(request.reduce_ids)) {}

BlockStream::BlockStream(wire::spark_shuffle::FetchShuffleBlockChunks request)
    : form_(Form::kMerged),
      app_(std::move(request.app_id)),
      executor_(std::move(request.exec_id)),
      shuffle_id_(request.shuffle_id),
      merge_id_(request.shuffle_merge_id),
      num_chunks_(static_cast<int32_t>(request.chunk_ids.total())),
      map_ids_(request.reduce_ids.begin(), request.reduce_ids.end()),
      lists_(std::move(request.chunk_ids)) {}

base::Result<BlockStream> BlockStream::Parse(const wire::spark_shuffle::OpenBlocks& request) {
  if (request.block_ids.empty()) return ArrayIndexError(0, 0);
  const std::string& first_id = request.block_ids[0];
  const auto parts = JavaSplit(first_id);
  const IdForm* form = nullptr;
  for (const IdForm& candidate : kForms) {
    if (parts.size() == candidate.parts && parts[0] == candidate.prefix) form = &candidate;
  }
  if (form == nullptr) return IllegalArgument("Unexpected block id format: " + first_id);
  BlockRef first;
  first.kind = form->kind;
  if (form->kind != BlockRef::Kind::kRdd) {
    const auto shuffle = JavaParseInt(parts[1]);
    if (!shuffle.ok()) return shuffle.error();
    first.shuffle_id = *shuffle;
  }
  if (form->kind == BlockRef::Kind::kMerged) {
    const auto merge = JavaParseInt(parts[2]);
    if (!merge.ok()) return merge.error();
    first.merge_id = *merge;
  }
  BlockStream stream;
  stream.form_ = Form::kFlat;
  stream.app_ = request.app_id;
  stream.executor_ = request.exec_id;
  stream.num_chunks_ = static_cast<int32_t>(request.block_ids.size());
  stream.flat_ = {first};  // what all have; map_ids_ has what each has
  stream.map_ids_.resize(request.block_ids.size());
  for (size_t i = 0; i < request.block_ids.size(); ++i) {
    if (auto error = ReadId(request.block_ids[i], *form, first, stream.map_ids_[i])) return *std::move(error);
  }
  return stream;
}

size_t BlockStream::memory_bytes() const {
  return sizeof *this + app_.capacity() + executor_.capacity() + map_ids_.capacity() * sizeof(int64_t) +
         lists_.total() * sizeof(int32_t) + lists_.size() * sizeof(size_t) + flat_.capacity() * sizeof(BlockRef);
}

base::Result<bool> BlockStream::HasNext() const {
  if (outer_ >= map_ids_.size()) return false;
  if (form_ == Form::kFlat) return true;
  if (outer_ >= lists_.size()) {
    return ArrayIndexError(static_cast<int64_t>(outer_), static_cast<int64_t>(lists_.size()));
  }
  return inner_ < lists_[outer_].size();
}

base::Result<BlockRef> BlockStream::Peek() const {
  if (form_ == Form::kFlat) {
    BlockRef out = flat_[0];
    const auto before_last = static_cast<int32_t>(map_ids_[outer_] >> 32);
    const auto last = static_cast<int32_t>(map_ids_[outer_]);
    const bool rdd = out.kind == BlockRef::Kind::kRdd;
    if (rdd) out.shuffle_id = before_last;
    out.map_id = rdd ? last : before_last;
    out.start = rdd ? 0 : last;
    out.end = Next(out.start);
    if (out.kind == BlockRef::Kind::kMerged) out.app = app_;
    return out;
  }
  const auto list = lists_[outer_];
  BlockRef out;
  out.shuffle_id = shuffle_id_;
  out.map_id = map_ids_[outer_];
  if (form_ == Form::kBatch) {
    if (list.size() < 2) return ArrayIndexError(1, static_cast<int64_t>(list.size()));
    out.start = list[0];
    out.end = list[1];
    return out;
  }
  if (form_ == Form::kMerged) {
    out.kind = BlockRef::Kind::kMerged;
    out.merge_id = merge_id_;
    out.app = app_;
  }
  out.start = list[inner_];
  out.end = Next(out.start);
  return out;
}

std::vector<BlockRef> BlockStream::Upcoming(size_t count) {
  const size_t outer = outer_;
  const size_t inner = inner_;
  std::vector<BlockRef> out;
  while (out.size() < count) {
    const auto more = HasNext();
    const auto block = more.ok() && *more ? Peek() : base::Error{""};
    if (!block.ok()) break;
    out.push_back(*block);
    Advance();
  }
  outer_ = outer;
  inner_ = inner;
  return out;
}

void BlockStream::Advance() {
  if (form_ == Form::kFlat || form_ == Form::kBatch || inner_ + 1 >= lists_[outer_].size()) {
    inner_ = 0;
    ++outer_;
  } else {
    ++inner_;
  }
}

std::optional<int64_t> StreamTable::Add(BlockStream stream) {
  const size_t bytes = stream.memory_bytes();
  if (bytes > bytes_max_ - std::min(bytes_, bytes_max_)) return std::nullopt;
  bytes_ += bytes;
  const int64_t id = next_id_;
  next_id_ = next_id_ == INT64_MAX ? 0 : next_id_ + 1;
  streams_.emplace(id, std::move(stream));
  return id;
}

BlockStream* StreamTable::Find(int64_t id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : &found->second;
}

void StreamTable::Remove(int64_t id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  bytes_ -= std::min(bytes_, found->second.memory_bytes());
  streams_.erase(found);
}

std::vector<std::string> JavaHashOrder(const std::vector<std::string>& keys, size_t capacity) {
  struct Entry {
    uint32_t hash;
    const std::string* key;
  };
  std::vector<Entry> entries;
  std::vector<const std::string*> sorted;
  for (const std::string& key : keys) sorted.push_back(&key);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return *a != *b ? *a < *b : a < b; });
  for (const std::string& key : keys) {
    const auto first =
        std::lower_bound(sorted.begin(), sorted.end(), &key, [](const auto* a, const auto* b) { return *a < *b; });
    if (*first != &key) continue;  // seen before
    const auto hash = static_cast<uint32_t>(wire::spark_shuffle::JavaHash(key));
    entries.push_back({hash ^ (hash >> 16), &key});
  }
  while (entries.size() * 4 > capacity * 3) capacity *= 2;
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return (a.hash & (capacity - 1)) < (b.hash & (capacity - 1));
  });
  std::vector<std::string> out;
  for (const Entry& entry : entries) out.push_back(*entry.key);
  return out;
}

}  // namespace fairlead::endpoints::shuffle
