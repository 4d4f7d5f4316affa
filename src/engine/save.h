#pragma once

#include <cstdint>
#include <string>

#include "base/fields.h"
#include "engine/buffer.h"
#include "engine/files.h"
#include "engine/operators.h"

// Output directories, committed as Hadoop's FileOutputCommitter (algorithm 1) does: an attempt writes aside, one
// attempt of each task is allowed to commit (a rename), the driver moves all parts into place at the end and writes
// _SUCCESS last.

namespace fairlead::engine {

struct SavePlan {
  std::string directory;
  std::string job;  // unique: names the temporary directory
  std::string suffix;
  FL_FIELDS(directory, job, suffix)
};

/// Driver: checks that the directory is free and prepares it. Throws JobError when something is in it that an earlier
/// attempt of this application did not leave.
void PrepareSave(const SavePlan& plan, const std::string& application_id);
/// Driver: all tasks have committed. Throws JobError.
void CommitSave(const SavePlan& plan, int32_t parts);
/// Driver: the job failed; removes what it left. Best effort.
void AbortSave(const SavePlan& plan) noexcept;

/// One task attempt's file. Without Commit() nothing of it stays.
class PartFile {
 public:
  PartFile(TaskContext& task, const SavePlan& plan);
  ~PartFile();
  Buffer& buffer() { return buffer_; }
  /// Call after each record; writes when enough is buffered.
  void Written() {
    if (buffer_.size() >= kFlush) Flush();
  }
  /// Asks the driver and renames. Throws CommitDenied.
  void Commit();

 private:
  static constexpr size_t kFlush = 256 << 10;
  void Flush();
  TaskContext& task_;
  const SavePlan plan_;
  std::string attempt_directory_;
  std::string path_;
  FileDescriptor file_;
  Buffer buffer_;
};

}  // namespace fairlead::engine
