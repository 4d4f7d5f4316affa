#include "engine/run/executor.h"

#include <cxxabi.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "base/codec.h"
#include "engine/io/files.h"
#include "engine/plan/shared_values.h"
#include "engine/records/checksum.h"
#include "engine/records/errors.h"
#include "engine/run/local_blocks.h"
#include "engine/shuffle/shuffle_writer.h"
#include "model/tasks.h"
#include "tasks/merge_rule.h"
#include "wire/spark_shuffle/layout.h"

namespace fairlead::engine {

namespace layout = wire::spark_shuffle;
namespace we = wire::engine;
using model::tasks::FailureKind;

namespace {

/// Comes from the job's own driver.
constexpr base::BudgetKind kPlanKind = base::DecodedKind("a stage's plan", SIZE_MAX, 1024);

/// Some of the reduce partition's blocks are.
bool IsMerged(const process::executor::ExecutorCore::Outputs& outputs, int32_t reduce) {
  return !outputs.merge.mergers.empty() && static_cast<size_t>(reduce) < outputs.merged.size() &&
         outputs.merged[static_cast<size_t>(reduce)] != 0;
}

}  // namespace

/// The operators of a stage attempt, made by the first task that runs.
struct SharedProgram {
  explicit SharedProgram(std::string encoded) : plan(std::move(encoded)) {}
  std::string plan;
  std::once_flag once;
  std::unique_ptr<StageProgram> program;
  std::string error;

  const StageProgram& Get() {
    std::call_once(once, [this] {
      StagePlan decoded;
      base::Budget budget(kPlanKind, plan.size());
      base::ByteReader in(plan, budget);
      base::Decode(in, decoded);
      try {
        if (!in.done()) throw TaskError("malformed stage plan");
        program = std::make_unique<StageProgram>(std::move(decoded));
      } catch (const std::exception& failed) {
        error = failed.what();
      }
      plan.clear();
    });
    if (!program) throw TaskError(error);
    return *program;
  }
};

class Executor::Context : public TaskContext {
 public:
  explicit Context(Executor& executor) : executor_(executor) {}
  ~Context() override {
    for (const std::string& path : scratch_) RemoveAll(path);
  }

  std::unique_ptr<ShuffleInput> OpenShuffle(int32_t shuffle, int32_t reduce) override {
    const Outputs outputs = executor_.WaitForOutputs(shuffle, *this);
    if (!outputs.table) throw FetchFailed(shuffle, -1, UINT32_MAX, "the driver knows no outputs of this shuffle");
    if (reduce < 0 || reduce >= outputs.table->reduces()) throw TaskError("shuffle has no such partition");
    for (int32_t map = 0; map < outputs.table->maps(); ++map) {
      if (outputs.table->place(map) == tasks::MapOutputTable::kMissing) {
        throw FetchFailed(shuffle, map, UINT32_MAX, "map output " + std::to_string(map) + " is missing");
      }
    }
    const auto request = [&](const tasks::MapOutputTable::Block& block) {
      return BlockRequest{shuffle, block.map, block.task, reduce, block.bytes, block.place};
    };
    process::executor::MergedInput wanted{{}, outputs.table->BlocksOf(reduce)};
    std::vector<ChunkRequest> chunks;
    if (executor_.remote_ != nullptr && IsMerged(outputs, reduce)) {
      const auto& mergers = outputs.merge.mergers;
      const we::Merger& by = mergers[tasks::MergerOf(reduce, outputs.table->reduces(), mergers.size())];
      wanted = executor_.remote_->FindMerged(shuffle, reduce, std::move(wanted.rest), by, *this);
      metrics.blocks_read_single += static_cast<int64_t>(wanted.rest.size());
      for (const auto& chunk : wanted.chunks) {
        chunks.push_back({by, chunk.number, {}, chunk.bytes});
        for (const auto& block : chunk.blocks) chunks.back().blocks.push_back(request(block));
      }
    }
    std::vector<BlockRequest> local, remote;
    for (const auto& block : wanted.rest) {
      (block.place == executor_.index_ || executor_.remote_ == nullptr ? local : remote).push_back(request(block));
    }
    std::unique_ptr<ShuffleInput> input;
    if (!remote.empty() || !chunks.empty()) {
      input = executor_.remote_->Fetch(std::move(remote), std::move(chunks), outputs.places, *this);
    }
    // Local blocks first: remote ones come in meanwhile.
    std::unique_ptr<ShuffleInput> near = ReadLocalBlocks(std::move(local), executor_.options_.local_directories, *this);
    return input ? Concatenate(std::move(near), std::move(input)) : std::move(near);
  }

  std::string LocalPath(const std::string& file_name) override { return executor_.FilePath(file_name); }

