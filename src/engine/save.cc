#include "engine/save.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "engine/errors.h"

namespace fairlead::engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kTemporary = "_temporary";
constexpr const char* kSuccess = "_SUCCESS";

std::string PartName(const SavePlan& plan, int32_t partition) {
  char name[32];
  std::snprintf(name, sizeof name, "part-%05d", partition);
  return name + plan.suffix;
}
std::string JobDirectory(const SavePlan& plan) { return plan.directory + "/" + kTemporary + "/" + plan.job; }
std::string Committed(const SavePlan& plan) { return JobDirectory(plan) + "/committed"; }

/// The records of this save when an earlier attempt of the driver has finished it.
std::optional<int64_t> CommittedBefore(const SavePlan& plan) {
  std::ifstream in(plan.directory + "/" + kSuccess);
  std::string save;
  int64_t records = 0;
  if (in >> save >> records && save == plan.save) return records;
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> PrepareSave(const SavePlan& plan, const std::string& application_id) {
  std::error_code error;
  if (fs::exists(plan.directory, error)) {
    if (!fs::is_directory(plan.directory)) throw JobError("cannot save to " + plan.directory + ": it is a file");
    if (const std::optional<int64_t> records = CommittedBefore(plan)) return records;
    bool ours = false, foreign = false;
    for (const fs::directory_entry& entry : fs::directory_iterator(plan.directory, error)) {
      if (entry.path().filename() != kTemporary) {
        foreign = true;
        continue;
      }
      for (const fs::directory_entry& job : fs::directory_iterator(entry.path(), error)) {
        ours = ours || job.path().filename().string().starts_with(application_id + "-");
      }
    }
    // What an earlier attempt of this driver left half moved is ours to replace; anything else is a user's.
    if (foreign && !ours) throw JobError("cannot save to " + plan.directory + ": it exists and is not empty");
    if (ours) {
      for (const fs::directory_entry& entry : fs::directory_iterator(plan.directory, error)) RemoveAll(entry.path());
    }
  }
  try {
    MakeDirectories(Committed(plan));
  } catch (const TaskError& failed) {
    throw JobError(std::string("cannot save: ") + failed.what());
  }
  return std::nullopt;
}

void CommitSave(const SavePlan& plan, int32_t parts, int64_t records) {
  try {
    for (int32_t i = 0; i < parts; ++i) {
      const std::string name = PartName(plan, i);
      RenameFile(Committed(plan) + "/" + name, plan.directory + "/" + name);
    }
    const std::string aside = JobDirectory(plan) + "/" + kSuccess;
    WriteAll(CreateFile(aside).get(), aside, plan.save + " " + std::to_string(records) + "\n");
    RenameFile(aside, plan.directory + "/" + kSuccess);
    RemoveAll(plan.directory + "/" + kTemporary);
  } catch (const TaskError& failed) {
    throw JobError(std::string("cannot commit the output: ") + failed.what());
  }
}

void AbortSave(const SavePlan& plan) noexcept {
  RemoveAll(plan.directory + "/" + kTemporary);
  std::error_code ignored;
  fs::remove(plan.directory, ignored);  // only when it is empty
}

PartFile::PartFile(TaskContext& task, const SavePlan& plan)
    : task_(task), plan_(plan), attempt_directory_(JobDirectory(plan) + "/" + std::to_string(task.task_id)) {
  // The job's directory is the driver's to make: a late attempt must not bring back what an abort has removed.
  if (!fs::exists(Committed(plan))) throw TaskError("cannot save: " + JobDirectory(plan) + " is gone");
  MakeDirectories(attempt_directory_);
  path_ = attempt_directory_ + "/" + PartName(plan, task.partition);
  file_ = CreateFile(path_);
  buffer_.Reserve(kFlush + (64 << 10));
}

PartFile::~PartFile() { RemoveAll(attempt_directory_); }

void PartFile::Flush() {
  WriteAll(file_.get(), path_, buffer_.view());
  task_.metrics.bytes_written += static_cast<int64_t>(buffer_.size());
  buffer_.Clear();
}

void PartFile::Commit() {
  Flush();
  task_.CheckKilled();
  if (!task_.MayCommit()) throw CommitDenied();
  RenameFile(path_, Committed(plan_) + "/" + PartName(plan_, task_.partition));
}

}  // namespace fairlead::engine
