#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "env/disk.h"
#include "env/loop.h"

// The journal of a core: every batch of outside events with its times and the hash of the effects it had, for
// `fairlead replay`. It is written behind and never needed for recovery. It goes on for ever in segments, of which the
// last ones are kept: a file each, that begins with the whole state that the core had, so that any of them is replayed
// alone.
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
/// error. The daemon goes on without.
class JournalWriter {
 public:
  /// Parts of `bytes_max`.
  static constexpr uint64_t kSegments = 8;
  static base::Result<std::unique_ptr<JournalWriter>> Open(env::Loop& loop, env::Disk& disk, const std::string& path,
                                                           const JournalHeader& header, uint64_t bytes_max,
                                                           std::function<void(const std::string&)> on_stop);
  ~JournalWriter();
  void Append(const JournalBatch& batch);
  /// The next segment may begin.
  bool full() const { return file_ && batch_bytes_ >= bytes_max_ / kSegments; }
  /// Begins it. `header` has the state after the last batch. O(files of the journal).
  void BeginSegment(const JournalHeader& header);
  void Flush();

 private:
  JournalWriter(env::Loop& loop, env::Disk& disk, std::string path, uint64_t bytes_max,
                std::function<void(const std::string&)> on_stop);
  /// The file that is there becomes an older one. Of those the oldest go, until one of `next_bytes` has room beside
  /// them.
  base::Status SetAside(uint64_t next_bytes);
  base::Status Begin(const JournalHeader& header);
  void Put(std::string_view payload);
  void Stop(const std::string& why);

  env::Loop& loop_;
  env::Disk& disk_;
  const std::string path_;
  std::shared_ptr<env::File> file_;
  uint64_t bytes_max_;
  uint64_t bytes_ = 0;
  uint64_t batch_bytes_ = 0;  // of them, those of batches
  std::function<void(const std::string&)> on_stop_;
  std::string buffer_;
  env::Loop::TimerId flush_timer_ = 0;
};

struct Journal {
  JournalHeader header;
  std::vector<JournalBatch> batches;
  bool torn_tail = false;  // the last record was incomplete and is left out
};

/// Reads a whole journal file.
base::Result<Journal> ParseJournal(std::string_view bytes);

/// CRC-32C (Castagnoli).
uint32_t Crc32c(std::string_view bytes);

}  // namespace fairlead::shell
