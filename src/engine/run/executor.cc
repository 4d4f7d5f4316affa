#include "engine/run/executor.h"

#include <cxxabi.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/codec.h"
#include "engine/io/files.h"
#include "engine/plan/shared_values.h"
#include "engine/records/checksum.h"
#include "engine/records/errors.h"
#include "engine/run/local_blocks.h"
#include "engine/shuffle/shuffle_writer.h"
#include "model/tasks.h"
#include "wire/spark_shuffle/layout.h"

namespace fairlead::engine {

namespace layout = wire::spark_shuffle;
namespace we = wire::engine;
using model::tasks::FailureKind;

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
      base::ByteReader in(plan);
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
    std::vector<BlockRequest> local, remote;
    for (int32_t map = 0; map < outputs.table->maps(); ++map) {
      if (outputs.table->place(map) == tasks::MapOutputTable::kMissing) {
        throw FetchFailed(shuffle, map, UINT32_MAX, "map output " + std::to_string(map) + " is missing");
      }
    }
    for (const tasks::MapOutputTable::Block& block : outputs.table->BlocksOf(reduce)) {
      const BlockRequest request{shuffle, block.map, block.task, reduce, block.bytes, block.place};
      (block.place == executor_.index_ || executor_.remote_ == nullptr ? local : remote).push_back(request);
    }
    std::unique_ptr<ShuffleInput> input;
    if (!remote.empty()) input = executor_.remote_->Fetch(std::move(remote), outputs.places, *this);
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
    : options_(std::move(options)), send_(std::move(send)), remote_(remote) {
  for (const std::string& directory : options_.local_directories) MakeDirectories(directory, 0775);
  SetShuffleCompression(ChooseShuffleCompression(options_.local_directories.at(0)));
  for (int32_t i = 0; i < options_.slots; ++i) threads_.emplace_back([this] { WorkerLoop(); });
}

Executor::~Executor() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    queue_.clear();
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
  if (auto* launch = std::get_if<we::Launch>(&message)) {
    OnLaunch(*launch);
  } else if (auto* planned = std::get_if<we::StagePlanned>(&message)) {
    const std::lock_guard lock(mutex_);
    kept_somewhere_.insert(planned->kept.begin(), planned->kept.end());
    programs_[{planned->stage, planned->attempt}] = std::make_shared<SharedProgram>(std::move(planned->plan));
    // Outputs were lost since an older table was sent: ask again.
    std::erase_if(outputs_,
                  [&](const auto& entry) { return entry.second.ready && entry.second.epoch < planned->epoch; });
  } else if (const auto* kill = std::get_if<we::Kill>(&message)) {
    const std::lock_guard lock(mutex_);
    const auto found = running_.find(kill->task);
    if (found != running_.end()) {
      found->second->killed = true;
      answer_ready_.notify_all();
    } else if (std::erase_if(queue_, [&](const Work& work) { return work.launch.task == kill->task; }) != 0) {
      send_(we::TaskBroke{kill->task, static_cast<int32_t>(FailureKind::kKilled), "killed", -1, -1, UINT32_MAX}, false);
    }
  } else if (const auto* gone = std::get_if<we::StageGone>(&message)) {
    const std::lock_guard lock(mutex_);
    programs_.erase({gone->stage, gone->attempt});
  } else if (const auto* answer = std::get_if<we::CommitAnswer>(&message)) {
    const std::lock_guard lock(mutex_);
    const auto found = commits_.find(answer->token);
    if (found != commits_.end()) found->second = {true, answer->granted};
    answer_ready_.notify_all();
  } else if (auto* outputs = std::get_if<we::MapOutputs>(&message)) {
    OnMapOutputs(*outputs);
  } else if (auto* broadcast = std::get_if<we::Broadcast>(&message)) {
    const std::lock_guard lock(mutex_);
    BroadcastWait& wait = broadcasts_[broadcast->id];
    wait.ready = true;
    if (broadcast->known) wait.value = std::make_shared<const std::string>(std::move(broadcast->value));
    answer_ready_.notify_all();
  } else if (auto* place = std::get_if<we::KeptPlace>(&message)) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_waits_.find(place->token);
    if (found != kept_waits_.end()) found->second = {true, std::move(*place)};
    answer_ready_.notify_all();
  } else if (const auto* publish = std::get_if<we::PublishKept>(&message)) {
    Publish(publish->dataset, publish->partition);
  } else if (const auto* forget = std::get_if<we::Forget>(&message)) {
    OnForget(*forget);
  }
}

void Executor::OnLaunch(we::Launch& launch) {
  std::unique_lock lock(mutex_);
  const auto program = programs_.find({launch.stage, launch.stage_attempt});
  for (const we::TaskLaunch& task : launch.tasks) {
    if (program == programs_.end()) {
      send_(we::TaskBroke{task.task, static_cast<int32_t>(FailureKind::kException), "executor has no plan of the stage",
                          -1, -1, UINT32_MAX},
            false);
      continue;
    }
    Work work;
    work.launch = task;
    work.stage = launch.stage;
    work.program = program->second;
    queue_.push_back(std::move(work));
  }
  lock.unlock();  // who wakes up wants it
  if (launch.tasks.size() == 1) {
    work_ready_.notify_one();
  } else {
    work_ready_.notify_all();
  }
}

