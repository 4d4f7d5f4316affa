#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "env/alive.h"
#include "env/confined_files.h"
#include "env/disk.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/store.h"
#include "process/shuffle/config.h"
#include "process/shuffle/merge_owner.h"
#include "shuffle/merge_book.h"

namespace fairlead::process::shuffle {

/// The merges of a service: the book on the core's loop, files written off it. Blocks are kept in memory until half of
/// what they may take is used, then those partitions that have most are written; no file stays open. A shuffle's index
/// and meta files are written at its end, before the answer that says what is merged: whoever got that answer finds it
/// after a kill -9, too, and of a merge that had not ended nothing is claimed.
class Merger final : public MergeOwner {
 public:
  /// What the service does for it.
  struct Hooks {
    std::function<void()> publish;  // View() has changed
    std::function<void()> resume;   // crowded() is no more
  };
  /// All references must outlive it; `store` may be nullptr.
  Merger(env::Loop& loop, env::Disk& disk, env::ConfinedFiles& files, env::Store* store, env::Log& log,
         const Config& config, Hooks hooks);

  /// Reads the store. Rows that cannot be read are left there, and go to `unread`.
  base::Status Recover(std::vector<env::UnreadRow>& unread);
  /// An executor has registered with this description of its shuffle manager, which may say where merged files lie.
  /// `done` gets the first line of Spark's exception, or nothing, once it is stored.
  void Register(const std::string& app, const std::vector<std::string>& local_dirs, int32_t sub_dirs,
                const std::string& shuffle_manager, std::function<void(std::string)> done);
  /// The application has ended; `remove_files`: nobody else removes what it merged.
  void StopApp(const std::string& app, bool remove_files);

  std::shared_ptr<const fairlead::shuffle::MergeView> View() const { return book_.View(); }
  const fairlead::shuffle::MergeBook& book() const { return book_; }
  /// Of a write; empty: none has failed.
  const std::string& last_failure() const { return last_failure_; }

  // ---- MergeOwner, from any worker's thread
  void Push(PushBatch batch) override;
  bool crowded() const override { return crowded_.load(std::memory_order_relaxed) || coming_ > ComingMax(); }
  void Finalize(wire::spark_shuffle::FinalizeShuffleMerge request, env::Loop& reply_on,
                std::function<void(base::Result<std::string>)> done) override;
  void Remove(wire::spark_shuffle::RemoveShuffleMerge request, env::Loop& reply_on,
              std::function<void(base::Status)> done) override;

 private:
  using PushKey = std::tuple<uintptr_t, uint64_t, int64_t>;  // worker, connection, request
  struct Ending {
    wire::spark_shuffle::FinalizeShuffleMerge request;
    std::vector<fairlead::shuffle::MergeEntryRef> entries;
    std::function<void(base::Result<std::string>)> done;
  };
  struct Finish;

  /// Of bytes that workers have read and the book has not seen.
  size_t ComingMax() const { return config_.merge_limits.memory_bytes / 8; }
  void DropOutdated();
  void OnBatch(PushBatch& batch);
  std::optional<PushAnswered> OnPart(const PushBatch& batch, endpoints::shuffle::PushPart& part);
  void WriteSome();
  void WriteThen(std::vector<fairlead::shuffle::MergeBook::Write> writes);
  void OnFinalize(Ending ending);
  void FinishReady();
  void WriteEnd(const std::shared_ptr<Ending>& ending);
  static void WriteFiles(env::ConfinedFiles& files, const std::vector<std::string>& roots, Finish& one);
  void Answer(const std::shared_ptr<Ending>& ending, std::vector<Finish>& finishes);
  void Commit(std::vector<model::StoreRow> rows, std::function<void(std::string error)> done);
  void RemoveFiles(std::shared_ptr<const model::shuffle::Executor> dirs, std::vector<std::string> names);
  void RemoveWhole(std::shared_ptr<const model::shuffle::Executor> dirs);
  void Discard(const std::vector<fairlead::shuffle::MergeEntryRef>& entries, bool remove_files);
  void Follow();
  void NoteFailure(const std::string& what, const base::Error& error);

  env::Loop& loop_;
  env::Disk& disk_;
  env::ConfinedFiles& files_;
  env::Store* const store_;
  env::Log& log_;
  const Config& config_;
  const Hooks hooks_;
  fairlead::shuffle::MergeBook book_;
  std::shared_ptr<const fairlead::shuffle::MergeView> published_;
  std::map<PushKey, fairlead::shuffle::Push> pushes_;  // that have begun and not ended
  std::vector<std::shared_ptr<Ending>> endings_;       // that wait for writes
  std::atomic<bool> crowded_ = false;
  std::atomic<size_t> coming_ = 0;
  base::Instant failure_logged_;
  std::string last_failure_;
  bool limit_logged_ = false;
  env::Alive alive_;
};

}  // namespace fairlead::process::shuffle
