#include "process/shuffle/merger.h"

#include <algorithm>
#include <cerrno>

#include "base/stored.h"
#include "process/shuffle/block_store.h"
#include "process/shuffle/block_work.h"
#include "process/shuffle/merge_registration.h"
#include "wire/spark_shuffle/merge_statuses.h"

namespace fairlead::process::shuffle {

using endpoints::shuffle::PushPart;
using fairlead::shuffle::MergeBook;
using fairlead::shuffle::MergeEntry;
using fairlead::shuffle::MergeEntryRef;
using model::shuffle::Executor;
using wire::spark_shuffle::MergeStatus;

namespace {

constexpr base::Duration kFailureLogInterval = base::Duration::Seconds(60);
constexpr const char* kSuffixes[] = {".data", ".index", ".meta"};

/// Which root the file is on; kNoRoot: outside of all.
uint32_t RootOf(const Executor& dirs, const std::string& name) {
  const auto place = Confine(dirs, name + ".data");
  return place ? place->root : model::shuffle::LocalDir::kNoRoot;
}

base::Status WriteTo(env::ConfinedFiles& files, const std::vector<std::string>& roots, const Executor& dirs,
                     const std::string& name, int64_t offset, std::string_view bytes) {
  const auto place = Confine(dirs, name);
  if (!place) return base::Error{name + " is outside of the service's local directories", EXDEV};
  return files.WriteAt(roots[place->root], place->below_root, static_cast<uint64_t>(offset), bytes);
}

std::string IndexBytes(const std::vector<int64_t>& offsets) {
  std::string out;
  base::ByteWriter writer(out);
  for (const int64_t offset : offsets) writer.I64(offset);
  return out;
}

PushAnswered ToAnswered(int64_t request, const fairlead::shuffle::PushAnswer& answer,
                        const wire::spark_shuffle::PushBlockStream& push) {
  PushAnswered out{request, {static_cast<uint8_t>(answer.code), {}, answer.failure, answer.closes}};
  if (answer.code != fairlead::shuffle::PushCode::kSuccess) out.reply.block_id = fairlead::shuffle::PushName(push);
  return out;
}

size_t BytesOf(const PushBatch& batch) {
  size_t out = 0;
  for (const PushPart& part : batch.parts) out += part.bytes.size();
  return out;
}

}  // namespace

/// A partition whose files are written at the end of its shuffle, and what came of it.
struct Merger::Finish {
  MergeEntryRef entry;
  MergeStatus status;
  fairlead::shuffle::MergedFiles files;
  fairlead::shuffle::MergedPartition::Unwritten tail;
  base::Status written;
};

Merger::Merger(env::Loop& loop, env::Disk& disk, env::ConfinedFiles& files, env::Store* store, env::Log& log,
               const Config& config, Hooks hooks)
    : loop_(loop),
      disk_(disk),
      files_(files),
      store_(store),
      log_(log),
      config_(config),
      hooks_(std::move(hooks)),
      book_(config.merge_limits),
      published_(book_.View()) {}

base::Status Merger::Recover(std::vector<env::UnreadRow>& unread) {
  if (store_ == nullptr) return {};
  for (const std::string_view table : {MergeBook::kDirsTable, MergeBook::kMergedTable}) {
    const auto rows = store_->Load(std::string(table));
    if (!rows.ok()) return rows.error();
    for (const env::Row& row : *rows) {
      const base::Status read = book_.Restore(table, row.key, row.value.value_or(""), config_.core.local_roots);
      if (read.ok()) continue;
      const std::string value = row.value.value_or("");
      const bool later = table == MergeBook::kDirsTable ? base::IsOfLaterRelease<model::shuffle::MergeDirs>(value)
                                                        : base::IsOfLaterRelease<model::shuffle::MergedShuffle>(value);
      if (later) {
        return base::Error{"state store " + store_->Name() + ": a merge cannot be read: " + read.error().message +
                           ". Start the release that wrote it, restore the state from a backup, or remove the state "
                           "directory, which forgets every registered executor."};
      }
      log_.Error("a row of the state store cannot be read, and the service goes on without it; the row stays there",
                 {{"row", row.key}, {"table", row.table}, {"store", store_->Name()}, {"why", read.error().message}});
      unread.push_back({row.table, row.key, read.error().message});
    }
  }
  book_.Restored();
  Follow();
  return {};
}

// ---- applications --------------------------------------------------------------------------------------------------

void Merger::Register(const std::string& app, const std::vector<std::string>& local_dirs, int32_t sub_dirs,
                      const std::string& shuffle_manager, std::function<void(std::string)> done) {
  auto dirs = ReadMergeDirs(local_dirs, sub_dirs, shuffle_manager, config_.core.local_roots);
  if (!dirs.ok()) return done(dirs.error().message);
  if (!*dirs) return done("");
  if (!IsOneName(app))
    return done("java.lang.IllegalArgumentException: an application's id is part of file names: " + app);
  MergeBook::Registered registered = book_.Register(app, **std::move(dirs));
  Discard(registered.dropped, false);
  if (registered.old_dirs != nullptr) {
    log_.Info("A new attempt of an application begins to merge", {{"app", app}});
    const auto& now = book_.Find(app)->dirs->dirs;
    const auto& before = registered.old_dirs->dirs;
    const bool elsewhere = std::none_of(now.begin(), now.end(), [&](const model::shuffle::LocalDir& dir) {
      return std::any_of(before.begin(), before.end(), [&](const auto& old) { return old.path == dir.path; });
    });
    if (elsewhere) RemoveWhole(registered.old_dirs);
  }
  Follow();
  if (!registered.changed) return done("");
  Commit(std::move(registered.rows), std::move(done));
}

void Merger::StopApp(const std::string& app, bool remove_files) {
  MergeBook::Registered removed = book_.Remove(app);
  if (!removed.changed) return;
  Discard(removed.dropped, false);
  if (remove_files) RemoveWhole(removed.old_dirs);
  Follow();
  Commit(std::move(removed.rows), [](const std::string&) {});
}

/// Everything that was merged below these directories.
void Merger::RemoveWhole(std::shared_ptr<const Executor> dirs) {
  loop_.Offload(
      [&disk = disk_, &roots = config_.core.local_roots, dirs = std::move(dirs)] {
        for (const model::shuffle::LocalDir& dir : dirs->dirs) {
          if (dir.root == model::shuffle::LocalDir::kNoRoot || dir.below_root.empty()) continue;
          static_cast<void>(RemoveDirectory(disk, roots[dir.root], dir.below_root));
        }
      },
      [] {});
}

void Merger::Commit(std::vector<model::StoreRow> rows, std::function<void(std::string error)> done) {
  if (store_ == nullptr || rows.empty()) return done("");
  std::vector<env::Row> changes;
  for (model::StoreRow& row : rows) {
    changes.push_back({std::move(row.table), std::move(row.key),
                       row.remove ? std::nullopt : std::optional<std::string>(std::move(row.value))});
  }
  store_->Commit(std::move(changes),
                 [this, alive = alive_.watch(), done = std::move(done)](const env::CommitStatus& status) {
                   if (!alive) return;
                   if (!status.ok()) log_.Error("Merges cannot be stored", {{"cause", status.error().message}});
                   done(status.ok() ? "" : "java.io.IOException: cannot store: " + status.error().message);
                 });
}

// ---- pushes --------------------------------------------------------------------------------------------------------

void Merger::Push(PushBatch batch) {
  coming_ += BytesOf(batch);
  loop_.Post([this, alive = alive_.watch(), batch = std::move(batch)]() mutable {
    if (alive) OnBatch(batch);
  });
}

/// What the book says is replaced or forgotten; before anything else about the same shuffles is stored.
void Merger::DropOutdated() {
  fairlead::shuffle::MergeBook::Outdated outdated = book_.TakeOutdated();
  Discard(outdated.dropped, true);
  for (auto& [dirs, name] : outdated.names) RemoveFiles(std::move(dirs), {std::move(name)});
  Commit(std::move(outdated.rows), [](const std::string&) {});
}

void Merger::OnBatch(PushBatch& batch) {
  const size_t bytes = BytesOf(batch);
  const size_t before = coming_.fetch_sub(bytes);
  if (before > ComingMax() && before - bytes <= ComingMax()) hooks_.resume();
  std::vector<PushAnswered> answers;
  for (PushPart& part : batch.parts) {
    if (auto answer = OnPart(batch, part)) answers.push_back(*std::move(answer));
  }
  batch.parts.clear();
  DropOutdated();
  WriteSome();
  Follow();
  if (answers.empty()) return;
  batch.reply_on->Post([answer = std::move(batch.answer), connection = batch.connection,
                        answers = std::move(answers)]() mutable { answer(connection, std::move(answers)); });
}

std::optional<PushAnswered> Merger::OnPart(const PushBatch& batch, PushPart& part) {
  const PushKey key{batch.worker, batch.connection, part.request};
  fairlead::shuffle::Push whole;  // most come in one part, and need no place in the map
  fairlead::shuffle::Push* push = &whole;
  const bool begins = part.begin.has_value();
  if (begins) {
    whole.header = *std::move(part.begin);
    if (const auto over = book_.Begin(whole)) return ToAnswered(part.request, *over, whole.header);
    if (!part.end && !part.cut) push = &(pushes_[key] = std::move(whole));
  } else {
    const auto found = pushes_.find(key);
    if (found == pushes_.end()) return std::nullopt;
    push = &found->second;
  }
  if (!part.bytes.empty()) book_.Bytes(*push, part.bytes);
  if (part.cut) book_.Cut(*push);
  std::optional<PushAnswered> out;
  if (part.end) out = ToAnswered(part.request, book_.End(*push), push->header);
  if ((part.end || part.cut) && !begins) pushes_.erase(key);
  return out;
}

// ---- writing -------------------------------------------------------------------------------------------------------

void Merger::WriteSome() {
  if (!book_.wants_writing()) return;
  std::map<uint32_t, std::vector<MergeBook::Write>> by_root;  // a slow disk holds up itself alone
  for (MergeBook::Write& write : book_.TakeWrites()) {
    by_root[RootOf(*write.entry->dirs, write.entry->name)].push_back(std::move(write));
  }
  for (auto& [root, writes] : by_root) WriteThen(std::move(writes));
}

void Merger::WriteThen(std::vector<MergeBook::Write> writes) {
  struct Job {
    std::vector<MergeBook::Write> writes;
    std::vector<base::Status> done;
  };
  auto job = std::make_shared<Job>(Job{std::move(writes), {}});
  loop_.Offload(
      [&files = files_, &roots = config_.core.local_roots, job] {
        for (const MergeBook::Write& write : job->writes) {
          job->done.push_back(WriteTo(files, roots, *write.entry->dirs, write.entry->name + ".data",
                                      write.unwritten.offset, write.unwritten.bytes));
        }
      },
      [this, alive = alive_.watch(), job] {
        if (!alive) return;
        for (size_t i = 0; i < job->writes.size(); ++i) {
          const MergeEntryRef entry = job->writes[i].entry;
          if (!job->done[i].ok()) NoteFailure(entry->name, job->done[i].error());
          book_.Written(std::move(job->writes[i]), job->done[i].ok());
          if (book_.Lost(*entry)) RemoveFiles(entry->dirs, {entry->name});  // there is more room for the others
        }
        FinishReady();
        WriteSome();
        Follow();
      });
}

/// Told once a minute; the rest is counted.
void Merger::NoteFailure(const std::string& name, const base::Error& error) {
  const base::Instant now = loop_.Now();
  const bool first = last_failure_.empty();
  last_failure_ = error.message;
  if (!first && now - failure_logged_ < kFailureLogInterval) return;
  failure_logged_ = now;
  log_.Error("Merged blocks cannot be written", {{"file", name}, {"cause", error.message}});
}

/// After every change: readers get the new view, and who pushes stops or goes on.
void Merger::Follow() {
  if (book_.View() != published_) {
    published_ = book_.View();
    hooks_.publish();
  }
  if (book_.counters().pushes_limited > 0 && !std::exchange(limit_logged_, true)) {
    log_.Warn(
        "Pushed blocks are refused: too many partitions are open for the memory of merges "
        "(fairlead.shuffle.merge.memory), or of one application");
  }
  const bool crowded = book_.crowded();
  if (crowded_.exchange(crowded) && !crowded) hooks_.resume();
}

/// Entries that nobody needs: what is in memory goes at once, files after the write that may be on its way.
void Merger::Discard(const std::vector<MergeEntryRef>& entries, bool remove_files) {
  std::map<std::shared_ptr<const Executor>, std::vector<std::string>> names;
  for (const MergeEntryRef& entry : entries) {
    book_.Release(*entry);
    names[entry->dirs].push_back(entry->name);
  }
  if (!remove_files) return;
  for (auto& [dirs, of_dirs] : names) RemoveFiles(dirs, std::move(of_dirs));
}

void Merger::RemoveFiles(std::shared_ptr<const Executor> dirs, std::vector<std::string> names) {
  if (names.empty()) return;
  loop_.Offload(
      [&disk = disk_, &roots = config_.core.local_roots, dirs = std::move(dirs), names = std::move(names)] {
        for (const std::string& name : names) {
          for (const char* suffix : kSuffixes) {
            const auto place = Confine(*dirs, name + suffix);
            if (place) static_cast<void>(disk.RemoveBeneath(roots[place->root], place->below_root));
          }
        }
      },
      [] {});
}

// ---- the end of a shuffle ------------------------------------------------------------------------------------------

void Merger::Finalize(wire::spark_shuffle::FinalizeShuffleMerge request, env::Loop& reply_on,
                      std::function<void(base::Result<std::string>)> done) {
  loop_.Post([this, alive = alive_.watch(), request = std::move(request), &reply_on, done = std::move(done)]() mutable {
    if (!alive) return;
    OnFinalize({std::move(request), {}, [&reply_on, done = std::move(done)](base::Result<std::string> body) {
                  reply_on.Post([done, body = std::move(body)] { done(body); });
                }});
  });
}

void Merger::OnFinalize(Ending ending) {
  auto finishing = book_.Finalize(ending.request);
  DropOutdated();
  if (!finishing.ok()) return ending.done(finishing.error());
  Discard(finishing->dropped, true);
  ending.entries = std::move(finishing->entries);
  endings_.push_back(std::make_shared<Ending>(std::move(ending)));
  FinishReady();
  Follow();
}

/// Those whose last write has come back.
void Merger::FinishReady() {
  std::vector<std::shared_ptr<Ending>> ready;
  std::erase_if(endings_, [&](const std::shared_ptr<Ending>& ending) {
    const bool waits = std::any_of(ending->entries.begin(), ending->entries.end(),
                                   [](const MergeEntryRef& entry) { return entry->being_written; });
    if (!waits) ready.push_back(ending);
    return !waits;
  });
  for (const auto& ending : ready) WriteEnd(ending);
}

/// Data that no file has, index and meta of each partition, side by side on the roots.
void Merger::WriteEnd(const std::shared_ptr<Ending>& ending) {
  auto finishes = std::make_shared<std::vector<Finish>>();
  std::map<uint32_t, std::vector<size_t>> by_root;
  for (const MergeEntryRef& entry : ending->entries) {
    if (book_.Lost(*entry)) continue;
    if (entry->partition.maps().empty()) {
      RemoveFiles(entry->dirs, {entry->name});  // of pushes that were cut
      continue;
    }
    by_root[RootOf(*entry->dirs, entry->name)].push_back(finishes->size());
    finishes->push_back({entry, {}, {}, {}, {}});
  }
  auto left = std::make_shared<size_t>(by_root.size());
  if (by_root.empty()) return Answer(ending, *finishes);
  for (auto& [root, which] : by_root) {
    for (const size_t i : which) {
      Finish& one = (*finishes)[i];
      one.files = one.entry->partition.Finish();
      one.tail = one.entry->partition.Take();
      one.status = {one.entry->reduce_id, one.entry->partition.bytes(), one.entry->partition.maps()};
    }
    loop_.Offload(
        [&files = files_, &roots = config_.core.local_roots, finishes, which = which] {
          for (const size_t i : which) WriteFiles(files, roots, (*finishes)[i]);
        },
        [this, alive = alive_.watch(), ending, finishes, left] {
          if (alive && --*left == 0) Answer(ending, *finishes);
        });
  }
}

void Merger::WriteFiles(env::ConfinedFiles& files, const std::vector<std::string>& roots, Finish& one) {
  const Executor& dirs = *one.entry->dirs;
  const std::string& name = one.entry->name;
  const bool makes = one.tail.offset == 0;  // even when no byte was merged
  if (makes || !one.tail.bytes.empty()) {
    one.written = WriteTo(files, roots, dirs, name + ".data", one.tail.offset, one.tail.bytes);
  }
  if (one.written.ok() && one.entry->partition.overhangs()) {
    const auto place = Confine(dirs, name + ".data");  // as before
    one.written = files.Shorten(roots[place->root], place->below_root, static_cast<uint64_t>(one.status.bytes));
  }
  if (one.written.ok()) one.written = WriteTo(files, roots, dirs, name + ".meta", 0, one.files.meta);
  if (one.written.ok()) one.written = WriteTo(files, roots, dirs, name + ".index", 0, IndexBytes(one.files.offsets));
}

/// What is merged is stored before anybody is told of it.
void Merger::Answer(const std::shared_ptr<Ending>& ending, std::vector<Finish>& finishes) {
  std::vector<MergeStatus> statuses;
  std::vector<int32_t> reduce_ids;
  for (Finish& one : finishes) {
    if (!one.written.ok()) {
      NoteFailure(one.entry->name, one.written.error());
      book_.NotFinished();
      RemoveFiles(one.entry->dirs, {one.entry->name});
      continue;
    }
    reduce_ids.push_back(one.status.reduce_id);
    statuses.push_back(std::move(one.status));
  }
  const auto& request = ending->request;
  auto rows = book_.Finished(request, std::move(reduce_ids));
  if (!rows) {
    for (const Finish& one : finishes) RemoveFiles(one.entry->dirs, {one.entry->name});
    statuses.clear();
    rows.emplace();
  }
  for (const MergeEntryRef& entry : ending->entries) book_.Release(*entry);
  ending->entries.clear();
  std::string body = wire::spark_shuffle::EncodeMessage(
      wire::spark_shuffle::MakeMergeStatuses(request.shuffle_id, request.shuffle_merge_id, statuses));
  log_.Info("A shuffle's merge has ended", {{"app", request.app_id},
                                            {"shuffle", std::to_string(request.shuffle_id)},
                                            {"partitions", std::to_string(statuses.size())}});
  Follow();
  Commit(*std::move(rows), [ending, body = std::move(body)](const std::string& error) {
    ending->done(error.empty() ? base::Result<std::string>(body) : base::Result<std::string>(base::Error{error}));
  });
}

void Merger::Remove(wire::spark_shuffle::RemoveShuffleMerge request, env::Loop& reply_on,
                    std::function<void(base::Status)> done) {
  loop_.Post([this, alive = alive_.watch(), request = std::move(request), &reply_on, done = std::move(done)] {
    if (!alive) return;
    auto removal = book_.RemoveMerge(request);
    DropOutdated();
    const auto reply = [&reply_on, done](const base::Status& status) {
      reply_on.Post([done, status] { done(status); });
    };
    if (!removal.ok()) return reply(removal.error());
    Discard(removal->dropped, true);
    RemoveFiles(removal->dirs, std::move(removal->names));
    Follow();
    Commit(std::move(removal->rows), [reply](const std::string&) { reply({}); });
  });
}

}  // namespace fairlead::process::shuffle