void Executor::OnMapOutputs(we::MapOutputs& message) {
  auto table = tasks::DecodeMapOutputs(message.table);
  const std::lock_guard lock(mutex_);
  Outputs& outputs = outputs_[message.shuffle];
  outputs.ready = true;
  outputs.epoch = message.epoch;
  outputs.places.clear();
  outputs.table = table.ok() ? std::make_shared<const tasks::MapOutputTable>(std::move(*table)) : nullptr;
  for (we::Place& place : message.places) outputs.places[place.executor] = std::move(place);
  answer_ready_.notify_all();
}

void Executor::OnForget(const we::Forget& forget) {
  std::vector<std::string> names, paths;
  {
    const std::lock_guard lock(mutex_);
    for (const int32_t shuffle : forget.shuffles) {
      for (const int64_t task : written_[shuffle]) {
        names.push_back(layout::ShuffleDataName(shuffle, task));
        names.push_back(layout::ShuffleIndexName(shuffle, task));
      }
      written_.erase(shuffle);
      outputs_.erase(shuffle);
    }
    for (const int32_t dataset : forget.datasets) kept_somewhere_.erase(dataset);
    std::erase_if(kept_, [&](const auto& entry) {
      if (std::find(forget.datasets.begin(), forget.datasets.end(), entry.first.first) == forget.datasets.end()) {
        return false;
      }
      if (entry.second.bytes) kept_bytes_ -= static_cast<int64_t>(entry.second.bytes->size());
      if (!entry.second.path.empty()) paths.push_back(entry.second.path);
      return true;
    });
    for (const int64_t id : forget.broadcasts) {
      if (const auto found = broadcasts_.find(id); found != broadcasts_.end() && found->second.ready) {
        broadcasts_.erase(found);
      }
      DecodedBroadcasts::Here().Forget(id);
    }
  }
  for (const std::string& name : names) RemoveAll(layout::BlockPath(options_.local_directories, name));
  for (const std::string& path : paths) RemoveAll(path);
}

Executor::Outputs Executor::WaitForOutputs(int32_t shuffle, const TaskContext& task) {
  std::unique_lock lock(mutex_);
  for (;;) {
    task.CheckKilled();
    Outputs& outputs = outputs_[shuffle];
    if (outputs.ready) return outputs;
    if (!outputs.asked) {
      outputs.asked = true;
      send_(we::AskMapOutputs{shuffle}, false);
    }
    answer_ready_.wait(lock);
  }
}

void Executor::DropOutputs(int32_t shuffle) {
  const std::lock_guard lock(mutex_);
  const auto found = outputs_.find(shuffle);
  if (found != outputs_.end() && found->second.ready) outputs_.erase(found);
}

bool Executor::WaitForCommit(int64_t task_id, const TaskContext& task) {
  std::unique_lock lock(mutex_);
  const uint64_t token = next_token_++;
  commits_[token] = {};
  send_(we::AskCommit{task_id, token}, false);
  answer_ready_.wait(lock, [&] { return commits_[token].answered || task.killed; });
  const CommitWait answer = commits_[token];
  commits_.erase(token);
  if (!answer.answered) throw TaskKilled();
  return answer.granted;
}

std::shared_ptr<const std::string> Executor::WaitForBroadcast(int64_t id, const TaskContext& task) {
  std::unique_lock lock(mutex_);
  const bool first = broadcasts_.find(id) == broadcasts_.end();
  broadcasts_[id];
  if (first) send_(we::AskBroadcast{id}, false);
  answer_ready_.wait(lock, [&] { return broadcasts_[id].ready || task.killed; });
  task.CheckKilled();
  if (!broadcasts_[id].value) throw TaskError("the driver has no broadcast value " + std::to_string(id));
  return broadcasts_[id].value;
}

