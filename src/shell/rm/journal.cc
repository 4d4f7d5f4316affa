#include "shell/rm/journal.h"

#include <boost/crc.hpp>

#include "base/bytes.h"
#include "base/stored.h"

namespace fairlead::shell {
namespace {

constexpr std::string_view kMagic = "FLJRNL02";
constexpr std::string_view kMagicOf010 = "FLJRNL01";
constexpr size_t kRecordBytesMax = size_t{1} << 30;
constexpr size_t kFlushBytes = 256 * 1024;
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
  // One earlier life is kept beside the current one.
  if (disk.Stat(path).ok()) {
    if (const base::Status moved = disk.Rename(path, path + ".previous"); !moved.ok()) return moved.error();
  }
  auto file = disk.OpenForAppending(path, 0600);
  if (!file) return file.error();
  std::unique_ptr<JournalWriter> writer(
      new JournalWriter(loop, std::move(file).value(), bytes_max, std::move(on_stop)));
  writer->buffer_ = kMagic;
  writer->Put(base::EncodeStored(header));
  writer->Flush();
  return writer;
}

JournalWriter::JournalWriter(env::Loop& loop, std::shared_ptr<env::File> file, uint64_t bytes_max,
                             std::function<void(const std::string&)> on_stop)
    : loop_(loop), file_(std::move(file)), bytes_max_(bytes_max), on_stop_(std::move(on_stop)) {}

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
  base::ByteReader in(bytes);
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
