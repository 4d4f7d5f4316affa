#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/history/history.h"
#include "engine/io/files.h"
#include "env/loop.h"
#include "env/timer.h"
#include "process/driver/job_driver.h"

namespace fairlead::engine {

/// Turns what the driver does into the application's history, in memory and, line by line, in a file. The file is only
/// appended to, whole lines at a time, within kFlushSoon of the end of a stage and else every second: what a killed
/// driver had written is readable. A full or failing disk ends the file, never the job. On the loop's thread.
class EventLog : public process::driver::DriverListener {
 public:
  /// Bytes of the file; above it ends of tasks are left out (about 80,000 of them fit), and their stages told as a
  /// whole.
  static constexpr size_t kBytesMax = 48 << 20;
  static constexpr base::Duration kFlushSoon = base::Duration::Millis(20);

  /// `driver` must outlive the log. `path` empty: in memory only.
  EventLog(env::Loop& loop, const process::driver::JobDriver& driver, const std::string& path,
           const std::string& application, const std::string& program);
  ~EventLog() override;

  const history::History& history() const { return history_; }
  /// The program has returned, or failed with `error`, or was `killed`. Gives what the user should know besides:
  /// records left out.
  std::string End(const std::string& error, bool killed = false);

  void OnEvent(const model::tasks::Event& event) override;
  void OnEffect(const model::tasks::Effect& effect) override;
  void OnTaskDone(const wire::engine::TaskDone& done) override;
  void OnTaskBroke(const wire::engine::TaskBroke& broke) override;
  void OnMerged(const process::driver::MergeResult& result) override;

 private:
  struct Outcome {
    std::string reason;
    TaskMetrics metrics;
  };
  void On(const model::tasks::StageSubmitted& stage);
  void On(const model::tasks::LaunchTask& launch);
  void On(const model::tasks::TaskEnded& end);
  void SayWhyNotCloser(const model::tasks::LaunchTask& launch, history::TaskLaunched& task) const;
  bool HasExecutor(const model::tasks::TaskLocation& place) const;
  void Say(const history::Event& event);
  /// Tells of stages that have ended, or of all, what their tasks were, where something has happened since that was
  /// told.
  void SaySums(bool all);
  void Flush();
  void FlushSoon();
  void Tick();
  int64_t Now() const { return loop_.Wall().ms; }

  struct KnownExecutor {
    std::string id;
    std::string host;
  };
  env::Loop& loop_;
  const process::driver::JobDriver& driver_;
  const std::string path_;
  history::History history_;
  FileDescriptor file_;
  std::string buffer_;
  size_t written_ = 0;
  bool full_ = false;
  std::set<std::pair<int32_t, int32_t>> unsummed_;  // stages, with attempts, that the file does not sum as they are
  std::map<model::tasks::DatasetId, std::string> dataset_names_;
  std::map<model::tasks::ShuffleId, std::pair<int32_t, int32_t>> writers_;  // stages, with attempts, by what they write
  std::unordered_map<uint32_t, KnownExecutor> executors_;                   // by index
  std::map<std::string, std::set<std::string>> alive_;                      // ids by host
  std::unordered_map<uint32_t, std::string> loss_;                          // why an executor went, by index
  std::unordered_map<int64_t, history::TaskLaunched> tasks_;                // that run
  std::unordered_map<int64_t, Outcome> outcomes_;                           // reported, not yet judged by the core
  env::Timer timer_{loop_};
  env::Timer soon_timer_{loop_};
};

}  // namespace fairlead::engine
