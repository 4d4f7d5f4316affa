#include "shell/nm/tfile.h"

#include <bit>

#include "base/bytes.h"

namespace fairlead::shell {

namespace {
constexpr std::string_view kMagic("\xd1\x11\xd3\x68\x91\xb5\xd7\xb6\x39\xdf\x41\x40\x92\xba\xe1\x50", 16);

/// Utils.writeString: length and UTF-8.
void PutString(std::string& out, std::string_view text) {
  TFileWriter::PutVLong(out, static_cast<int64_t>(text.size()));
  out += text;
}

/// Utils.Version 1.0.
void PutVersion(std::string& out) {
  base::ByteWriter writer(out);
  writer.U16(1);
  writer.U16(0);
}
}  // namespace

void TFileWriter::PutVLong(std::string& out, int64_t value) {
  base::ByteWriter writer(out);
  if (value >= -32 && value < 128) return writer.U8(static_cast<uint8_t>(value));
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  const int length = (64 - std::countl_zero(magnitude)) / 8 + 1;  // with the sign bit
  // Short forms put the highest bits into the first byte: limit and base per number of bytes that follow.
  constexpr struct {
    int bytes, limit, base;
  } kShort[] = {{1, 20, -52}, {2, 16, -88}, {3, 8, -112}};
  for (const auto& form : kShort) {
    if (length > form.bytes + 1) continue;
    const int64_t high = value >> (form.bytes * 8);
    if (high >= form.limit || high < -form.limit) continue;
    writer.U8(static_cast<uint8_t>(high + form.base));
    for (int shift = (form.bytes - 1) * 8; shift >= 0; shift -= 8) writer.U8(static_cast<uint8_t>(value >> shift));
    return;
  }
  const int whole = length < 4 ? 4 : length;
  writer.U8(static_cast<uint8_t>(whole - 129));
  for (int shift = (whole - 1) * 8; shift >= 0; shift -= 8) writer.U8(static_cast<uint8_t>(value >> shift));
}

void TFileWriter::PutUtf(std::string& out, std::string_view text) {
  if (text.size() > 65535) text = text.substr(0, 65535);
  base::ByteWriter writer(out);
  writer.U16(static_cast<uint16_t>(text.size()));
  writer.Bytes(text);
}

base::Status TFileWriter::Put(std::string_view bytes) {
  position_ += static_cast<int64_t>(bytes.size());
  return sink_(bytes);
}

base::Status TFileWriter::PutInBlock(std::string_view bytes) {
  block_raw_bytes_ += static_cast<int64_t>(bytes.size());
  return Put(compress_ ? zlib_.Add(bytes) : bytes);
}

base::Status TFileWriter::Begin() { return Put(kMagic); }

base::Status TFileWriter::Append(std::string_view key, std::string_view value) {
  if (base::Status begun = BeginValue(key); !begun) return begun;
  if (base::Status put = ValueBytes(value); !put) return put;
  return EndValue();
}

base::Status TFileWriter::BeginValue(std::string_view key) {
  if (block_begin_ < 0) {
    block_begin_ = position_;
    block_entries_ = 0;
    block_raw_bytes_ = 0;
  }
  if (entries_ == 0) first_key_ = key;
  last_key_ = key;
  ++entries_;
  ++block_entries_;
  std::string head;
  PutString(head, key);
  return PutInBlock(head);
}

base::Status TFileWriter::ValueBytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t room = kChunkBytes - chunk_.size();
    chunk_ += bytes.substr(0, room);
    bytes.remove_prefix(std::min(room, bytes.size()));
    if (chunk_.size() < kChunkBytes) continue;
    std::string length;
    PutVLong(length, -static_cast<int64_t>(chunk_.size()));  // more chunks follow
    base::Status put = PutInBlock(length);
    if (put) put = PutInBlock(chunk_);
    if (!put) return put;
    chunk_.clear();
  }
  return {};
}

base::Status TFileWriter::EndValue() {
  std::string last;
  PutString(last, chunk_);
  chunk_.clear();
  if (base::Status put = PutInBlock(last); !put) return put;
  return position_ - block_begin_ >= kBlockBytesMin ? EndBlock() : base::Status();
}

base::Status TFileWriter::EndBlock() {
  if (block_begin_ < 0) return {};
  if (compress_) {
    if (base::Status ended = Put(zlib_.End()); !ended) return ended;
  }
  blocks_.push_back({block_begin_, position_ - block_begin_, block_raw_bytes_});
  std::string entry;
  PutString(entry, last_key_);
  PutVLong(entry, block_entries_);
  PutString(index_entries_, entry);
  block_begin_ = -1;
  return {};
}

base::Status TFileWriter::Finish() {
  if (base::Status ended = EndBlock(); !ended) return ended;
  std::string meta;
  PutVersion(meta);
  PutVLong(meta, entries_);
  PutString(meta, "");  // no comparator: unsorted
  std::string index;
  if (entries_ == 0) {
    PutVLong(index, 0);
  } else {
    std::string first;
    PutString(first, first_key_);
    PutString(index, first);
    index += index_entries_;
  }
  std::string data_index;
  PutString(data_index, compress_ ? "gz" : "none");
  PutVLong(data_index, static_cast<int64_t>(blocks_.size()));
  for (const Region& block : blocks_) {
    for (const int64_t number : {block.offset, block.bytes, block.raw_bytes}) PutVLong(data_index, number);
  }
  const int64_t meta_at = position_;
  const int64_t index_at = meta_at + static_cast<int64_t>(meta.size());
  const int64_t data_index_at = index_at + static_cast<int64_t>(index.size());
  const int64_t directory_at = data_index_at + static_cast<int64_t>(data_index.size());
  std::string tail = meta + index + data_index;
  PutVLong(tail, 3);
  const auto entry = [&](const char* name, int64_t at, const std::string& bytes) {
    PutString(tail, std::string("data:") + name);
    PutString(tail, "none");
    for (const int64_t number : {at, static_cast<int64_t>(bytes.size()), static_cast<int64_t>(bytes.size())})
      PutVLong(tail, number);
  };
  entry("BCFile.index", data_index_at, data_index);
  entry("TFile.index", index_at, index);
  entry("TFile.meta", meta_at, meta);
  base::ByteWriter(tail).I64(directory_at);
  PutVersion(tail);
  tail += kMagic;
  return Put(tail);
}

}  // namespace fairlead::shell
