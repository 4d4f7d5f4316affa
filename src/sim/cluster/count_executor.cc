#include "sim/cluster/count_executor.h"

#include <algorithm>

#include "base/codec.h"
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
constexpr Duration kRetry = Duration::Millis(500);

ShuffleClient::Limits FetchLimits() {
  ShuffleClient::Limits limits;
  limits.silence = Duration::Seconds(10);
  return limits;
}

}  // namespace

/// One task's input on its way.
struct CountExecutor::Fetching {
  Task task;
  Counts input;
  size_t missing = 0;  // blocks
};

CountExecutor::CountExecutor(env_sim::World& world, env_sim::Machine& machine, env::Disk& disk, Settings settings,
                             std::function<void(int exit_code)> exit)
    : world_(world),
      machine_(machine),
      disk_(disk),
      settings_(std::move(settings)),
      exit_(std::move(exit)),
      shuffle_(machine.loop(), machine.net(), settings_.application, FetchLimits()) {
  machine_.loop().After(Duration::Millis(100), [this, alive = alive_] {
    if (*alive) Register(0);
  });
}

CountExecutor::~CountExecutor() { *alive_ = false; }

void CountExecutor::Exit(int code) {
  if (std::exchange(exited_, true)) return;
  exit_(code);
}

void CountExecutor::Register(int tries) {
  shuffle_.Register(settings_.shuffle_service, settings_.id, {settings_.local_directory},
                    [this, alive = alive_, tries](const base::Status& status) {
                      if (!*alive || exited_) return;
                      if (status.ok()) return Connect();
                      ++world_.counts()["shuffle registration tried again"];
                      if (tries > 40) return Exit(1);
                      machine_.loop().After(kRetry, [this, alive, tries] {
                        if (*alive) Register(tries + 1);
                      });
                    });
}

void CountExecutor::Connect() {
  we::Hello hello;
  hello.build_id = "simulated";
  hello.executor_id = settings_.id;
  hello.host = settings_.host;
  hello.slots = static_cast<int32_t>(settings_.job.task_size.vcores());
  hello.shuffle_host = settings_.shuffle_service.host;
  hello.shuffle_port = settings_.shuffle_service.port;
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

void CountExecutor::OnMessage(we::Message message) {
  if (exited_) return;
  if (const auto* launch = std::get_if<we::Launch>(&message)) {
    OnLaunch(*launch);
  } else if (const auto* planned = std::get_if<we::StagePlanned>(&message)) {
    base::ByteReader in(planned->plan);
    base::Decode(in, plans_[{planned->stage, planned->attempt}]);
    std::erase_if(outputs_, [&](const auto& entry) { return entry.second.epoch < planned->epoch; });
  } else if (const auto* gone = std::get_if<we::StageGone>(&message)) {
    plans_.erase({gone->stage, gone->attempt});
  } else if (const auto* kill = std::get_if<we::Kill>(&message)) {
    OnKill(kill->task);
  } else if (auto* outputs = std::get_if<we::MapOutputs>(&message)) {
    OnMapOutputs(*outputs);
  }
}

void CountExecutor::OnLaunch(const we::Launch& launch) {
  const StagePlan& plan = plans_[{launch.stage, launch.stage_attempt}];
  for (const we::TaskLaunch& task : launch.tasks) queue_.push_back({task.task, task.partition, plan});
  RunNext();
}

void CountExecutor::RunNext() {
  while (!queue_.empty() && std::cmp_less(running_.size(), settings_.job.task_size.vcores())) {
    const Task task = queue_.front();
    queue_.pop_front();
    running_[task.id] = task;
    driver_->Send(we::TaskStarted{task.id});
    const Duration time{settings_.job.task_time.ns / 2 + world_.rng().Between(0, settings_.job.task_time.ns)};
    machine_.loop().After(time, [this, alive = alive_, task] {
      if (*alive && Runs(task.id)) Work(task);
    });
  }
}

void CountExecutor::EndTask(int64_t task) {
  running_.erase(task);
  RunNext();
}

void CountExecutor::OnKill(int64_t id) {
  const auto queued = std::find_if(queue_.begin(), queue_.end(), [&](const Task& task) { return task.id == id; });
  if (queued != queue_.end()) {
    const Task task = *queued;
    queue_.erase(queued);
    Broke(task, FailureKind::kKilled, "killed");
  } else if (Runs(id)) {
    Broke(running_.at(id), FailureKind::kKilled, "killed");
  }
}

void CountExecutor::Work(const Task& task) {
  if (world_.rng().Chance(settings_.job.task_failure)) {
    ++world_.counts()["task fails"];
    return Broke(task, FailureKind::kException, "planned failure");
  }
  if (task.plan.reads < 0) return Done(task, InputOf(task.plan.input_seed, task.partition));
  if (outputs_.contains(task.plan.reads)) return FetchInput(task);
  std::vector<Task>& waiting = waiting_[task.plan.reads];
  waiting.push_back(task);
  if (waiting.size() == 1) driver_->Send(we::AskMapOutputs{task.plan.reads});
}

void CountExecutor::OnMapOutputs(we::MapOutputs& message) {
  base::Result<tasks::MapOutputTable> table = tasks::DecodeMapOutputs(std::move(message.table));
  const std::vector<Task> waiting = std::exchange(waiting_[message.shuffle], {});
  if (!table.ok()) {
    for (const Task& task : waiting) Broke(task, FailureKind::kFetchFailed, "the driver knows no outputs");
    return;
  }
  Outputs& outputs = outputs_[message.shuffle];
  outputs.epoch = message.epoch;
  outputs.table = std::move(*table);
  outputs.places.clear();
  for (const we::Place& place : message.places) outputs.places[place.executor] = place;
  for (const Task& task : waiting) {
    if (Runs(task.id)) FetchInput(task);
  }
}

void CountExecutor::FetchInput(const Task& task) {
  const Outputs& outputs = outputs_.at(task.plan.reads);
  for (int32_t map = 0; map < outputs.table.maps(); ++map) {
    if (outputs.table.place(map) != tasks::MapOutputTable::kMissing) continue;
    return Broke(task, FailureKind::kFetchFailed, "map output is missing", map);
  }
  std::map<uint32_t, std::vector<tasks::MapOutputTable::Block>> by_place;
  const auto fetching = std::make_shared<Fetching>(Fetching{task, {}, 0});
  for (const auto& block : outputs.table.BlocksOf(task.partition)) {
    by_place[block.place].push_back(block);
    ++fetching->missing;
  }
  if (fetching->missing == 0) return Done(task, {});
  for (auto& [place, blocks] : by_place) FetchFrom(fetching, place, std::move(blocks), 0);
}

/// A connection that broke is tried again, a block that the service does not have is not.
void CountExecutor::FetchFrom(const std::shared_ptr<Fetching>& fetching, uint32_t place,
                              std::vector<tasks::MapOutputTable::Block> blocks, int tries) {
  const Task& task = fetching->task;
  const auto outputs = outputs_.find(task.plan.reads);
  if (!Runs(task.id)) return;
  if (outputs == outputs_.end() || !outputs->second.places.contains(place)) {
    return Broke(task, FailureKind::kFetchFailed, "nobody serves the output", blocks.front().map, place);
  }
  const we::Place& at = outputs->second.places.at(place);
  std::vector<ShuffleClient::Block> wanted;
  for (const auto& block : blocks) wanted.push_back({block.task, task.partition});
  auto arrived = std::make_shared<std::vector<bool>>(blocks.size(), false);
  ShuffleClient::FetchCallbacks callbacks;
  callbacks.on_block = [this, alive = alive_, fetching, arrived](size_t i, std::string_view bytes) {
    if (!*alive || !Runs(fetching->task.id)) return;
    (*arrived)[i] = true;
    if (!DecodeInto(bytes, fetching->input)) {
      return Broke(fetching->task, FailureKind::kException, "a block is malformed");
    }
    if (--fetching->missing == 0) Done(fetching->task, fetching->input);
  };
  callbacks.on_end = [this, alive = alive_, fetching, arrived, place, tries,
                      blocks = std::move(blocks)](const base::Status& status) {
    if (!*alive || status.ok() || !Runs(fetching->task.id)) return;
    std::vector<tasks::MapOutputTable::Block> rest;
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (!(*arrived)[i]) rest.push_back(blocks[i]);
    }
    if (rest.empty()) return;
    if (status.error().code != static_cast<int>(FetchError::kConnection) || tries >= kTries) {
      return Broke(fetching->task, FailureKind::kFetchFailed, status.error().message, rest.front().map, place);
    }
    ++world_.counts()["fetch tried again"];
    machine_.loop().After(kRetry, [this, alive, fetching, place, rest, tries] {
      if (*alive) FetchFrom(fetching, place, rest, tries + 1);
    });
  };
  shuffle_.Fetch({at.host, static_cast<uint16_t>(at.port)}, at.executor_id, task.plan.reads, std::move(wanted),
                 std::move(callbacks));
}

