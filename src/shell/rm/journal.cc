#include "shell/rm/journal.h"

#include <boost/crc.hpp>
#include <charconv>
#include <map>

#include "base/bytes.h"
#include "base/stored.h"

namespace fairlead::shell {
namespace {

constexpr std::string_view kMagic = "FLJRNL02";
constexpr std::string_view kMagicOf010 = "FLJRNL01";
constexpr size_t kRecordHead = 8;  // length and checksum
constexpr size_t kRecordBytesMax = size_t{1} << 30;
constexpr size_t kFlushBytes = 256 * 1024;
constexpr size_t kFilesMax = 4096;                // short ones too, of managers that lead by turns
constexpr uint64_t kNumbers = uint64_t{1} << 48;  // of files; whatever has a larger one is not ours
constexpr base::Duration kFlushDelay = base::Duration::Millis(200);

}  // namespace

uint32_t Crc32c(const std::vector<std::string_view>& parts) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  for (const std::string_view part : parts) crc.process_bytes(part.data(), part.size());
  return crc.checksum();
}

uint32_t Crc32c(std::string_view bytes) { return Crc32c(std::vector{bytes}); }

base::Result<std::unique_ptr<JournalWriter>> JournalWriter::Open(env::Loop& loop, env::Disk& disk,
                                                                 const std::string& path, const JournalHeader& header,
                                                                 uint64_t bytes_max,
                                                                 std::function<void(const std::string&)> on_stop) {
  std::unique_ptr<JournalWriter> writer(new JournalWriter(loop, disk, path, bytes_max, std::move(on_stop)));
  if (base::Status begun = writer->Begin(header); !begun.ok()) return begun.error();
  writer->Flush();
  return writer;
}

JournalWriter::JournalWriter(env::Loop& loop, env::Disk& disk, std::string path, uint64_t bytes_max,
                             std::function<void(const std::string&)> on_stop)
    : loop_(loop), disk_(disk), path_(std::move(path)), bytes_max_(bytes_max), on_stop_(std::move(on_stop)) {}

base::Status JournalWriter::SetAside(uint64_t next_bytes) {
  const size_t slash = path_.rfind('/');
  const std::string directory = path_.substr(0, slash + 1);
  const std::string prefix = path_.substr(slash + 1) + ".";
  const auto files = disk_.List(directory);
  if (!files.ok()) return files.error();
  std::map<uint64_t, uint64_t> older;  // number -> bytes
  for (const env::FileInfo& file : *files) {
    if (!file.name.starts_with(prefix)) continue;
    uint64_t number = 0;
    const char* const end = file.name.data() + file.name.size();
    const auto [at, error] = std::from_chars(file.name.data() + prefix.size(), end, number);
    if (error == std::errc() && at == end && number < kNumbers) older[number] = file.size;
  }
  if (const auto there = disk_.Stat(path_); there.ok()) {
    const uint64_t next = older.empty() ? 1 : older.rbegin()->first + 1;
    if (base::Status moved = disk_.Rename(path_, directory + prefix + std::to_string(next)); !moved.ok()) return moved;
    older[next] = there->size;
  }
  uint64_t bytes = next_bytes;
  size_t kept = 0;
  older_files_ = older_bytes_ = 0;
  for (auto one = older.rbegin(); one != older.rend(); ++one) {
    bytes += one->second;
    if (bytes <= bytes_max_ && ++kept < kFilesMax) {
      ++older_files_;
      older_bytes_ += one->second;
      continue;
    }
    if (base::Status removed = disk_.RemoveTree(directory + prefix + std::to_string(one->first)); !removed.ok())
      return removed;
  }
  return {};
}

base::Status JournalWriter::Begin(const JournalHeader& header) {
  const std::string encoded = base::EncodeStored(header);
  header_bytes_ = encoded.size();
  // Twice the segment: it is full behind a batch, which may be long.
  if (base::Status aside = SetAside(encoded.size() + 2 * SegmentBytes()); !aside.ok()) return aside;
  auto file = disk_.OpenForAppending(path_, 0600);
  if (!file) return file.error();
  file_ = std::move(file).value();
  buffer_ = kMagic;
  bytes_ = 0;
  Put({encoded});
  batch_bytes_ = 0;
  return {};
}

void JournalWriter::BeginSegment(const JournalHeader& header) {
  Flush();
  if (!file_) return;
  if (base::Status begun = Begin(header); !begun.ok()) Stop("its next file cannot be begun: " + begun.error().message);
}

JournalWriter::~JournalWriter() { Flush(); }

JournalWriter::Size JournalWriter::size() const {
  return {.writes = file_ != nullptr,
          .files = static_cast<int64_t>(older_files_ + 1),
          .bytes = static_cast<int64_t>(older_bytes_ + bytes_),
          .segment_bytes = static_cast<int64_t>(SegmentBytes()),
          .written = static_cast<int64_t>(written_),
          .within = loop_.Now() - opened_};
}

void JournalWriter::Append(const JournalBatch& batch) {
  if (!file_) return;
  // As base::EncodeStored(batch), whose events may be megabytes and are not copied.
  std::string before;
  std::string after;
  base::Encode<base::Form::kStored>(before, batch.now);
  base::Encode<base::Form::kStored>(before, batch.wall);
  base::PutVarint(before, batch.events.size());
  base::Encode<base::Form::kStored>(after, batch.effect_hash);
  std::string head(1, static_cast<char>(base::kStoredFormat));
  base::PutVarint(head, before.size() + batch.events.size() + after.size());
  Put({head, before, batch.events, after});
  if (buffer_.size() >= kFlushBytes) return Flush();
  if (!flush_timer_.waits()) flush_timer_.After(kFlushDelay, [this] { Flush(); });
}

