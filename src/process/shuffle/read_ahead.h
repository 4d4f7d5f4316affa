#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"
#include "env/alive.h"
#include "env/loop.h"

namespace fairlead::process::shuffle {

/// Brings what a disk must be asked for into memory, off the loop's thread: a slow disk holds up only who wants
/// something of it. Reads of one disk wait in the order of files and offsets and are taken in one direction (an
/// elevator); those of different disks do not wait for each other.
class ReadAhead {
 public:
  struct Place {
    std::string file;
    int32_t block = -1;  // its number in the file; -1: a range by offset
    int64_t offset = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  using Work = std::function<void()>;
  /// `answered` false: the disk has kept silent for too long; the work may still be running.
  using Done = std::function<void(bool answered)>;

  /// A disk that gives nothing for `silence_max` fails everything that waits for it, and what comes until it answers.
  ReadAhead(env::Loop& loop, size_t disks, base::Duration silence_max);
  ~ReadAhead();

  /// Runs `work` off the loop, then `done` on it, in a later turn. A place that is being read or waits is read once.
  /// `done` empty: nobody waits.
  void Read(uint32_t disk, Place place, Work work, Done done);
  /// Gives up on disks that are silent too long; their numbers, once for each silence. Called about once a second.
  std::vector<uint32_t> FindSilent();

  struct Counters {
    uint64_t reads = 0;
    uint64_t unanswered = 0;
    size_t waiting = 0;
  };
  Counters counters() const;

 private:
  struct Job {
    Work work;
    std::vector<Done> waiters;
    base::Instant begun;
  };
  struct Disk {
    std::map<Place, Job> waiting;
    std::map<Place, Job> running;
    Place last;
    bool silent = false;
  };
  void Start(uint32_t disk);
  void Finish(uint32_t disk, const Place& place);
  void Fail(std::vector<Done>& waiters);

  env::Loop& loop_;
  const base::Duration silence_max_;
  const size_t at_once_;
  std::vector<Disk> disks_;
  Counters counters_;
  env::Alive alive_;
};

}  // namespace fairlead::process::shuffle
