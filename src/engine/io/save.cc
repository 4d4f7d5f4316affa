#include "engine/io/save.h"

#include <cstdio>
#include <sstream>

#include "engine/records/errors.h"

namespace fairlead::engine {

namespace {

constexpr const char* kTemporary = "_temporary";
constexpr const char* kSuccess = "_SUCCESS";

std::string PartName(const SavePlan& plan, int32_t partition) {
  char name[32];
  std::snprintf(name, sizeof name, "part-%05d", partition);
  return name + plan.format.suffix;
}
std::string JobDirectory(const SavePlan& plan) { return plan.directory + "/" + kTemporary + "/" + plan.job; }
std::string Committed(const SavePlan& plan) { return JobDirectory(plan) + "/committed"; }

/// The records of this save when an earlier attempt of the driver has finished it.
std::optional<int64_t> CommittedBefore(FileSystem& files, const SavePlan& plan) {
  const std::string path = plan.directory + "/" + kSuccess;
  if (!files.Status(path)) return std::nullopt;
  char text[256];
  const size_t size = files.Open(path, 0)->Read(text, sizeof text);
  std::istringstream in(std::string(text, size));
  std::string save;
  int64_t records = 0;
  if (in >> save >> records && save == plan.save) return records;
  return std::nullopt;
}

/// What an earlier attempt of this driver left half moved is ours to replace; anything else is a user's.
void ClearDirectory(FileSystem& files, const SavePlan& plan, const std::string& application_id) {
  bool ours = false, foreign = false;
  const std::vector<FileStatus> found = files.List(plan.directory);
  for (const FileStatus& entry : found) {
    if (!entry.path.ends_with(std::string("/") + kTemporary)) {
      foreign = true;
      continue;
    }
    for (const FileStatus& job : files.List(entry.path)) {
      ours = ours || job.path.substr(entry.path.size() + 1).starts_with(application_id + "-");
    }
  }
  if (foreign && !ours) throw JobError("cannot save to " + plan.directory + ": it exists and is not empty");
  if (!ours) return;
  for (const FileStatus& entry : found) files.Remove(entry.path);
}

}  // namespace

std::optional<int64_t> PrepareSave(const SavePlan& plan, const std::string& application_id) {
  FileSystem& files = FileSystemOf(plan.directory);
  try {
    if (const std::optional<FileStatus> status = files.Status(plan.directory)) {
      if (!status->directory) throw JobError("cannot save to " + plan.directory + ": it is a file");
      if (const std::optional<int64_t> records = CommittedBefore(files, plan)) return records;
      ClearDirectory(files, plan, application_id);
    }
    files.MakeDirectories(Committed(plan));
  } catch (const TaskError& failed) {
    throw JobError(std::string("cannot save: ") + failed.what());
  }
  return std::nullopt;
}

void CommitSave(const SavePlan& plan, int32_t parts, int64_t records) {
  FileSystem& files = FileSystemOf(plan.directory);
  try {
    for (int32_t i = 0; i < parts; ++i) {
      const std::string name = PartName(plan, i);
      files.Rename(Committed(plan) + "/" + name, plan.directory + "/" + name);
    }
    const std::string aside = JobDirectory(plan) + "/" + kSuccess;
    const std::unique_ptr<OutputFile> success = files.Create(aside);
    success->Write(plan.save + " " + std::to_string(records) + "\n");
    success->Close();
    files.Rename(aside, plan.directory + "/" + kSuccess);
    files.Remove(plan.directory + "/" + kTemporary);
  } catch (const TaskError& failed) {
    throw JobError(std::string("cannot commit the output: ") + failed.what());
  }
}

void AbortSave(const SavePlan& plan) noexcept {
  FileSystem& files = FileSystemOf(plan.directory);
  try {
    // Attempts that begin while the tree is removed would keep its directories: they find the name gone instead.
    files.Rename(JobDirectory(plan), JobDirectory(plan) + ".aborted");
  } catch (const std::exception&) {
    // Not there, or out of reach.
  }
  files.Remove(plan.directory + "/" + kTemporary);
  files.RemoveEmpty(plan.directory);
}

// Into the job's directory, which is the driver's to make: a late attempt brings nothing back that an abort has
// removed.
PartFile::PartFile(TaskContext& task, const SavePlan& plan)
    : task_(task),
      plan_(plan),
      path_(JobDirectory(plan) + "/" + std::to_string(task.task_id) + "-" + PartName(plan, task.partition)),
      file_(FileSystemOf(path_).Create(path_)) {
  buffer_.Reserve(kFlush + (64 << 10));
}

PartFile::~PartFile() {
  if (!committed_) FileSystemOf(path_).Remove(path_);
}

void PartFile::Flush() {
  file_->Write(buffer_.view());
  task_.metrics.bytes_written += static_cast<int64_t>(buffer_.size());
  buffer_.Clear();
}

void PartFile::Commit() {
  Flush();
  file_->Close();
  task_.CheckKilled();
  if (!task_.MayCommit()) throw CommitDenied();
  FileSystemOf(path_).Rename(path_, Committed(plan_) + "/" + PartName(plan_, task_.partition));
  committed_ = true;
}

}  // namespace fairlead::engine