void JournalWriter::Put(const std::vector<std::string_view>& payload) {
  size_t size = 0;
  for (const std::string_view part : payload) size += part.size();
  if (bytes_ + size > bytes_max_) {
    return Stop("the journal has reached its limit of " + std::to_string(bytes_max_) +
                " bytes; later decisions cannot be replayed");
  }
  bytes_ += size + kRecordHead;
  batch_bytes_ += size + kRecordHead;
  written_ += size + kRecordHead;
  base::ByteWriter out(buffer_);
  out.U32(static_cast<uint32_t>(size));
  out.U32(Crc32c(payload));
  for (const std::string_view part : payload) {
    if (part.size() < kFlushBytes) {
      out.Bytes(part);
      continue;
    }
    Flush();  // a long one is not copied
    if (!file_) return;
    const base::Status written = file_->Append(part);
    if (!written.ok()) return Stop("the journal cannot be written: " + written.error().message);
  }
}

void JournalWriter::Flush() {
  flush_timer_.Stop();
  if (!file_ || buffer_.empty()) return;
  const base::Status written = file_->Append(buffer_);
  buffer_.clear();
  if (!written.ok()) Stop("the journal cannot be written: " + written.error().message);
}

void JournalWriter::Stop(const std::string& why) {
  if (!file_) return;
  if (!buffer_.empty()) (void)file_->Append(buffer_).ok();
  buffer_.clear();
  file_.reset();
  on_stop_(why);
}

base::Error JournalReader::Unreadable(size_t place, const std::string& why) const {
  return base::Error{"record " + std::to_string(record_) + " at byte " + std::to_string(place) +
                     " cannot be read: " + why};
}

base::Result<std::optional<std::string_view>> JournalReader::Record() {
  if (position_ == bytes_.size()) return std::optional<std::string_view>();
  const std::string_view rest = bytes_.substr(position_);
  const auto length = base::BigEndian<uint32_t>(rest);
  if (rest.size() < kRecordHead || rest.size() - kRecordHead < length) {
    torn_tail_ = true;
    return std::optional<std::string_view>();
  }
  if (length > kRecordBytesMax) return Unreadable(position_, "its length is impossible");
  const std::string_view payload = rest.substr(kRecordHead, length);
  if (Crc32c(payload) != base::BigEndian<uint32_t>(rest.substr(sizeof length))) {
    if (rest.size() > kRecordHead + length || record_ == 0) {
      return Unreadable(position_, "its checksum does not match: it is damaged");
    }
    torn_tail_ = true;
    return std::optional<std::string_view>();
  }
  position_ += kRecordHead + length;
  return std::optional(payload);
}

base::Status JournalReader::CheckMagic(std::string_view bytes) {
  if (bytes.starts_with(kMagicOf010)) return base::Error{"a journal of release 0.1.0, which alone can replay it"};
  if (!bytes.starts_with(kMagic)) return base::Error{"not a Fairlead journal (it does not begin with FLJRNL02)"};
  return {};
}

base::Result<JournalReader> JournalReader::Begin(std::string_view bytes) {
  if (const base::Status known = CheckMagic(bytes); !known) return known.error();
  JournalReader reader(bytes);
  reader.position_ = kMagic.size();
  const auto payload = reader.Record();
  if (!payload) return payload.error();
  if (!*payload) return base::Error{"the journal ends inside its header"};
  auto header = base::DecodeStored<JournalHeader>(**payload);
  if (!header) return reader.Unreadable(kMagic.size(), header.error().message);
  reader.header_ = std::move(*header);
  return reader;
}

base::Result<bool> JournalReader::Next(JournalBatch& batch) {
  const size_t place = position_;
  ++record_;
  const auto payload = Record();
  if (!payload) return payload.error();
  if (!*payload) return false;
  auto read = base::DecodeStored<JournalBatch>(**payload);
  if (!read) return Unreadable(place, read.error().message);
  batch = std::move(*read);
  return true;
}

std::optional<JournalBatch> JournalReader::Last() {
  size_t last = position_;
  for (size_t next = position_; bytes_.size() - next >= kRecordHead;) {
    last = position_;
    position_ = next;
    next += kRecordHead + base::BigEndian<uint32_t>(bytes_.substr(next));
    if (next > bytes_.size()) break;
  }
  JournalBatch batch;
  for (const size_t place : {position_, last}) {  // the last one may be torn
    position_ = place;
    if (const auto read = Next(batch); read && *read) return batch;
  }
  return {};
}

base::Result<Journal> ParseJournal(std::string_view bytes) {
  auto reader = JournalReader::Begin(bytes);
  if (!reader) return reader.error();
  Journal journal{reader->header(), {}, false};
  for (;;) {
    JournalBatch batch;
    const auto more = reader->Next(batch);
    if (!more) return more.error();
    if (!*more) break;
    journal.batches.push_back(std::move(batch));
  }
  journal.torn_tail = reader->torn_tail();
  return journal;
}

}  // namespace fairlead::shell
