#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/disk.h"
#include "shell/rm/journal.h"

namespace fairlead::shell {

/// One file of a journal.
struct Segment {
  std::string path;
  base::WallTime begins;  // its first batch
  uint64_t bytes = 0;
  std::string before{};       // why the file before it is left out; empty: it is the one before in the list
  std::string record_head{};  // of its first batch
};

/// A time that nothing is known about.
struct Hole {
  base::WallTime from;  // the last batch before it
  base::WallTime to;    // where the next file begins; INT64_MAX where there is none
  std::string why;      // with the file
};

/// What is kept of a journal.
struct Segments {
  std::vector<Segment> files;  // in the order in which they were written; never empty
  base::WallTime ends;         // the last batch of the last one
  /// Files that cannot be read, or are gone from between others, each with the reason.
  std::vector<std::string> left_out;
  std::string behind{};  // why the file behind the last one is left out; empty: there is none

  base::WallTime begins() const { return files.front().begins; }
  /// Up to a minute behind the end, too: a cluster in which nothing happens writes nothing.
  bool Keeps(base::WallTime at) const;
  /// The file that has the moment, which is kept.
  const Segment& At(base::WallTime at) const { return From(at).front(); }
  /// That one, and those behind it.
  std::span<const Segment> From(base::WallTime at) const;
};

/// `path`: the file that is written now (those beside it that it continues count), an older one of them, which counts
/// alone, or their directory. A file without a batch has nothing to say and is passed over. Reads the beginning of each
/// file, and the last one; damage elsewhere is found on the way through (WalkRm). Error: nothing is there, or nothing
/// of it can be read, and why.
base::Result<Segments> FindSegments(env::Disk& disk, const std::string& path);

/// A file in memory with its reader.
struct OpenSegment {
  std::unique_ptr<const std::string> bytes;
  JournalReader reader;
  /// Error: names the file.
  static base::Result<OpenSegment> Read(env::Disk& disk, const std::string& path);
};

}  // namespace fairlead::shell
