#include "shuffle/merge_book.h"

#include <algorithm>

#include "base/stored.h"
#include "shuffle/core.h"

namespace fairlead::shuffle {
namespace {

using model::StoreRow;
using model::shuffle::Executor;
using model::shuffle::MergedShuffle;
using wire::spark_shuffle::FinalizeShuffleMerge;
using wire::spark_shuffle::PushBlockStream;
using wire::spark_shuffle::RemoveShuffleMerge;

std::string NotRegistered(const std::string& app) {
  return "java.lang.IllegalArgumentException: application " + app + " is not registered or NM was restarted.";
}

base::Error OtherAttempt(int32_t said, const char* message, int32_t known, const std::string& app) {
  return {"java.lang.IllegalArgumentException: The attempt id " + std::to_string(said) + " in this " + message +
          " message does not match with the current attempt id " + std::to_string(known) +
          " stored in shuffle service for application " + app};
}

std::string AppKey(const std::string& app) {
  std::string key;
  base::Encode(key, app);
  return key;
}

std::string ShuffleKey(const std::string& app, int32_t shuffle_id) {
  std::string key = AppKey(app);
  base::Encode(key, shuffle_id);
  return key;
}

StoreRow ShuffleRow(const std::string& app, int32_t shuffle_id, const MergedShuffle& merged) {
  return {std::string(MergeBook::kMergedTable), ShuffleKey(app, shuffle_id), base::EncodeStored(merged), false};
}

StoreRow NoShuffleRow(const std::string& app, int32_t shuffle_id) {
  return {std::string(MergeBook::kMergedTable), ShuffleKey(app, shuffle_id), {}, true};
}

}  // namespace

std::string MergedFileName(std::string_view app, int32_t shuffle_id, int32_t merge_id, int32_t reduce_id) {
  return "shuffleMerged_" + std::string(app) + "_" + std::to_string(shuffle_id) + "_" + std::to_string(merge_id) + "_" +
         std::to_string(reduce_id);
}

std::string PushName(const PushBlockStream& push) {
  return "shufflePush_" + std::to_string(push.shuffle_id) + "_" + std::to_string(push.shuffle_merge_id) + "_" +
         std::to_string(push.map_index) + "_" + std::to_string(push.reduce_id);
}

// ---- sums ----------------------------------------------------------------------------------------------------------

/// Runs `change` on the entry and keeps the sums.
template <class Change>
auto MergeBook::Count(MergeEntry& entry, Change&& change) {
  const size_t unwritten = entry.partition.unwritten();
  const auto after = [&] {
    if (entry.open) unwritten_ += entry.partition.unwritten() - unwritten;
    const size_t now = entry.partition.memory_bytes() + entry.name.capacity() + sizeof(MergeEntry);
    memory_ += now - entry.counted;
    entry.counted = now;
  };
  if constexpr (std::is_void_v<decltype(change())>) {
    change();
    after();
  } else {
    auto out = change();
    after();
    return out;
  }
}

void MergeBook::CountDeferred(Push& push, size_t before) {
  const size_t now = push.block.deferred.size();
  deferred_ += now - before;
  memory_ += now - before;
  deferred_blocks_ += static_cast<size_t>(now > 0) - static_cast<size_t>(before > 0);
}

void MergeBook::Release(MergeEntry& entry) {
  memory_ -= entry.counted;
  entry.counted = 0;
}

// ---- applications --------------------------------------------------------------------------------------------------

MergeBook::App* MergeBook::FindApp(std::string_view app) {
  const auto found = apps_.find(app);
  return found == apps_.end() ? nullptr : &found->second;
}

const MergedApp* MergeBook::Find(std::string_view app) const {
  const std::shared_ptr<const MergeView> view = View();
  const auto found = view->find(app);
  return found == view->end() ? nullptr : found->second.get();
}

std::shared_ptr<const MergeView> MergeBook::View() const {
  if (unpublished_.empty()) return view_;
  auto view = std::make_shared<MergeView>(*view_);
  for (const std::string& name : std::exchange(unpublished_, {})) {
    const auto app = apps_.find(name);
    if (app == apps_.end()) {
      view->erase(name);
      continue;
    }
    (*view)[name] =
        std::make_shared<const MergedApp>(MergedApp{app->second.attempt, app->second.dirs, app->second.latest});
    ++copies_;
  }
  return view_ = std::move(view);
}

/// After a change of the shuffle.
void MergeBook::Know(App& app, int32_t shuffle_id) {
  const Shuffle& shuffle = app.shuffles.at(shuffle_id);
  app.latest.Set(shuffle_id, {shuffle.merge_id, shuffle.removed});
  if (shuffle.removed) {
    app.removed.insert(shuffle_id);
  } else {
    app.removed.erase(shuffle_id);
  }
}

/// Open partitions that nobody may push to or read any more.
std::vector<MergeEntryRef> MergeBook::Drop(Shuffle& shuffle, App& app) {
  std::vector<MergeEntryRef> out;
  for (auto& [reduce, entry] : shuffle.partitions) {
    unwritten_ -= entry->partition.unwritten();
    entry->open = false;
    out.push_back(std::move(entry));
  }
  open_ -= out.size();
  app.use.open_partitions -= out.size();
  shuffle.partitions.clear();
  return out;
}

MergeBook::Registered MergeBook::Forget(App& app, const std::string& name) {
  Registered out;
  out.changed = true;
  out.old_dirs = app.dirs;
  for (auto& [id, shuffle] : app.shuffles) {
    if (shuffle.finished) out.rows.push_back(NoShuffleRow(name, id));
    for (MergeEntryRef& entry : Drop(shuffle, app)) out.dropped.push_back(std::move(entry));
  }
  return out;
}

MergeBook::Registered MergeBook::Register(const std::string& name, model::shuffle::MergeDirs dirs) {
  App* known = FindApp(name);
  if (known != nullptr && dirs.attempt <= known->attempt) return {};
  Registered out = known == nullptr ? Registered{} : Forget(*known, name);
  out.changed = true;
  dirs.dirs.generation = ++last_generation_;
  out.rows.push_back({std::string(kDirsTable), AppKey(name), base::EncodeStored(dirs), false});
  App& app = apps_[name];
  const AppUse use = app.use;
  app = {dirs.attempt, std::make_shared<const Executor>(std::move(dirs.dirs)), {}, use};
  Publish(name);
  return out;
}

MergeBook::Registered MergeBook::Remove(const std::string& name) {
  App* app = FindApp(name);
  if (app == nullptr) return {};
  Registered out = Forget(*app, name);
  out.rows.push_back({std::string(kDirsTable), AppKey(name), {}, true});
  apps_.erase(name);
  Publish(name);
  return out;
}

// ---- pushes --------------------------------------------------------------------------------------------------------

std::optional<PushAnswer> MergeBook::Begin(Push& push) {
  const PushBlockStream& header = push.header;
  App* app = FindApp(header.app_id);
  if (app == nullptr) return PushAnswer{PushCode::kSuccess, NotRegistered(header.app_id), true};
  if (header.app_attempt_id != app->attempt) {
    ++app->use.refused;
    ++counters_.pushes_of_other_attempts;
    return PushAnswer{PushCode::kTooOldAttempt, {}, true};
  }
  if (header.map_index < 0) {
    return PushAnswer{PushCode::kSuccess,
                      "java.lang.IllegalArgumentException: a map index is not negative: " + PushName(header), true};
  }
  push.block.map_index = header.map_index;
  Open(push, *app);
  if (push.entry == nullptr) {
    ++counters_.late_block_pushes;
    if (push.refused) ++app->use.refused;
    return std::nullopt;
  }
  if (!Lost(*push.entry)) return std::nullopt;
  push.entry.reset();
  ++app->use.refused;
  ++counters_.pushes_to_lost;
  return PushAnswer{
      PushCode::kSuccess,
      "java.lang.IllegalStateException: IOExceptions exceeded the threshold when merging " + PushName(header), true};
}

/// Whether this shuffle is known already, or there is room for it. A removed one is forgotten first: it only says that
/// pushes to it come too late, and Spark counts its shuffles upwards.
bool MergeBook::MayKnow(int32_t shuffle_id, App& app, const std::string& name) {
  if (app.shuffles.size() < limits_.shuffles_per_app || app.shuffles.contains(shuffle_id)) return true;
  if (app.removed.empty()) return false;
  const int32_t forgotten = *app.removed.begin();
  outdated_.rows.push_back(NoShuffleRow(name, forgotten));
  app.shuffles.erase(forgotten);
  app.latest.Erase(forgotten);
  app.removed.erase(forgotten);
  return true;
}

/// Finds or begins the partition; leaves push.entry empty when the block is merged already or comes too late.
void MergeBook::Open(Push& push, App& app) {
  const PushBlockStream& header = push.header;
  if (!MayKnow(header.shuffle_id, app, header.app_id)) {
    ++counters_.pushes_limited;
    push.refused = PushCode::kTooLate;
    return;
  }
  const auto [place, added] = app.shuffles.try_emplace(header.shuffle_id);
  Shuffle& shuffle = place->second;
  if (!added && shuffle.merge_id > header.shuffle_merge_id) {
    ++counters_.pushes_stale;
    push.refused = PushCode::kStale;
    return;
  }
  if (!added && shuffle.merge_id == header.shuffle_merge_id && shuffle.finished) {
    ++counters_.pushes_late;
    push.refused = PushCode::kTooLate;
    return;
  }
  if (added || shuffle.merge_id < header.shuffle_merge_id) Replace(shuffle, app, header);
  const auto found = shuffle.partitions.find(header.reduce_id);
  const MergeEntryRef entry = found != shuffle.partitions.end() ? found->second : Begin(shuffle, app, header);
  if (entry == nullptr || Lasting() > limits_.memory_bytes / 8 * 5) {
    ++counters_.pushes_limited;
    push.refused = PushCode::kTooLate;
  } else if (entry->partition.Has(header.map_index)) {
    ++counters_.pushes_twice;
  } else {
    push.entry = entry;
  }
}

/// A merge begins; an earlier one of the shuffle is over.
void MergeBook::Replace(Shuffle& shuffle, App& app, const PushBlockStream& header) {
  for (MergeEntryRef& entry : Drop(shuffle, app)) outdated_.dropped.push_back(std::move(entry));
  for (const int32_t reduce : shuffle.reduce_ids) {
    outdated_.names.emplace_back(app.dirs, MergedFileName(header.app_id, header.shuffle_id, shuffle.merge_id, reduce));
  }
  if (shuffle.finished) outdated_.rows.push_back(NoShuffleRow(header.app_id, header.shuffle_id));
  shuffle = {header.shuffle_merge_id, false, {}, {}, false};
  Know(app, header.shuffle_id);
  Publish(header.app_id);
}

/// nullptr: there is no room for another partition.
MergeEntryRef MergeBook::Begin(Shuffle& shuffle, App& app, const PushBlockStream& header) {
  const bool full = app.use.open_partitions >= limits_.partitions_per_app || Lasting() > limits_.memory_bytes / 2;
  if (full) return nullptr;
  auto entry = std::make_shared<MergeEntry>(
      MergeEntry{MergedPartition(limits_.chunk_bytes_min), header.reduce_id, app.dirs,
                 MergedFileName(header.app_id, header.shuffle_id, header.shuffle_merge_id, header.reduce_id)});
  Count(*entry, [] {});
  shuffle.partitions.emplace(header.reduce_id, entry);
  ++open_;
  ++app.use.open_partitions;
  return entry;
}

void MergeBook::Bytes(Push& push, std::string_view bytes) {
  push.received += static_cast<int64_t>(bytes.size());
  if (push.entry == nullptr) {
    counters_.ignored_block_bytes += bytes.size();
    return;
  }
  const size_t before = push.block.deferred.size();
  const bool flooded = memory_ > 2 * limits_.memory_bytes;  // by who does not wait
  if (flooded && push.entry->open) {
    Count(*push.entry, [&] { push.entry->partition.OnFailure(push.block); });
  }
  if (flooded || !push.entry->open || Lost(*push.entry)) {
    push.block.deferred = {};
    push.block.dropped = true;
  } else {
    const bool may_defer = deferred_ + bytes.size() <= limits_.memory_bytes / 8;
    Count(*push.entry, [&] { push.entry->partition.OnBytes(push.block, bytes, may_defer); });
  }
  CountDeferred(push, before);
}

/// Why a push whose partition takes no more blocks is refused: isTooLate is asked before isStale.
PushCode MergeBook::LateOrStale(const Push& push) const {
  const auto app = apps_.find(push.header.app_id);
  if (app == apps_.end()) return PushCode::kTooLate;
  const auto found = app->second.shuffles.find(push.header.shuffle_id);
  if (found == app->second.shuffles.end() || found->second.finished) return PushCode::kTooLate;
  return found->second.partitions.contains(push.header.reduce_id) ? PushCode::kStale : PushCode::kTooLate;
}

PushAnswer MergeBook::End(Push& push) {
  App* app = FindApp(push.header.app_id);
  if (push.refused) return PushAnswer{*push.refused, {}, false};
  if (push.entry == nullptr) return {};
  const MergeEntryRef entry = std::exchange(push.entry, nullptr);
  if (entry->open && app != nullptr) return EndOpen(push, *entry, *app);
  const size_t before = push.block.deferred.size();
  push.block.deferred = {};
  CountDeferred(push, before);
  const PushCode code = LateOrStale(push);
  ++(code == PushCode::kStale ? counters_.stale_block_pushes : counters_.late_block_pushes);
  ++(code == PushCode::kStale ? counters_.pushes_stale : counters_.pushes_late);
  counters_.ignored_block_bytes += static_cast<uint64_t>(push.received);
  if (app != nullptr) ++app->use.refused;
  return PushAnswer{code, {}, false};
}

PushAnswer MergeBook::EndOpen(Push& push, MergeEntry& entry, App& app) {
  if (Lost(entry)) {
    ++app.use.refused;
    ++counters_.pushes_to_lost;
    return {PushCode::kSuccess,
            "java.io.IOException: Failure post-processing complete stream; failing this rpc and leaving channel active",
            false};
  }
  const size_t before = push.block.deferred.size();
  const PushOutcome outcome = Count(entry, [&] { return entry.partition.OnEnd(push.block); });
  CountDeferred(push, before);
  if (outcome == PushOutcome::kMerged) {
    ++counters_.blocks_merged;
    counters_.block_bytes_written += static_cast<uint64_t>(push.block.written);
    ++app.use.blocks;
    app.use.bytes += static_cast<uint64_t>(push.block.written);
    return {};
  }
  counters_.ignored_block_bytes += static_cast<uint64_t>(push.received);
  if (outcome == PushOutcome::kDuplicate) {
    ++counters_.pushes_twice;
    return {};
  }
  ++counters_.block_append_collisions;
  ++app.use.refused;
  return {PushCode::kCollision, {}, false};
}

void MergeBook::Cut(Push& push) {
  ++counters_.pushes_cut;
  if (push.entry == nullptr) return;
  const size_t before = push.block.deferred.size();
  if (push.entry->open && !Lost(*push.entry)) {
    Count(*push.entry, [&] { push.entry->partition.OnFailure(push.block); });
  }
  push.block.deferred = {};
  CountDeferred(push, before);
  counters_.ignored_block_bytes += static_cast<uint64_t>(push.received);
  push.entry.reset();
}

// ---- the end of a shuffle ------------------------------------------------------------------------------------------

base::Result<MergeBook::Finishing> MergeBook::Finalize(const FinalizeShuffleMerge& request) {
  App* app = FindApp(request.app_id);
  if (app == nullptr) return base::Error{NotRegistered(request.app_id)};
  if (request.app_attempt_id != app->attempt) {
    return OtherAttempt(request.app_attempt_id, "FinalizeShuffleMerge", app->attempt, request.app_id);
  }
  if (!MayKnow(request.shuffle_id, *app, request.app_id)) {
    return base::Error{"java.lang.IllegalStateException: application " + request.app_id + " has " +
                       std::to_string(limits_.shuffles_per_app) + " merged shuffles, which is as many as it may have"};
  }
  const auto [place, added] = app->shuffles.try_emplace(request.shuffle_id);
  Shuffle& shuffle = place->second;
  if (!added && (request.shuffle_merge_id < shuffle.merge_id || shuffle.finished)) {
    return base::Error{"java.lang.RuntimeException: Shuffle merge finalize request for shuffle " +
                       std::to_string(request.shuffle_id) + " with shuffleMergeId " +
                       std::to_string(request.shuffle_merge_id) +
                       " is stale shuffle finalize request as shuffle blocks of a higher shuffleMergeId for the "
                       "shuffle is already being pushed"};
  }
  Finishing out;
  const bool of_this = !added && shuffle.merge_id == request.shuffle_merge_id;
  (of_this ? out.entries : out.dropped) = Drop(shuffle, *app);
  shuffle = {request.shuffle_merge_id, true, {}, {}, false};
  Know(*app, request.shuffle_id);
  Publish(request.app_id);
  return out;
}

void MergeBook::NotFinished() {
  ++counters_.write_failures;
  ++counters_.partitions_lost;
}

std::optional<std::vector<StoreRow>> MergeBook::Finished(const FinalizeShuffleMerge& request,
                                                         std::vector<int32_t> reduce_ids) {
  App* app = FindApp(request.app_id);
  // Its directories go, or are a later attempt's, which may write files of these names.
  if (app == nullptr || app->attempt != request.app_attempt_id) return std::vector<StoreRow>();
  const auto shuffle = app->shuffles.find(request.shuffle_id);
  const bool still = shuffle != app->shuffles.end() && shuffle->second.merge_id == request.shuffle_merge_id &&
                     !shuffle->second.removed;
  if (!still) return std::nullopt;
  counters_.partitions_finished += reduce_ids.size();
  shuffle->second.reduce_ids = reduce_ids;
  return std::vector{
      ShuffleRow(request.app_id, request.shuffle_id, {app->attempt, request.shuffle_merge_id, std::move(reduce_ids)})};
}

base::Result<MergeBook::Removal> MergeBook::RemoveMerge(const RemoveShuffleMerge& request) {
  constexpr int32_t kWhatever = -1;
  App* app = FindApp(request.app_id);
  if (app == nullptr) return base::Error{NotRegistered(request.app_id)};
  if (request.app_attempt_id != app->attempt) {
    return OtherAttempt(request.app_attempt_id, "RemoveShuffleMerge", app->attempt, request.app_id);
  }
  Removal out;
  out.dirs = app->dirs;
  const auto found = app->shuffles.find(request.shuffle_id);
  const bool known = found != app->shuffles.end();
  if (!known && request.shuffle_merge_id == kWhatever) return out;
  if (!MayKnow(request.shuffle_id, *app, request.app_id)) return out;  // pushes to it are refused, too
  const int32_t current = known ? found->second.merge_id : request.shuffle_merge_id;
  const int32_t removed = request.shuffle_merge_id == kWhatever ? current : request.shuffle_merge_id;
  if (removed < current) {
    return base::Error{"java.lang.RuntimeException: Asked to remove old shuffle merged data for application " +
                       request.app_id + " shuffleId " + std::to_string(request.shuffle_id) + " shuffleMergeId " +
                       std::to_string(removed) + ", but current shuffleMergeId " + std::to_string(current) + " "};
  }
  if (known) {
    out.dropped = Drop(found->second, *app);
    for (const int32_t reduce : found->second.reduce_ids) {
      out.names.push_back(MergedFileName(request.app_id, request.shuffle_id, current, reduce));
    }
  }
  app->shuffles[request.shuffle_id] = {removed, true, {}, {}, true};
  Know(*app, request.shuffle_id);
  out.rows.push_back(ShuffleRow(request.app_id, request.shuffle_id, {app->attempt, removed, {}}));
  Publish(request.app_id);
  return out;
}

// ---- writing -------------------------------------------------------------------------------------------------------

std::vector<MergeBook::Write> MergeBook::TakeWrites() {
  std::vector<Write> out;
  const size_t average = unwritten_ / std::max<size_t>(open_, 1);
  for (auto& [name, app] : apps_) {
    for (auto& [id, shuffle] : app.shuffles) {
      for (auto& [reduce, entry] : shuffle.partitions) {
        const size_t bytes = entry->partition.unwritten();
        if (bytes == 0 || bytes < average || entry->being_written) continue;
        entry->being_written = true;
        out.push_back({entry, Count(*entry, [&e = *entry] { return e.partition.Take(); })});
        memory_ += out.back().unwritten.bytes.capacity();
        writing_ += out.back().unwritten.bytes.capacity();
      }
    }
  }
  return out;
}

void MergeBook::Written(Write write, bool ok) {
  MergeEntry& entry = *write.entry;
  entry.being_written = false;
  memory_ -= write.unwritten.bytes.capacity();
  writing_ -= write.unwritten.bytes.capacity();
  if (ok) return;
  ++counters_.write_failures;
  if (entry.counted == 0) return;  // released meanwhile
  if (++entry.write_failures == limits_.write_failures_max + 1) ++counters_.partitions_lost;
  Count(entry, [&] {
    if (Lost(entry)) {
      entry.partition.Take();
    } else {
      entry.partition.GiveBack(std::move(write.unwritten));
    }
  });
}

// ---- the store -----------------------------------------------------------------------------------------------------

base::Status MergeBook::Restore(std::string_view table, std::string_view key, std::string_view value,
                                const std::vector<std::string>& roots) {
  base::Budget budget(base::kStoredKind, key.size());
  base::ByteReader in(key, budget);
  std::string name;
  int32_t shuffle_id = 0;
  base::Decode(in, name);
  if (table == kMergedTable) base::Decode(in, shuffle_id);
  if (!in.done()) return base::Error{"its key is damaged"};
  if (table == kDirsTable) {
    auto dirs = base::DecodeStored<model::shuffle::MergeDirs>(value);
    if (!dirs.ok()) return dirs.error();
    // Roots may have changed since: the stored place is not trusted.
    for (auto& dir : dirs->dirs.dirs) dir = PlaceDir(std::move(dir.path), roots);
    dirs->dirs.generation = ++last_generation_;
    apps_[name] = {dirs->attempt, std::make_shared<const Executor>(std::move(dirs->dirs)), {}, {}};
  } else {
    auto merged = base::DecodeStored<MergedShuffle>(value);
    if (!merged.ok()) return merged.error();
    App* app = FindApp(name);
    if (app == nullptr || app->attempt != merged->attempt) return {};  // of an earlier attempt
    const bool removed = merged->reduce_ids.empty();                   // or nothing was merged, which reads alike
    app->shuffles[shuffle_id] = {merged->merge_id, true, {}, std::move(merged->reduce_ids), removed};
    Know(*app, shuffle_id);
  }
  return {};
}

void MergeBook::Restored() {
  for (const auto& [name, app] : apps_) Publish(name);
}

std::map<std::string, MergeBook::AppUse> MergeBook::Use() const {
  std::map<std::string, AppUse> out;
  for (const auto& [name, app] : apps_) out[name] = app.use;
  return out;
}

std::string MergeBook::CheckInvariants() const {
  size_t open = 0;
  size_t unwritten = 0;
  size_t least = deferred_;
  for (const auto& [name, app] : apps_) {
    size_t of_app = 0;
    for (const auto& [id, shuffle] : app.shuffles) {
      if (shuffle.finished && !shuffle.partitions.empty()) return "a finished shuffle of " + name + " is open";
      of_app += shuffle.partitions.size();
      const KnownMerges::Latest* shown = app.latest.Find(id);
      if (shown == nullptr || *shown != KnownMerges::Latest{shuffle.merge_id, shuffle.removed})
        return "readers of " + name;
      if (app.removed.contains(id) != shuffle.removed) return "removed shuffles of " + name;
      for (const auto& [reduce, entry] : shuffle.partitions) {
        if (!entry->open) return "a partition of " + name + " is listed and not open";
        unwritten += entry->partition.unwritten();
        least += entry->counted;
      }
    }
    if (of_app != app.use.open_partitions) return "open partitions of " + name;
    if (app.latest.size() != app.shuffles.size()) return "shuffles that readers of " + name + " know";
    open += of_app;
  }
  if (open != open_) return "sum of open partitions";
  if (unwritten != unwritten_) return "sum of unwritten bytes";
  if (memory_ < least) return "sum of memory";
  return "";
}

}  // namespace fairlead::shuffle
