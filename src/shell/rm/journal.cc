#include "shell/rm/journal.h"

#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/stored.h"

namespace fairlead::shell {
namespace {

constexpr std::string_view kMagic = "FLJRNL02";
constexpr std::string_view kMagicOf010 = "FLJRNL01";
constexpr size_t kRecordBytesMax = size_t{1} << 30;
constexpr size_t kFlushBytes = 256 * 1024;
constexpr size_t kFilesMax = 4096;                // short ones too, of managers that lead by turns
constexpr uint64_t kNumbers = uint64_t{1} << 48;  // of files; whatever has a larger one is not ours
constexpr base::Duration kFlushDelay = base::Duration::Millis(200);
constexpr char kUnfinished[] = ".next";  // until it has its state

std::string RecordHead(const std::vector<std::string_view>& payload) {
  size_t size = 0;
  uint32_t sum = 0;
  for (const std::string_view part : payload) {
    size += part.size();
    sum = base::Crc32c(part, sum);
  }
  std::string head;
  base::ByteWriter out(head);
  out.U32(static_cast<uint32_t>(size));
  out.U32(sum);
  return head;
}

/// What a file begins with.
std::string HeadOf(const JournalHeader& header) {
  const std::string encoded = base::EncodeStored(header);
  std::string head(kMagic);
  head.reserve(kMagic.size() + kRecordHead + encoded.size());
  return head.append(RecordHead({encoded})).append(encoded);
}

std::string Unbegun(const base::Error& why) { return "its next file cannot be begun: " + why.message; }
std::string Unwritten(const base::Error& why) { return "the journal cannot be written: " + why.message; }

}  // namespace

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

base::Result<std::map<uint64_t, uint64_t>> JournalWriter::Older() {
  const size_t slash = path_.rfind('/');
  const std::string prefix = path_.substr(slash + 1) + ".";
  const auto files = disk_.List(path_.substr(0, slash + 1));
  if (!files.ok()) return files.error();
  std::map<uint64_t, uint64_t> older;
  for (const env::FileInfo& file : *files) {
    if (!file.name.starts_with(prefix)) continue;
    uint64_t number = 0;
    const char* const end = file.name.data() + file.name.size();
    const auto [at, error] = std::from_chars(file.name.data() + prefix.size(), end, number);
    if (error == std::errc() && at == end && number < kNumbers) older[number] = file.size;
  }
  return older;
}

base::Status JournalWriter::SetAside() {
  if (!disk_.Stat(path_).ok()) return {};
  const auto older = Older();
  if (!older) return older.error();
  const uint64_t number = older->empty() ? 1 : older->rbegin()->first + 1;
  return disk_.Rename(path_, path_ + "." + std::to_string(number));
}

base::Status JournalWriter::MakeRoom(uint64_t bytes) {
  const auto older = Older();
  if (!older) return older.error();
  older_files_ = older_bytes_ = 0;
  for (auto one = older->rbegin(); one != older->rend(); ++one) {
    bytes += one->second;
    if (bytes <= bytes_max_ && older_files_ < kFilesMax - 2) {
      ++older_files_;
      older_bytes_ += one->second;
      continue;
    }
    if (base::Status removed = disk_.RemoveTree(path_ + "." + std::to_string(one->first)); !removed.ok())
      return removed;
  }
  return disk_.RemoveTree(path_ + kUnfinished);
}

void JournalWriter::TakeSizes(uint64_t head_bytes, uint64_t batch_bytes) {
  head_bytes_ = head_bytes;
  batch_bytes_ = batch_bytes;
  bytes_ = head_bytes + batch_bytes;
  written_ += bytes_;
}

base::Status JournalWriter::Begin(const JournalHeader& header) {
  buffer_ = HeadOf(header);
  TakeSizes(buffer_.size(), 0);
  if (base::Status aside = SetAside(); !aside.ok()) return aside;
  // Twice the segment: it is full behind a batch, which may be long.
  if (base::Status room = MakeRoom(bytes_ + 2 * SegmentBytes()); !room.ok()) return room;
  auto file = disk_.OpenForAppending(path_, 0600);
  if (!file) return file.error();
  file_ = std::move(file).value();
  return {};
}

void JournalWriter::BeginSegment(std::function<JournalHeader()> make) {
  if (!file_ || next_begins_) return;
  next_begins_ = true;
  auto next = std::make_shared<Next>();
  loop_.Offload([next, make = std::move(make)] { next->head = HeadOf(make()); },
                alive_([this, next] { OpenNext(next); }));
}

void JournalWriter::OpenNext(const std::shared_ptr<Next>& next) {
  if (!file_) return;
  const uint64_t size = next->head.size();
  base::Status room = MakeRoom(bytes_ + size + 2 * SegmentBytes(size));
  if (room.ok() && size > bytes_max_) room = base::Error{"its state alone takes more than its limit"};
  if (!room.ok()) return Stop(Unbegun(room.error()));
  auto file = disk_.OpenForAppending(path_ + kUnfinished, 0600);
  if (!file) return Stop(Unbegun(file.error()));
  next->file = std::move(file).value();
  loop_.Offload([next] { next->written = next->file->Append(next->head); }, alive_([this, next] {
                  Flush();
                  if (!file_) return;
                  if (const base::Status begun = GoOnIn(*next); !begun.ok()) Stop(Unbegun(begun.error()));
                }));
}

// From the first renaming on it has all batches, and so has the one before it: whenever this process ends, none is
// lost.
base::Status JournalWriter::GoOnIn(const Next& next) {
  if (!next.written.ok()) return next.written;
  if (base::Status appended = next.file->Append(for_next_); !appended.ok()) return appended;
  if (base::Status aside = SetAside(); !aside.ok()) return aside;
  if (base::Status renamed = disk_.Rename(path_ + kUnfinished, path_); !renamed.ok()) return renamed;
  file_ = next.file;
  TakeSizes(next.head.size(), for_next_.size());
  for_next_ = {};
  next_begins_ = false;
  return MakeRoom(bytes_ + 2 * SegmentBytes());
}

JournalWriter::~JournalWriter() {
  Flush();
  if (next_begins_) (void)disk_.RemoveTree(path_ + kUnfinished).ok();
}

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
  const std::string head = RecordHead(payload);
  size_t size = head.size();
  for (const std::string_view part : payload) size += part.size();
  if (bytes_ + size > bytes_max_) {
    return Stop("the journal has reached its limit of " + std::to_string(bytes_max_) +
                " bytes; later decisions cannot be replayed");
  }
  bytes_ += size;
  batch_bytes_ += size;
  written_ += size;
  buffer_.append(head);
  for (const std::string_view part : payload) {
    if (part.size() < kFlushBytes) {
      buffer_.append(part);
      continue;
    }
    Flush();  // a long one is not copied
    if (!file_) return;
    const base::Status written = file_->Append(part);
    if (!written.ok()) return Stop(Unwritten(written.error()));
  }
  if (next_begins_) PutForNext(head, payload);
}

