#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "engine/io/file_system.h"
#include "engine/io/parquet.h"
#include "engine/plan/operators.h"
#include "engine/records/buffer.h"

// Output directories, committed as Hadoop's FileOutputCommitter (algorithm 1) does: an attempt writes aside, one
// attempt of each task is allowed to commit (a rename), the driver moves all parts into place at the end and writes
// _SUCCESS last.

namespace fairlead::engine {

/// What the files hold.
struct SaveFormat {
  std::vector<std::string> columns{};  // their names, of rows
  char separator = ',';                // between fields of a row of CSV
  std::string suffix{};                // of the files' names
  ParquetOptions parquet{};
  FL_FIELDS(columns, separator, suffix, parquet)
};

struct SavePlan {
  std::string directory;
  std::string save;  // the same in every attempt of the driver
  std::string job;   // of this attempt only: names the temporary directory
  SaveFormat format{};
  FL_FIELDS(directory, save, job, format)
};

/// Driver: checks that the directory is free and prepares it. Gives the number of records when an earlier attempt of
/// this application has committed this very save: then there is nothing to do. Throws JobError when something is in the
/// directory that no earlier attempt left.
std::optional<int64_t> PrepareSave(const SavePlan& plan, const std::string& application_id);
/// Driver: all tasks have committed. _SUCCESS tells a later attempt which save it was. Throws JobError.
void CommitSave(const SavePlan& plan, int32_t parts, int64_t records);
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
  const std::string path_;
  std::unique_ptr<OutputFile> file_;
  bool committed_ = false;
  Buffer buffer_;
};

}  // namespace fairlead::engine
