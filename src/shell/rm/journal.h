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
// `fairlead replay`. It is written behind and never needed for recovery.
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
  FL_FIELDS(format, core, build, configuration)
};

struct JournalBatch {
  base::Instant now;
  base::WallTime wall;
  std::string events;  // vector of the core's outside events, encoded by base/stored.h
  uint64_t effect_hash = 0;
  FL_FIELDS(now, wall, events, effect_hash)
};

/// Appends batches to `directory`/NAME.journal, flushed every 200 ms at the latest. Past `bytes_max` it stops and says
/// so once through `on_stop`; a write error ends it the same way. The daemon goes on without.
class JournalWriter {
 public:
  static base::Result<std::unique_ptr<JournalWriter>> Open(env::Loop& loop, env::Disk& disk, const std::string& path,
                                                           const JournalHeader& header, uint64_t bytes_max,
                                                           std::function<void(const std::string&)> on_stop);
  ~JournalWriter();
  void Append(const JournalBatch& batch);
  void Flush();

 private:
  JournalWriter(env::Loop& loop, std::shared_ptr<env::File> file, uint64_t bytes_max,
                std::function<void(const std::string&)> on_stop);
  void Put(std::string_view payload);
  void Stop(const std::string& why);

  env::Loop& loop_;
  std::shared_ptr<env::File> file_;
  uint64_t bytes_max_;
  uint64_t bytes_ = 0;
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
