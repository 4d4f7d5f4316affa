#include "engine/save.h"

#include <cstdio>
#include <filesystem>

#include "engine/errors.h"

namespace fairlead::engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kTemporary = "_temporary";

std::string PartName(const SavePlan& plan, int32_t partition) {
  char name[32];
  std::snprintf(name, sizeof name, "part-%05d", partition);
  return name + plan.suffix;
}
std::string JobDirectory(const SavePlan& plan) { return plan.directory + "/" + kTemporary + "/" + plan.job; }
std::string Committed(const SavePlan& plan) { return JobDirectory(plan) + "/committed"; }

}  // namespace

void PrepareSave(const SavePlan& plan, const std::string& application_id) {
  std::error_code error;
  if (fs::exists(plan.directory, error)) {
    if (!fs::is_directory(plan.directory)) throw JobError("cannot save to " + plan.directory + ": it is a file");
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
}

void CommitSave(const SavePlan& plan, int32_t parts) {
  try {
    for (int32_t i = 0; i < parts; ++i) {
      const std::string name = PartName(plan, i);
      RenameFile(Committed(plan) + "/" + name, plan.directory + "/" + name);
    }
    CreateFile(plan.directory + "/_SUCCESS");
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