  std::string ScratchPath() override {
    MakeDirectories(executor_.options_.scratch_directory);
    const std::lock_guard lock(executor_.mutex_);
    scratch_.push_back(executor_.options_.scratch_directory + "/temp_local_" +
                       std::to_string(executor_.next_scratch_++));
    return scratch_.back();
  }

  bool MayCommit() override { return executor_.WaitForCommit(task_id, *this); }

  std::shared_ptr<const std::string> FetchBroadcast(int64_t id) override {
    return executor_.WaitForBroadcast(id, *this);
  }

  std::shared_ptr<const Buffer> FindKept(int32_t dataset, int32_t cached_partition) override {
    if (auto here = executor_.FindKept(dataset, cached_partition)) {
      ++metrics.cached_read;
      return here;
    }
    auto fetched = executor_.FetchKept(dataset, cached_partition, *this);
    if (fetched) {
      ++metrics.cached_fetched;
      metrics.cached_bytes_fetched += static_cast<int64_t>(fetched->size());
    }
    return fetched;
  }
  void Keep(int32_t dataset, int32_t cached_partition, Buffer records, bool disk) override {
    const std::string name = layout::RddBlockName(dataset, cached_partition);
    executor_.Keep(dataset, cached_partition, std::move(records), disk ? LocalPath(name) : std::string());
  }

 private:
  Executor& executor_;
  std::vector<std::string> scratch_;
};

Executor::Executor(ExecutorOptions options, SendFunction send, RemoteBlocks* remote)
    : options_(std::move(options)),
      send_(std::move(send)),
      remote_(remote),
      core_([this](we::Message message) { send_(std::move(message), false); },
            [](std::string plan) { return std::make_shared<SharedProgram>(std::move(plan)); },
            options_.memory_bytes / 2) {
  for (const std::string& directory : options_.local_directories) MakeDirectories(directory, 0775);
  SetShuffleCompression(ChooseShuffleCompression(options_.local_directories.at(0)));
  for (int32_t i = 0; i < options_.slots; ++i) threads_.emplace_back([this] { WorkerLoop(); });
}

Executor::~Executor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (auto& [task, context] : running_) context->killed = true;
  }
  work_ready_.notify_all();
  answer_ready_.notify_all();
  publish_ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  if (publisher_.joinable()) publisher_.join();
  RemoveAll(options_.scratch_directory);
}

void Executor::OnMessage(we::Message message) {
  process::executor::ExecutorCore::Outcome outcome;
  {
    const std::lock_guard lock(mutex_);
    outcome = core_.OnMessage(std::move(message));
    if (outcome.kill) running_.at(*outcome.kill)->killed = true;
  }
  if (outcome.answers || outcome.kill) answer_ready_.notify_all();
  if (outcome.work == 1) {
    work_ready_.notify_one();
  } else if (outcome.work > 1) {
    work_ready_.notify_all();
  }
  if (outcome.publish) Publish(outcome.publish->first, outcome.publish->second);
  for (const int64_t id : outcome.broadcasts_gone) DecodedBroadcasts::Forget(id);
  RemoveFiles(outcome);
}

void Executor::RemoveFiles(const process::executor::ExecutorCore::Outcome& outcome) {
  for (const auto& [shuffle, task] : outcome.outputs_gone) {
    RemoveAll(layout::BlockPath(options_.local_directories, layout::ShuffleDataName(shuffle, task)));
    RemoveAll(layout::BlockPath(options_.local_directories, layout::ShuffleIndexName(shuffle, task)));
  }
  for (const std::string& path : outcome.files_gone) RemoveAll(path);
}

template <class Look>
auto Executor::WaitFor(const TaskContext& task, Look look) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (auto found = look()) return found;
    task.CheckKilled();
    answer_ready_.wait(lock);
  }
}

Executor::Outputs Executor::WaitForOutputs(int32_t shuffle, const TaskContext& task) {
  return *WaitFor(task, [&]() -> std::optional<Outputs> {
    const Outputs* const outputs = core_.FindOutputs(shuffle);
    return outputs != nullptr ? std::optional(*outputs) : std::nullopt;
  });
}

/// Asks by `ask`, and waits for what `take` gives to its token; the answer to a task that is killed is not waited for.
template <class Ask, class Take>
auto Executor::AskDriver(const TaskContext& task, Ask ask, Take take) {
  uint64_t token = 0;
  try {
    return WaitFor(task, [&] {
      if (token == 0) token = ask();
      return take(token);
    });
  } catch (const TaskKilled&) {
    const std::lock_guard lock(mutex_);
    core_.Abandon(token);
    throw;
  }
}

