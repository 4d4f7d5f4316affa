#include "sim/cluster/count_executor.h"

#include <algorithm>

#include "base/codec.h"
#include "base/hash.h"
#include "base/stored.h"
#include "sim/cluster/planted.h"
#include "tasks/merge_rule.h"
#include "wire/spark_shuffle/layout.h"

namespace fairlead::sim {

namespace we = wire::engine;
namespace layout = wire::spark_shuffle;
using base::Duration;
using model::tasks::FailureKind;
using process::executor::FetchError;
using process::executor::ShuffleClient;

namespace {

constexpr int kTries = 8;
constexpr int kChunkTries = 2;
constexpr Duration kRetry = Duration::Millis(500);

ShuffleClient::Limits FetchLimits() {
  ShuffleClient::Limits limits;
  limits.silence = Duration::Seconds(10);
  return limits;
}

/// Small ones, so that outputs are read in pieces.
process::executor::ShufflePusher::Limits PushLimits() {
  process::executor::ShufflePusher::Limits limits;
  limits.read_bytes = 200;
  limits.in_flight_max = 1000;
  return limits;
}

/// Of an executor's cached partitions: room for some, and for one larger.
int64_t KeptBytesMax(const JobSpec& job) {
  return 3 * static_cast<int64_t>(Encoded(InputOf(job.input_seed, 0)).size());
}

uint64_t ChecksumOf(std::string_view bytes) {
  base::StateHasher hasher;
  hasher.Mix(bytes);
  return hasher.value();
}

std::shared_ptr<void> ProgramOf(const std::string& bytes) {
  auto plan = std::make_shared<StagePlan>();
  base::Budget budget(base::kStoredKind, bytes.size());
  base::ByteReader in(bytes, budget);
  base::Decode(in, *plan);
  return plan;
}

}  // namespace

/// One task's input on its way.
struct CountExecutor::Fetching {
  Task task;
  Counts input;
  size_t missing = 0;  // blocks
};

/// A cached partition on its way from another executor.
struct CountExecutor::KeptFetch {
  int64_t size = -1;
  std::string bytes;
};

CountExecutor::CountExecutor(env_sim::World& world, env_sim::Machine& machine, env::Disk& disk, Settings settings,
                             Ledger& ledger, std::function<void(int exit_code)> exit)
    : world_(world),
      machine_(machine),
      disk_(disk),
      settings_(std::move(settings)),
      ledger_(ledger),
      exit_(std::move(exit)),
      shuffle_(machine.loop(), machine.net(), settings_.application, FetchLimits()),
      push_client_(machine.loop(), machine.net(), settings_.application, FetchLimits()),
      pusher_(machine.loop(), disk, push_client_, {settings_.local_directory}, PushLimits(), PushHooks()),
      core_([this](we::Message message) { Send(std::move(message)); }, ProgramOf, KeptBytesMax(settings_.job)) {
  if (settings_.job.merges) PrepareMerges();
  machine_.loop().After(Duration::Millis(100), alive_([this] { Register(0); }));
}

process::executor::ShufflePusher::Hooks CountExecutor::PushHooks() {
  process::executor::ShufflePusher::Hooks hooks;
  hooks.done = [this](const we::MapPushed& pushed) { Send(pushed); };
  hooks.answered = [this](const env::Endpoint& service, int32_t shuffle, const ShuffleClient::PushedBlock& block,
                          uint8_t code) {
    ++world_.counts()[code == 0 ? "block pushed" : "push refused"];
    if (code != 0) return;
    ledger_.merges().Acknowledged(ToString(settings_.attempt), service.host, shuffle, block.map, block.reduce,
                                  world_.now());
  };
  return hooks;
}

/// The directories into which services write what they merge.
void CountExecutor::PrepareMerges() {
  const std::string name = "merge_manager_" + std::to_string(settings_.attempt.attempt);
  const std::string directory = settings_.local_directory.substr(0, settings_.local_directory.rfind('/') + 1) + name;
  for (int32_t i = 0; i < layout::kSubDirsPerLocalDir; ++i) {
    char sub[8];
    std::snprintf(sub, sizeof sub, "/%02x", static_cast<unsigned>(i));
    (void)disk_.MakeDirectories(directory + sub);
  }
  ledger_.merges().MergesLieIn(ToString(settings_.attempt), directory, world_.now());
  shuffle_.KeepMergedIn(name, settings_.attempt.attempt);
}

void CountExecutor::AskWhetherItMerges() {
  if (!settings_.job.merges) return Connect();
  shuffle_.AskWhetherItMerges(settings_.shuffle_service, alive_([this](bool merges) {
                                service_merges_ = merges;
                                if (!exited_) Connect();
                              }));
}

CountExecutor::~CountExecutor() = default;

void CountExecutor::Exit(int code) {
  if (std::exchange(exited_, true)) return;
  exit_(code);
}

void CountExecutor::Register(int tries) {
  shuffle_.Register(settings_.shuffle_service, settings_.id, {settings_.local_directory},
                    alive_([this, tries](const base::Status& status) {
                      if (exited_) return;
                      if (status.ok()) return AskWhetherItMerges();
                      ++world_.counts()["shuffle registration tried again"];
                      if (tries > 40) return Exit(1);
                      machine_.loop().After(kRetry, alive_([this, tries] { Register(tries + 1); }));
                    }));
}

void CountExecutor::Connect() {
  we::Hello hello;
  hello.build_id = "simulated";
  hello.executor_id = settings_.id;
  hello.host = settings_.host;
  hello.slots = static_cast<int32_t>(settings_.job.task_size.vcores());
  hello.shuffle_host = settings_.shuffle_service.host;
  hello.shuffle_port = settings_.shuffle_service.port;
  hello.service_merges = service_merges_;
  process::executor::DriverConnection::Callbacks callbacks;
  callbacks.on_welcome = [](const we::Welcome&) {};
  callbacks.on_message = [this](we::Message message) { OnMessage(std::move(message)); };
  callbacks.on_end = [this](const std::string&, bool orderly) {
    if (!orderly) ++world_.counts()["executor lost its driver"];
    Exit(orderly ? 0 : 1);
  };
  driver_ = std::make_unique<process::executor::DriverConnection>(machine_.loop(), machine_.net(), settings_.secret,
                                                                  hello, std::move(callbacks));
  driver_->Connect(settings_.driver);
}

void CountExecutor::Send(we::Message message) {
  if (!Passes(settings_.bug, message)) return;
  if (const auto* news = std::get_if<we::BlockKept>(&message)) {
    const Key key{news->dataset, news->partition};
    if (news->present) {
      told_kept_.insert(key);
    } else {
      ++world_.counts()["cached partition makes room"];
      told_kept_.erase(key);
    }
  }
  driver_->Send(message);
}

void CountExecutor::Hear(const we::Message& message) {
  if (const auto* kill = std::get_if<we::Kill>(&message)) {
    if (Runs(kill->task)) told_to_kill_.insert(kill->task);
  } else if (const auto* planned = std::get_if<we::StagePlanned>(&message)) {
    newest_epoch_ = std::max(newest_epoch_, planned->epoch);
  } else if (const auto* forget = std::get_if<we::Forget>(&message)) {
    for (const int32_t dataset : forget->datasets) {
      std::erase_if(told_kept_, [&](const Key& key) { return key.first == dataset; });
    }
  }
}

std::string CountExecutor::CheckInvariants() const {
  for (const int64_t task : told_to_kill_) {
    if (Runs(task)) return "task " + std::to_string(task) + " runs on after its driver has killed it";
  }
  const process::executor::KeptPartitions& kept = core_.kept();
  const bool all = std::all_of(told_kept_.begin(), told_kept_.end(), [&](const Key& key) { return kept.Keeps(key); });
  if (!all || told_kept_.size() != kept.size()) return "it keeps other cached partitions than its driver was told";
  return kept.CheckInvariants();
}

void CountExecutor::OnMessage(we::Message message) {
  if (exited_) return;
  Hear(message);
  if (auto* const order = std::get_if<we::PushShuffle>(&message)) return pusher_.Begin(std::move(*order));
  if (!Passes(settings_.bug, message)) return;
  const Core::Outcome outcome = core_.OnMessage(std::move(message));
  Remove(outcome.files_gone);
  for (const auto& [shuffle, task] : outcome.outputs_gone) {
    pusher_.Forget(shuffle);
    Remove({layout::BlockPath({settings_.local_directory}, layout::ShuffleDataName(shuffle, task)),
            layout::BlockPath({settings_.local_directory}, layout::ShuffleIndexName(shuffle, task))});
  }
  if (outcome.kill) {
    ++world_.counts()["task killed"];
    Broke(running_.at(*outcome.kill), FailureKind::kKilled, "killed");
  }
  if (outcome.publish) Publish(*outcome.publish);
  if (outcome.answers) {
    for (Waiting& waiting : std::exchange(waiting_, {})) {
      if (Runs(waiting.first) && !waiting.second()) waiting_.push_back(std::move(waiting));
    }
  }
  RunNext();
}

void CountExecutor::RunNext() {
  while (std::cmp_less(running_.size(), settings_.job.task_size.vcores())) {
    const std::optional<Core::Work> work = core_.Take();
    if (!work) return;
    const Task task{work->launch.task, work->launch.partition, *static_cast<const StagePlan*>(work->program.get())};
    running_[task.id] = task;
    Send(we::TaskStarted{task.id});
    const Duration time{settings_.job.task_time.ns / 2 + world_.rng().Between(0, settings_.job.task_time.ns)};
    machine_.loop().After(time, alive_([this, task] {
                            if (Runs(task.id)) Work(task);
                          }));
  }
}

void CountExecutor::EndTask(int64_t task) {
  running_.erase(task);
  core_.Ended(task);
  RunNext();
}

void CountExecutor::WaitFor(int64_t task, std::function<bool()> go_on) {
  if (!go_on()) waiting_.emplace_back(task, std::move(go_on));
}

void CountExecutor::Work(const Task& task) {
  if (world_.rng().Chance(settings_.job.task_failure)) {
    ++world_.counts()["task fails"];
    return Broke(task, FailureKind::kException, "planned failure");
  }
  if (task.plan.reads < 0) return FindInput(task, 0);
  WaitFor(task.id, [this, task] {
    if (core_.FindOutputs(task.plan.reads) == nullptr) return false;
    FetchInput(task);
    return true;
  });
}

// ---- cached partitions
// -----------------------------------------------------------------------------------------------

void CountExecutor::FindInput(const Task& task, size_t level) {
  if (level == task.plan.kept.size()) return HaveInput(task, level, InputOf(task.plan.input_seed, task.partition));
  const Key key{task.plan.kept[level], task.partition};
  if (const auto* const kept = core_.kept().Find(key)) {
    ++world_.counts()["cached partition read"];
    Counts counts;
    if (!DecodeInto(*static_cast<const std::string*>(kept->bytes.get()), counts))
      ledger_.Violation("kept bytes changed");
    return HaveInput(task, level, std::move(counts));
  }
  const uint64_t token = core_.AskKept(key.first, key.second);
  if (token == 0) return FindInput(task, level + 1);
  WaitFor(task.id, [this, task, level, token] {
    const std::optional<we::KeptPlace> place = core_.TakeKept(token);
    if (!place) return false;
    if (place->known) {
      FetchKept(task, level, *place);
    } else {
      FindInput(task, level + 1);
    }
    return true;
  });
}

/// Tried once: making it is the second try.
void CountExecutor::FetchKept(const Task& task, size_t level, const we::KeptPlace& at) {
  const auto fetch = std::make_shared<KeptFetch>();
  const uint64_t stream = next_stream_++;
  ShuffleClient::StreamCallbacks callbacks;
  callbacks.on_size = [fetch](int64_t size) { fetch->size = size; };
  callbacks.on_bytes = [fetch](std::string_view bytes) { fetch->bytes += bytes; };
  callbacks.on_file = [](const std::shared_ptr<env::File>&, int64_t, int64_t) {};  // only over local sockets
  callbacks.on_end = alive_([this, fetch, stream, task, level, at](const base::Status& status) {
    streams_.erase(stream);
    if (!Runs(task.id)) return;
    Counts counts;
    const bool good = status.ok() && std::cmp_equal(fetch->bytes.size(), at.bytes) &&
                      ChecksumOf(fetch->bytes) == at.checksum && DecodeInto(fetch->bytes, counts);
    ++world_.counts()[good ? "cached partition fetched" : "cached partition cannot be fetched"];
    if (good) return HaveInput(task, level, std::move(counts));
    FindInput(task, level + 1);
  });
  streams_[stream] =
      shuffle_.OpenStream({at.place.host, static_cast<uint16_t>(at.place.port)}, at.place.executor_id,
                          layout::RddBlockName(task.plan.kept[level], task.partition), std::move(callbacks));
}

/// `counts` are those of the dataset at `level`; what lies above it is made, and kept.
void CountExecutor::HaveInput(const Task& task, size_t level, Counts counts) {
  const std::vector<int32_t>& kept = task.plan.kept;
  for (size_t above = level; above-- > 0;) {
    if (kept[above] == kDoubled) counts = Doubled(counts);
    Keep({kept[above], task.partition}, counts);
  }
  Done(task, counts);
}

void CountExecutor::Keep(const Key& key, const Counts& counts) {
  std::vector<std::string> gone;
  auto bytes = std::make_shared<const std::string>(Encoded(counts));
  const auto size = static_cast<int64_t>(bytes->size());
  if (core_.kept().Book(key.first, size, gone)) core_.kept().Keep(key, {std::move(bytes), size, "", 0, 0}, gone);
  Remove(gone);
}

void CountExecutor::Publish(const Key& key) {
  we::KeptPublished published{key.first, key.second, false, 0, 0};
  if (const auto* const found = core_.kept().Find(key)) {
    const auto& bytes = *static_cast<const std::string*>(found->bytes.get());
    std::string path;
    published.checksum = ChecksumOf(bytes);
    published.bytes = found->size;
    published.good = WriteFile(layout::RddBlockName(key.first, key.second), bytes, path).ok() &&
                     core_.kept().HasFile(key, found->bytes, path, published.checksum);
  }
  Send(published);
}

void CountExecutor::Remove(const std::vector<std::string>& files) {
  for (const std::string& file : files) (void)disk_.RemoveTree(file);
}

// ---- shuffles
// --------------------------------------------------------------------------------------------------------

void CountExecutor::FetchInput(const Task& task) {
  const Core::Outputs& outputs = *core_.FindOutputs(task.plan.reads);
  if (!outputs.table) return Broke(task, FailureKind::kFetchFailed, "the driver knows no outputs");
  if (outputs.epoch < newest_epoch_) ledger_.Violation(settings_.id + " reads by a table of outputs that are lost");
  for (int32_t map = 0; map < outputs.table->maps(); ++map) {
    if (outputs.table->place(map) != tasks::MapOutputTable::kMissing) continue;
    return Broke(task, FailureKind::kFetchFailed, "map output is missing", map);
  }
  std::vector<tasks::MapOutputTable::Block> blocks = outputs.table->BlocksOf(task.partition);
  if (blocks.empty()) return Done(task, {});
  const auto reduce = static_cast<size_t>(task.partition);
  if (reduce < outputs.merged.size() && outputs.merged[reduce] != 0) return FetchMerged(task, std::move(blocks));
  FetchBlocks(std::make_shared<Fetching>(Fetching{task, {}, blocks.size()}), blocks);
}

void CountExecutor::FetchMerged(const Task& task, std::vector<tasks::MapOutputTable::Block> blocks) {
  const Core::Outputs& outputs = *core_.FindOutputs(task.plan.reads);
  const std::vector<we::Merger>& mergers = outputs.merge.mergers;
  const we::Merger& by = mergers[tasks::MergerOf(task.partition, outputs.table->reduces(), mergers.size())];
  const env::Endpoint service{by.host, static_cast<uint16_t>(by.port)};
  shuffle_.AskMergedChunks(
      service, task.plan.reads, task.partition,
      alive_([this, task, service, blocks](const base::Result<std::vector<layout::MapBitmap>>& chunks) {
        if (!Runs(task.id)) return;
        if (!chunks.ok()) ++world_.counts()["merged partition cannot be found"];
        process::executor::MergedInput input = process::executor::DealToChunks(
            blocks, chunks.ok() ? *chunks : std::vector<layout::MapBitmap>(), INT64_MAX);
        const auto fetching = std::make_shared<Fetching>(Fetching{task, {}, input.rest.size() + input.chunks.size()});
        FetchBlocks(fetching, input.rest);
        for (auto& chunk : input.chunks) FetchChunk(fetching, service, std::move(chunk), 0);
      }));
}

/// A chunk that cannot be had is replaced by its blocks.
void CountExecutor::FetchChunk(const std::shared_ptr<Fetching>& fetching, const env::Endpoint& service,
                               process::executor::MergedInput::Chunk chunk, int tries) {
  if (!Runs(fetching->task.id)) return;
  const int32_t shuffle = fetching->task.plan.reads;
  const int32_t reduce = fetching->task.partition;
  const auto number = chunk.number;
  const auto shared = std::make_shared<process::executor::MergedInput::Chunk>(std::move(chunk));
  const auto arrived = std::make_shared<bool>(false);
  ShuffleClient::FetchCallbacks callbacks;
  callbacks.on_block = alive_([this, fetching, shared, arrived, shuffle, reduce](size_t, std::string_view bytes) {
    *arrived = true;
    if (!Runs(fetching->task.id)) return;
    ++world_.counts()["merged chunk read"];
    std::vector<int32_t> maps;
    for (const auto& block : shared->blocks) maps.push_back(block.map);
    ledger_.merges().ChunkRead(ToString(settings_.attempt), shuffle, reduce, maps, bytes);
    if (!DecodeAllInto(bytes, fetching->input)) {
      return Broke(fetching->task, FailureKind::kException, "a merged chunk is malformed");
    }
    if (--fetching->missing == 0) Done(fetching->task, fetching->input);
  });
  callbacks.on_end = alive_([this, fetching, service, shared, arrived, tries](const base::Status& status) {
    if (*arrived || !Runs(fetching->task.id)) return;
    if (!status.ok() && status.error().code == static_cast<int>(FetchError::kConnection) && tries < kChunkTries) {
      machine_.loop().After(kRetry, alive_([this, fetching, service, shared, tries] {
                              FetchChunk(fetching, service, *shared, tries + 1);
                            }));
      return;
    }
    ++world_.counts()["merged chunk replaced by its blocks"];
    fetching->missing += shared->blocks.size() - 1;
    FetchBlocks(fetching, shared->blocks);
  });
  shuffle_.FetchChunks(service, shuffle, reduce, {number}, std::move(callbacks));
}

void CountExecutor::FetchBlocks(const std::shared_ptr<Fetching>& fetching,
                                const std::vector<tasks::MapOutputTable::Block>& blocks) {
  std::map<uint32_t, std::vector<tasks::MapOutputTable::Block>> by_place;
  for (const auto& block : blocks) by_place[block.place].push_back(block);
  for (auto& [place, own] : by_place) FetchFrom(fetching, place, std::move(own), 0);
}

/// A connection that broke is tried again, a block that the service does not have is not.
void CountExecutor::FetchFrom(const std::shared_ptr<Fetching>& fetching, uint32_t place,
                              std::vector<tasks::MapOutputTable::Block> blocks, int tries) {
  const Task& task = fetching->task;
  if (!Runs(task.id)) return;
  const Core::Outputs* const outputs = core_.FindOutputs(task.plan.reads);
  if (outputs == nullptr || !outputs->places.contains(place)) {
    return Broke(task, FailureKind::kFetchFailed, "nobody serves the output", blocks.front().map, place);
  }
  const we::Place& at = outputs->places.at(place);
  std::vector<ShuffleClient::Block> wanted;
  for (const auto& block : blocks) wanted.push_back({block.task, task.partition});
  auto arrived = std::make_shared<std::vector<bool>>(blocks.size(), false);
  ShuffleClient::FetchCallbacks callbacks;
  callbacks.on_block = alive_([this, fetching, arrived](size_t i, std::string_view bytes) {
    if (!Runs(fetching->task.id)) return;
    (*arrived)[i] = true;
    if (!DecodeInto(bytes, fetching->input)) {
      return Broke(fetching->task, FailureKind::kException, "a block is malformed");
    }
    if (--fetching->missing == 0) Done(fetching->task, fetching->input);
  });
  callbacks.on_end =
      alive_([this, fetching, arrived, place, tries, blocks = std::move(blocks)](const base::Status& status) {
        if (status.ok() || !Runs(fetching->task.id)) return;
        std::vector<tasks::MapOutputTable::Block> rest;
        for (size_t i = 0; i < blocks.size(); ++i) {
          if (!(*arrived)[i]) rest.push_back(blocks[i]);
        }
        if (rest.empty()) return;
        if (status.error().code != static_cast<int>(FetchError::kConnection) || tries >= kTries) {
          return Broke(fetching->task, FailureKind::kFetchFailed, status.error().message, rest.front().map, place);
        }
        ++world_.counts()["fetch tried again"];
        machine_.loop().After(
            kRetry, alive_([this, fetching, place, rest, tries] { FetchFrom(fetching, place, rest, tries + 1); }));
      });
  shuffle_.Fetch({at.host, static_cast<uint16_t>(at.port)}, at.executor_id, task.plan.reads, std::move(wanted),
                 std::move(callbacks));
}

void CountExecutor::Done(const Task& task, const Counts& input) {
  we::TaskDone done;
  done.task = task.id;
  if (task.plan.writes < 0) {
    done.result = Encoded(input);
    return Commit(task, done);
  }
  const Counts output = task.plan.reads < 0 ? input : Histogram(input);
  if (const base::Status written = WriteOutput(task, output, done.sizes); !written.ok()) {
    return Broke(task, FailureKind::kException, written.error().message);
  }
  core_.Wrote(task.plan.writes, task.id);
  if (settings_.job.merges) pusher_.Wrote(task.plan.writes, task.partition, task.id);
  Send(done);
  EndTask(task.id);
}

void CountExecutor::Commit(const Task& task, const we::TaskDone& done) {
  WaitFor(task.id, [this, task, done, token = core_.AskCommit(task.id)] {
    const std::optional<bool> granted = core_.TakeCommit(token);
    if (!granted) return false;
    if (*granted) {
      ledger_.Commits(ToString(settings_.attempt), task.id);
      Send(done);
      EndTask(task.id);
    } else {
      ++world_.counts()["commit denied"];
      Broke(task, FailureKind::kCommitDenied, "another attempt commits");
    }
    return true;
  });
}

base::Status CountExecutor::WriteFile(const std::string& name, const std::string& bytes, std::string& path) {
  path = layout::BlockPath({settings_.local_directory}, name);
  if (base::Status made = disk_.MakeDirectories(path.substr(0, path.rfind('/'))); !made.ok()) return made;
  return disk_.WriteFileAtomically(path, bytes);
}

/// The two files of Spark's sort shuffle.
base::Status CountExecutor::WriteOutput(const Task& task, const Counts& counts, std::string& sizes) {
  std::string data;
  std::string index;
  base::ByteWriter offsets(index);
  offsets.I64(0);
  int32_t reduce = 0;
  for (const Counts& part : Split(counts, task.plan.reduces)) {
    const std::string block = Encoded(part);
    if (settings_.job.merges && !block.empty()) {
      ledger_.merges().Wrote(ToString(settings_.attempt), task.plan.writes, task.partition, reduce, block);
    }
    ++reduce;
    data += block;
    offsets.I64(static_cast<int64_t>(data.size()));
    sizes.push_back(static_cast<char>(tasks::EncodeSize(static_cast<int64_t>(block.size()))));
  }
  std::string path;
  base::Status wrote = WriteFile(layout::ShuffleDataName(task.plan.writes, task.id), data, path);
  if (!wrote.ok()) return wrote;
  return WriteFile(layout::ShuffleIndexName(task.plan.writes, task.id), index, path);
}

void CountExecutor::Broke(const Task& task, FailureKind kind, const std::string& message, int32_t map,
                          uint32_t source) {
  const Task ended = task;
  we::TaskBroke broke{ended.id, static_cast<int32_t>(kind), message, -1, map, source};
  if (kind == FailureKind::kFetchFailed) {
    broke.shuffle = ended.plan.reads;
    core_.DropOutputs(ended.plan.reads);
  }
  Send(broke);
  EndTask(ended.id);
}

}  // namespace fairlead::sim