void JournalWriter::PutForNext(std::string_view head, const std::vector<std::string_view>& payload) {
  for_next_.append(head);
  for (const std::string_view part : payload) for_next_.append(part);
  if (for_next_.size() <= WaitingBytesMax()) return;
  Stop(Unbegun({"its state is not written, and " + std::to_string(for_next_.size()) + " bytes wait for it"}));
}

void JournalWriter::Flush() {
  flush_timer_.Stop();
  if (!file_ || buffer_.empty()) return;
  const base::Status written = file_->Append(buffer_);
  buffer_.clear();
  if (!written.ok()) Stop(Unwritten(written.error()));
}

void JournalWriter::Stop(const std::string& why) {
  if (!file_) return;
  if (!buffer_.empty()) (void)file_->Append(buffer_).ok();
  buffer_.clear();
  for_next_ = {};
  file_.reset();
  (void)disk_.RemoveTree(path_ + kUnfinished).ok();
  on_stop_(why);
}

base::Error JournalReader::Unreadable(size_t place, const std::string& why) const {
  return base::Error{"record " + std::to_string(record_) + " at byte " + std::to_string(place) +
                     " cannot be read: " + why};
}

base::Result<std::optional<std::string_view>> JournalReader::Record() {
  const std::string_view rest = bytes_.substr(position_);
  if (rest.empty() || (!end_.empty() && rest.starts_with(end_))) return std::optional<std::string_view>();
  const auto length = base::BigEndian<uint32_t>(rest);
  if (rest.size() < kRecordHead || rest.size() - kRecordHead < length) {
    torn_tail_ = true;
    return std::optional<std::string_view>();
  }
  if (length > kRecordBytesMax) return Unreadable(position_, "its length is impossible");
  const std::string_view payload = rest.substr(kRecordHead, length);
  if (base::Crc32c(payload) != base::BigEndian<uint32_t>(rest.substr(sizeof length))) {
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
