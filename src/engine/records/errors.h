#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

// Exceptions of the engine: they carry a failure from the depth of a task (or of the driver program) to the one place
// that reports it. They do not cross a process.

namespace fairlead::engine {

/// A job or its set-up failed; what() is for the user.
class JobError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A task cannot go on for a reason the user can act on (bad input, full disk, ...).
class TaskError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The driver asked the task to stop.
class TaskKilled : public std::runtime_error {
 public:
  TaskKilled() : std::runtime_error("killed") {}
};

/// Another attempt of the task was allowed to commit.
class CommitDenied : public std::runtime_error {
 public:
  CommitDenied() : std::runtime_error("another attempt commits") {}
};

/// A shuffle block could not be read: its map output counts as lost.
class FetchFailed : public std::runtime_error {
 public:
  FetchFailed(int32_t shuffle_id, int32_t map, uint32_t place, const std::string& why)
      : std::runtime_error(why), shuffle(shuffle_id), map_index(map), source(place) {}
  int32_t shuffle;
  int32_t map_index;  // -1: the whole place is suspect
  uint32_t source;    // ExecutorIndex value
};

}  // namespace fairlead::engine
