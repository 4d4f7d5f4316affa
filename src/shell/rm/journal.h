#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "env/alive.h"
#include "env/disk.h"
#include "env/loop.h"
#include "env/timer.h"

// The journal of a core: every batch of outside events with its times and the hash of the effects it had, for
// `fairlead replay`. It is written behind and never needed for recovery. It goes on for ever in segments, of which the
// last ones are kept: a file each, that begins with the whole state that the core had, so that any of them is replayed
// alone. While that state is being written the file before it goes on, so its last batches may stand in both.
//
// File: magic "FLJRNL02", then records {uint32 length, uint32 CRC32C of the payload, payload}, big-endian. The first
// payload is the JournalHeader, every other one a JournalBatch, both encoded by base/stored.h. A torn last record is
// cut; damage before it is an error.

namespace fairlead::shell {

/// Grows when events or effects change in a way that older journals cannot be replayed with.
inline constexpr int32_t kJournalFormat = 2;

struct JournalHeader {
  int32_t format = kJournalFormat;
  std::string core;           // "rm"
  std::string build;          // version that wrote it
  std::string configuration;  // the core's configuration, encoded by base/stored.h
  int32_t epoch = 0;          // of the run
  std::string state;          // of the core, by base/state.h; empty: the journal begins with the core's start
  uint64_t state_hash = 0;    // of the core then
  FL_FIELDS(format, core, build, configuration, epoch, state, state_hash)
};

struct JournalBatch {
  base::Instant now;
  base::WallTime wall;
  std::string events;  // vector of the core's outside events, encoded by base/stored.h
  uint64_t effect_hash = 0;
  FL_FIELDS(now, wall, events, effect_hash)
};

/// Appends batches to the file `path`, flushed every 200 ms at the latest. All files together stay below `bytes_max`:
/// what is full is called `path`.N from then on, N counting up, and the oldest go. Whoever appends begins the next one
/// when this one is full; past `bytes_max` the journal stops and says so once through `on_stop`, as after a write
/// error. The daemon goes on without. While the next one is being written they may take more, where its state, or what
/// comes meanwhile, is more than a quarter of that.
/// A file is full when a moment in it takes about a second to be found again, but not before its batches are longer
/// than the state that it begins with; nor is it ever larger than an eighth of all.
class JournalWriter {
 public:
  static constexpr uint64_t kSegments = 8;  // parts of `bytes_max` at least
  static constexpr uint64_t kSegmentBytes = 32ull << 20;
  static base::Result<std::unique_ptr<JournalWriter>> Open(env::Loop& loop, env::Disk& disk, const std::string& path,
                                                           const JournalHeader& header, uint64_t bytes_max,
                                                           std::function<void(const std::string&)> on_stop);
  ~JournalWriter();
  void Append(const JournalBatch& batch);
  /// The next segment may begin.
  bool full() const { return file_ && !next_begins_ && batch_bytes_ >= SegmentBytes(); }
  /// Begins it. `make` gives its header, with the state after the last batch, on another thread, which writes it, too.
  /// Until it is there batches go into this file and wait in memory for the next one; the journal stops where those
  /// are more than half of all, or than a segment. O(files of the journal).
  void BeginSegment(std::function<JournalHeader()> make);
  void Flush();

  struct Size {
    bool writes = false;
    int64_t files = 0;
    int64_t bytes = 0;
    int64_t segment_bytes = 0;  // of batches, after which the next file begins
    int64_t written = 0;        // since Open
    base::Duration within;
  };
  Size size() const;

 private:
  JournalWriter(env::Loop& loop, env::Disk& disk, std::string path, uint64_t bytes_max,
                std::function<void(const std::string&)> on_stop);
  struct Next {
    std::string head;  // of the file
    std::shared_ptr<env::File> file;
    base::Status written;
  };
  base::Status Begin(const JournalHeader& header);
  /// Older files by number, with their bytes.
  base::Result<std::map<uint64_t, uint64_t>> Older();
  /// The file that is there becomes an older one.
  base::Status SetAside();
  /// Of older files the oldest go, until so many bytes have room beside them.
  base::Status MakeRoom(uint64_t bytes);
  void OpenNext(const std::shared_ptr<Next>& next);
  base::Status GoOnIn(const Next& next);
  void TakeSizes(uint64_t head_bytes, uint64_t batch_bytes);
  uint64_t SegmentBytes(uint64_t head_bytes) const {
    return std::min(bytes_max_ / kSegments, std::max(kSegmentBytes, head_bytes));
  }
  uint64_t SegmentBytes() const { return SegmentBytes(head_bytes_); }
  void Put(const std::vector<std::string_view>& payload);
  void PutForNext(std::string_view head, const std::vector<std::string_view>& payload);
  uint64_t WaitingBytesMax() const { return std::min(bytes_max_ / 2, std::max(kSegmentBytes, head_bytes_)); }
  void Stop(const std::string& why);

  env::Loop& loop_;
  env::Disk& disk_;
  const std::string path_;
  std::shared_ptr<env::File> file_;
  uint64_t bytes_max_;
  const base::Instant opened_ = loop_.Now();
  uint64_t older_files_ = 0;  // beside the one that is written
  uint64_t older_bytes_ = 0;
  uint64_t written_ = 0;
  uint64_t bytes_ = 0;
  uint64_t batch_bytes_ = 0;  // of them, those of batches
  uint64_t head_bytes_ = 0;   // and those before them
  std::function<void(const std::string&)> on_stop_;
  std::string buffer_;
  bool next_begins_ = false;
  std::string for_next_;  // records since then
  env::Timer flush_timer_{loop_};
  env::Alive alive_;
};

/// Bytes before the payload of a record, its length and its checksum.
inline constexpr size_t kRecordHead = 8;

/// Goes through the bytes of a journal file, a batch at a time.
class JournalReader {
 public:
  /// Reads the header. The bytes outlive the reader. Error: they are no journal, or end or are damaged in its header.
  static base::Result<JournalReader> Begin(std::string_view bytes);
  /// Of bytes that begin with a batch's record.
  static JournalReader OfRecords(std::string_view bytes) { return JournalReader(bytes); }
  /// Error: bytes that begin so are no journal of this release.
  static base::Status CheckMagic(std::string_view bytes);
  const JournalHeader& header() const { return header_; }
  /// False at the end. Error: what is wrong with the record, and at which byte.
  base::Result<bool> Next(JournalBatch& batch);
  /// It ends before the batch whose record begins so: that one, and what follows it, is in the next file, too.
  void EndBefore(std::string record_head) { end_ = std::move(record_head); }
  /// The last batch of the rest, which goes unread; none where there is none that is whole. O(records).
  std::optional<JournalBatch> Last();
  size_t position() const { return position_; }
  bool torn_tail() const { return torn_tail_; }

 private:
  explicit JournalReader(std::string_view bytes) : bytes_(bytes) {}
  /// The payload of the next record; nothing at the end.
  base::Result<std::optional<std::string_view>> Record();
  base::Error Unreadable(size_t place, const std::string& why) const;

  std::string_view bytes_;
  size_t position_ = 0;
  int64_t record_ = 0;
  JournalHeader header_;
  std::string end_;  // empty: that of the bytes
  bool torn_tail_ = false;
};

struct Journal {
  JournalHeader header;
  std::vector<JournalBatch> batches;
  bool torn_tail = false;  // the last record was incomplete and is left out
};

/// Reads a whole journal file.
base::Result<Journal> ParseJournal(std::string_view bytes);

}  // namespace fairlead::shell
