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
constexpr size_t kRecordBytesMax = size_t{1} << 30;
constexpr size_t kFlushBytes = 256 * 1024;
constexpr size_t kFilesMax = 64;                  // short ones too, of managers that lead by turns
constexpr uint64_t kNumbers = uint64_t{1} << 48;  // of files; whatever has a larger one is not ours
constexpr base::Duration kFlushDelay = base::Duration::Millis(200);

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return crc.checksum();
}

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
  for (auto one = older.rbegin(); one != older.rend(); ++one) {
    bytes += one->second;
    if (bytes <= bytes_max_ && ++kept < kFilesMax) continue;
    if (base::Status removed = disk_.RemoveTree(directory + prefix + std::to_string(one->first)); !removed.ok())
      return removed;
  }
  return {};
}

base::Status JournalWriter::Begin(const JournalHeader& header) {
  const std::string encoded = base::EncodeStored(header);
  // Twice the segment: it is full behind a batch, which may be long.
  if (base::Status aside = SetAside(encoded.size() + 2 * bytes_max_ / kSegments); !aside.ok()) return aside;
  auto file = disk_.OpenForAppending(path_, 0600);
  if (!file) return file.error();
  file_ = std::move(file).value();
  buffer_ = kMagic;
  bytes_ = 0;
  Put(encoded);
  batch_bytes_ = 0;
  return {};
}

void JournalWriter::BeginSegment(const JournalHeader& header) {
  Flush();
  if (!file_) return;
  if (base::Status begun = Begin(header); !begun.ok()) Stop("its next file cannot be begun: " + begun.error().message);
}

JournalWriter::~JournalWriter() {
  Flush();
  loop_.Cancel(flush_timer_);
}

void JournalWriter::Append(const JournalBatch& batch) {
  if (!file_) return;
  Put(base::EncodeStored(batch));
  if (buffer_.size() >= kFlushBytes) return Flush();
  if (flush_timer_ == 0) flush_timer_ = loop_.After(kFlushDelay, [this] { Flush(); });
}

void JournalWriter::Put(std::string_view payload) {
  if (bytes_ + payload.size() > bytes_max_) {
    return Stop("the journal has reached its limit of " + std::to_string(bytes_max_) +
                " bytes; later decisions cannot be replayed");
  }
  bytes_ += payload.size() + 8;
  batch_bytes_ += payload.size() + 8;
  base::ByteWriter out(buffer_);
  out.U32(static_cast<uint32_t>(payload.size()));
  out.U32(Crc32c(payload));
  out.Bytes(payload);
}

void JournalWriter::Flush() {
  loop_.Cancel(flush_timer_);
  flush_timer_ = 0;
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

base::Result<Journal> ParseJournal(std::string_view bytes) {
  base::Budget budget(base::kStoredKind, bytes.size());
  base::ByteReader in(bytes, budget);
  const std::string_view magic = in.Take(kMagic.size());
  if (magic == kMagicOf010) return base::Error{"a journal of release 0.1.0, which alone can replay it"};
  if (magic != kMagic) return base::Error{"not a Fairlead journal (it does not begin with FLJRNL02)"};
  Journal journal;
  for (int64_t record = 0; in.remaining() > 0; ++record) {
    const size_t place = in.position();
    const uint32_t length = in.U32();
    const uint32_t crc = in.U32();
    const std::string_view payload = in.Take(length);
    if (in.failed()) {
      if (record == 0) return base::Error{"the journal ends inside its header"};
      journal.torn_tail = true;
      return journal;
    }
    const auto unreadable = [&](const std::string& why) {
      return base::Error{"record " + std::to_string(record) + " at byte " + std::to_string(place) +
                         " cannot be read: " + why};
    };
    if (length > kRecordBytesMax) return unreadable("its length is impossible");
    if (Crc32c(payload) != crc) {
      if (in.remaining() == 0 && record > 0) {
        journal.torn_tail = true;
        return journal;
      }
      return unreadable("its checksum does not match: it is damaged");
    }
    if (record == 0) {
      auto header = base::DecodeStored<JournalHeader>(payload);
      if (!header.ok()) return unreadable(header.error().message);
      journal.header = std::move(*header);
    } else {
      auto batch = base::DecodeStored<JournalBatch>(payload);
      if (!batch.ok()) return unreadable(batch.error().message);
      journal.batches.push_back(std::move(*batch));
    }
  }
  return journal;
}

}  // namespace fairlead::shell