void CountExecutor::Done(const Task& task, const Counts& input) {
  we::TaskDone done;
  done.task = task.id;
  if (task.plan.writes < 0) {
    done.result = Encoded(input);
  } else {
    const Counts output = task.plan.reads < 0 ? input : Histogram(input);
    if (const base::Status written = WriteOutput(task, output, done.sizes); !written.ok()) {
      return Broke(task, FailureKind::kException, written.error().message);
    }
  }
  driver_->Send(done);
  EndTask(task.id);
}

/// The two files of Spark's sort shuffle.
base::Status CountExecutor::WriteOutput(const Task& task, const Counts& counts, std::string& sizes) {
  std::string data;
  std::string index;
  base::ByteWriter offsets(index);
  offsets.I64(0);
  for (const Counts& part : Split(counts, task.plan.reduces)) {
    const std::string block = Encoded(part);
    data += block;
    offsets.I64(static_cast<int64_t>(data.size()));
    sizes.push_back(static_cast<char>(tasks::EncodeSize(static_cast<int64_t>(block.size()))));
  }
  const auto write = [&](const std::string& name, const std::string& bytes) -> base::Status {
    const std::string path = layout::BlockPath({settings_.local_directory}, name);
    if (base::Status made = disk_.MakeDirectories(path.substr(0, path.rfind('/'))); !made.ok()) return made;
    return disk_.WriteFileAtomically(path, bytes);
  };
  if (base::Status wrote = write(layout::ShuffleDataName(task.plan.writes, task.id), data); !wrote.ok()) return wrote;
  return write(layout::ShuffleIndexName(task.plan.writes, task.id), index);
}

void CountExecutor::Broke(const Task& task, FailureKind kind, const std::string& message, int32_t map,
                          uint32_t source) {
  const Task ended = task;
  we::TaskBroke broke{ended.id, static_cast<int32_t>(kind), message, -1, map, source};
  if (kind == FailureKind::kFetchFailed) broke.shuffle = ended.plan.reads;
  driver_->Send(broke);
  EndTask(ended.id);
}

}  // namespace fairlead::sim