bool Executor::WaitForCommit(int64_t task_id, const TaskContext& task) {
  return *AskDriver(
      task, [&] { return core_.AskCommit(task_id); }, [&](uint64_t token) { return core_.TakeCommit(token); });
}

std::shared_ptr<const std::string> Executor::WaitForBroadcast(int64_t id, const TaskContext& task) {
  const auto bytes = *WaitFor(task, [&]() -> std::optional<std::shared_ptr<const std::string>> {
    const auto* const value = core_.FindBroadcast(id);
    return value != nullptr ? std::optional(value->bytes) : std::nullopt;
  });
  if (!bytes) throw TaskError("the driver has no broadcast value " + std::to_string(id));
  return bytes;
}

std::shared_ptr<const Buffer> Executor::FindKept(int32_t dataset, int32_t partition) {
  std::string path;
  {
    const std::lock_guard lock(mutex_);
    const Kept* const found = core_.kept().Find({dataset, partition});
    if (found == nullptr) return nullptr;
    if (found->bytes) return std::static_pointer_cast<const Buffer>(found->bytes);
    path = found->path;
  }
  try {
    const FileDescriptor file = OpenForReading(path);
    auto bytes = std::make_shared<Buffer>();
    bytes->Resize(FileSize(file.get(), path));
    if (ReadAt(file.get(), path, 0, bytes->data(), bytes->size()) == bytes->size()) return bytes;
  } catch (const TaskError&) {
    // Gone: it is computed again.
  }
  return nullptr;
}

/// Of another executor; null: there is none, or it cannot be had from there.
std::shared_ptr<const Buffer> Executor::FetchKept(int32_t dataset, int32_t partition, TaskContext& task) {
  if (remote_ == nullptr) return nullptr;
  const we::KeptPlace at = *AskDriver(
      task, [&] { return core_.AskKept(dataset, partition); },
      [&](uint64_t token) { return token == 0 ? std::optional(we::KeptPlace()) : core_.TakeKept(token); });
  // It is read whole: no more than could be kept here.
  if (!at.known || at.bytes > options_.memory_bytes / 2) return nullptr;
  return remote_->FetchKept({dataset, partition, at.place, at.bytes, at.checksum}, task);
}

void Executor::Publish(int32_t dataset, int32_t partition) {
  const std::lock_guard lock(mutex_);
  to_publish_.emplace_back(dataset, partition);
  if (!publisher_.joinable()) publisher_ = std::thread([this] { PublishLoop(); });
  publish_ready_.notify_one();
}

void Executor::PublishLoop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    publish_ready_.wait(lock, [this] { return stopping_ || !to_publish_.empty(); });
    if (stopping_) return;
    const auto [dataset, partition] = to_publish_.front();
    to_publish_.pop_front();
    lock.unlock();
    send_(WriteForOthers(dataset, partition), false);
    lock.lock();
  }
}

/// A file of that name is whole: it is written aside and renamed.
we::KeptPublished Executor::WriteForOthers(int32_t dataset, int32_t partition) {
  we::KeptPublished result{dataset, partition, false, 0, 0};
  Kept kept;
  {
    const std::lock_guard lock(mutex_);
    const Kept* const found = core_.kept().Find({dataset, partition});
    if (found == nullptr) return result;
    kept = *found;
  }
  try {
    if (kept.path.empty()) {
      const std::string path = FilePath(layout::RddBlockName(dataset, partition));
      const auto& bytes = *static_cast<const Buffer*>(kept.bytes.get());
      WriteAll(CreateFile(path + ".tmp").get(), path, bytes.view());
      RenameFile(path + ".tmp", path);
      kept.checksum = XXH3_64bits(bytes.data(), bytes.size());
      kept.path = path;
      const std::lock_guard lock(mutex_);
      if (!core_.kept().HasFile({dataset, partition}, kept.bytes, path, kept.checksum)) {
        RemoveAll(path);  // dropped or made again meanwhile
        return result;
      }
    }
    const FileDescriptor file = OpenForReading(kept.path);
    result.bytes = static_cast<int64_t>(FileSize(file.get(), kept.path));
    result.checksum = kept.checksum;
    result.good = true;
  } catch (const std::exception&) {
    // A full disk, say: the others make the partition themselves.
  }
  return result;
}

/// In Spark's directories; the file's own exists afterwards.
std::string Executor::FilePath(const std::string& name) const {
  const std::string path = layout::BlockPath(options_.local_directories, name);
  MakeDirectories(path.substr(0, path.rfind('/')), 0775);
  return path;
}