std::shared_ptr<const Buffer> Executor::FindKept(int32_t dataset, int32_t partition) {
  std::string path;
  {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find({dataset, partition});
    if (found == kept_.end()) return nullptr;
    found->second.used = next_use_++;
    if (found->second.bytes) return found->second.bytes;
    path = found->second.path;
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
  KeptWait answer;
  {
    std::unique_lock lock(mutex_);
    if (remote_ == nullptr || !kept_somewhere_.contains(dataset)) return nullptr;
    const uint64_t token = next_token_++;
    kept_waits_[token] = {};
    send_(we::AskKept{dataset, partition, token}, false);
    answer_ready_.wait(lock, [&] { return kept_waits_[token].answered || task.killed; });
    answer = std::move(kept_waits_[token]);
    kept_waits_.erase(token);
  }
  if (!answer.answered) throw TaskKilled();
  const we::KeptPlace& at = answer.place;
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
    const auto found = kept_.find({dataset, partition});
    if (found == kept_.end()) return result;
    kept = found->second;
  }
  try {
    if (kept.path.empty()) {
      const std::string path = FilePath(layout::RddBlockName(dataset, partition));
      WriteAll(CreateFile(path + ".tmp").get(), path, kept.bytes->view());
      RenameFile(path + ".tmp", path);
      kept.checksum = XXH3_64bits(kept.bytes->data(), kept.bytes->size());
      kept.path = path;
      const std::lock_guard lock(mutex_);
      const auto found = kept_.find({dataset, partition});
      if (found == kept_.end() || found->second.bytes != kept.bytes) {  // dropped or made again meanwhile
        RemoveAll(path);
        return result;
      }
      found->second.path = kept.path;
      found->second.checksum = kept.checksum;
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
  std::vector<we::BlockKept> news;
  const auto size = static_cast<int64_t>(records.size());
  Kept kept;
  if (ReserveMemory(dataset, size, news)) {
    kept.bytes = std::make_shared<const Buffer>(std::move(records));
  } else if (!disk_path.empty()) {
    WriteAll(CreateFile(disk_path + ".tmp").get(), disk_path, records.view());
    RenameFile(disk_path + ".tmp", disk_path);
    kept.path = disk_path;
    kept.checksum = XXH3_64bits(records.data(), records.size());
  }
  if (kept.bytes || !kept.path.empty()) {
    const std::lock_guard lock(mutex_);
    kept.used = next_use_++;
    Kept& slot = kept_[{dataset, partition}];
    if (slot.bytes) kept_bytes_ -= static_cast<int64_t>(slot.bytes->size());  // made twice, by two attempts
    if (slot.path != kept.path) RemoveAll(slot.path);
    slot = std::move(kept);
    news.push_back({dataset, partition, true});
  }
  for (const we::BlockKept& message : news) send_(message, false);
}

/// Half of the memory may hold cached partitions; those not used for longest make room, but not for one of their own
/// dataset (a scan over a dataset that does not fit would else drop each partition just before its use).
bool Executor::ReserveMemory(int32_t dataset, int64_t size, std::vector<we::BlockKept>& news) {
  const std::lock_guard lock(mutex_);
  const int64_t room = options_.memory_bytes / 2;
  while (kept_bytes_ + size > room) {
    auto oldest = kept_.end();
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
      if (it->first.first == dataset || !it->second.bytes) continue;
      if (oldest == kept_.end() || it->second.used < oldest->second.used) oldest = it;
    }
    if (oldest == kept_.end()) return false;
    kept_bytes_ -= static_cast<int64_t>(oldest->second.bytes->size());
    if (!oldest->second.path.empty()) RemoveAll(oldest->second.path);
    news.push_back({oldest->first.first, oldest->first.second, false});
    kept_.erase(oldest);
  }
  kept_bytes_ += size;
  return true;
}

void Executor::WorkerLoop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_ready_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const Work work = std::move(queue_.front());
    queue_.pop_front();
    auto context = std::make_unique<Context>(*this);
    context->task_id = work.launch.task;
    context->stage = work.stage;
    context->partition = work.launch.partition;
    context->attempt = work.launch.attempt;
    context->memory_bytes = (options_.memory_bytes - kept_bytes_) / options_.slots;
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

}  // namespace

void Executor::Execute(const Work& work, Context& context) {
  we::TaskBroke broke{work.launch.task, static_cast<int32_t>(FailureKind::kException), "", -1, -1, UINT32_MAX};
  we::TaskDone done;
  bool good = false;
  const int64_t begin = NowNs();
  TaskContext::SetCurrent(&context);
  try {
    const StageProgram& program = work.program->Get();
    context.sample_records = program.plan().sample_records;
    context.memory_bytes = program.Share(context.memory_bytes);
    program.Run(context, work.launch.partition);
    context.CheckKilled();
    good = true;
    if (program.plan().shuffle >= 0) {
      const std::lock_guard lock(mutex_);
      written_[program.plan().shuffle].push_back(work.launch.task);
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
    DropOutputs(failed.shuffle);
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
  if (good) {
    done.task = work.launch.task;
    done.result = std::move(context.output.result);
    for (const int64_t size : context.output.block_sizes) {
      done.sizes.push_back(static_cast<char>(tasks::EncodeSize(size)));
    }
    base::Encode(done.metrics, context.metrics);
    done.counters = std::move(context.counters);
    done.run_ns = context.metrics.run_ns;
    done.remote_read_ns = context.metrics.fetch_wait_ns;
    done.remote_read_bytes = context.metrics.shuffle_bytes_remote + context.metrics.cached_bytes_fetched;
  }
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    running_.erase(work.launch.task);
    more = !queue_.empty();
  }
  if (good) {
    send_(std::move(done), more);
  } else {
    send_(std::move(broke), more);
  }
}

}  // namespace fairlead::engine
