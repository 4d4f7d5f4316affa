#include "shell/rm/journal.h"

#include <boost/crc.hpp>

#include "base/bytes.h"
#include "base/codec.h"

namespace fairlead::shell {
namespace {

constexpr std::string_view kMagic = "FLJRNL01";
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
  std::string payload;
  base::Encode(payload, header);
  writer->Put(payload);
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
  std::string payload;
  base::Encode(payload, batch);
  Put(payload);
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
  if (in.Take(kMagic.size()) != kMagic) return base::Error{"not a Fairlead journal (it does not begin with FLJRNL01)"};
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
    const auto damaged = [&](const char* why) {
      return base::Error{"record " + std::to_string(record) + " at byte " + std::to_string(place) +
                         " is damaged: " + why};
    };
    if (length > kRecordBytesMax) return damaged("its length is impossible");
    if (Crc32c(payload) != crc) {
      if (in.remaining() == 0 && record > 0) {
        journal.torn_tail = true;
        return journal;
      }
      return damaged("its checksum does not match");
    }
    base::ByteReader body(payload);
    if (record == 0) {
      base::Decode(body, journal.header);
    } else {
      base::Decode(body, journal.batches.emplace_back());
    }
    if (!body.done()) return damaged("it does not decode");
  }
  return journal;
}

}  // namespace fairlead::shell