void Executor::Keep(int32_t dataset, int32_t partition, Buffer records, const std::string& disk_path) {
  Kept kept;
  kept.size = static_cast<int64_t>(records.size());
  std::vector<std::string> files_gone;
  bool in_memory = false;
  {
    const std::lock_guard lock(mutex_);
    in_memory = core_.kept().Book(dataset, kept.size, files_gone);
  }
  if (in_memory) {
    kept.bytes = std::make_shared<const Buffer>(std::move(records));
  } else if (!disk_path.empty()) {
    WriteAll(CreateFile(disk_path + ".tmp").get(), disk_path, records.view());
    RenameFile(disk_path + ".tmp", disk_path);
    kept.path = disk_path;
    kept.checksum = XXH3_64bits(records.data(), records.size());
  }
  if (kept.bytes || !kept.path.empty()) {
    const std::lock_guard lock(mutex_);
    core_.kept().Keep({dataset, partition}, std::move(kept), files_gone);
  }
  for (const std::string& path : files_gone) RemoveAll(path);
}

void Executor::WorkerLoop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_ready_.wait(lock, [this] { return stopping_ || core_.HasWork(); });
    if (stopping_) return;
    const Work work = *core_.Take();
    auto context = std::make_unique<Context>(*this);
    context->task_id = work.launch.task;
    context->stage = work.stage;
    context->partition = work.launch.partition;
    context->attempt = work.launch.attempt;
    context->memory_bytes = (options_.memory_bytes - core_.kept().bytes()) / options_.slots;
    running_[work.launch.task] = context.get();
    lock.unlock();
    send_(we::TaskStarted{work.launch.task}, true);
    Execute(work, *context);
    context.reset();  // removes scratch files: not under the lock
    lock.lock();
  }
}

namespace {

std::string NameOfException() {
  int status = 0;
  const std::type_info* const type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "unknown exception";
  char* const name = abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  const std::string result = status == 0 ? name : type->name();
  std::free(name);
  return result;
}

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// What a task that went well tells.
we::TaskDone DoneBy(int64_t task, TaskContext& context) {
  we::TaskDone done;
  done.task = task;
  done.result = std::move(context.output.result);
  for (const int64_t size : context.output.block_sizes)
    done.sizes.push_back(static_cast<char>(tasks::EncodeSize(size)));
  base::Encode(done.metrics, context.metrics);
  done.counters = std::move(context.counters);
  done.run_ns = context.metrics.run_ns;
  done.remote_read_ns = context.metrics.fetch_wait_ns;
  done.remote_read_bytes = context.metrics.shuffle_bytes_remote + context.metrics.cached_bytes_fetched;
  return done;
}

}  // namespace

void Executor::Execute(const Work& work, Context& context) {
  we::TaskBroke broke{work.launch.task, static_cast<int32_t>(FailureKind::kException), "", -1, -1, UINT32_MAX};
  bool good = false;
  const int64_t begin = NowNs();
  TaskContext::SetCurrent(&context);
  try {
    const StageProgram& program = static_cast<SharedProgram*>(work.program.get())->Get();
    context.sample_records = program.plan().sample_records;
    context.memory_bytes = program.Share(context.memory_bytes);
    program.Run(context, work.launch.partition);
    context.CheckKilled();
    good = true;
    if (const int32_t shuffle = program.plan().shuffle; shuffle >= 0) {
      {
        const std::lock_guard lock(mutex_);
        core_.Wrote(shuffle, work.launch.task);
      }
      if (options_.on_written) options_.on_written(shuffle, work.launch.partition, work.launch.task);
    }
  } catch (const TaskKilled& killed) {
    broke.kind = static_cast<int32_t>(FailureKind::kKilled);
    broke.message = killed.what();
  } catch (const CommitDenied& denied) {
    broke.kind = static_cast<int32_t>(FailureKind::kCommitDenied);
    broke.message = denied.what();
  } catch (const FetchFailed& failed) {
    broke.kind = static_cast<int32_t>(FailureKind::kFetchFailed);
    broke.message = failed.what();
    broke.shuffle = failed.shuffle;
    broke.map_index = failed.map_index;
    broke.source = failed.source;
    const std::lock_guard lock(mutex_);
    core_.DropOutputs(failed.shuffle);
  } catch (const TaskError& error) {
    broke.message = error.what();
  } catch (const std::bad_alloc&) {
    broke.message = "out of memory";
  } catch (const std::exception& error) {
    broke.message = NameOfException() + ": " + error.what();
  } catch (...) {
    broke.message = NameOfException();
  }
  TaskContext::SetCurrent(nullptr);
  context.metrics.run_ns = NowNs() - begin;
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    running_.erase(work.launch.task);
    core_.Ended(work.launch.task);
    more = core_.HasWork();
  }
  if (good) {
    send_(DoneBy(work.launch.task, context), more);
  } else {
    send_(std::move(broke), more);
  }
}

}  // namespace fairlead::engine
