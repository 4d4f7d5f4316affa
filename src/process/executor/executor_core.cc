#include "process/executor/executor_core.h"

#include <algorithm>

#include "base/dispatch.h"
#include "model/tasks.h"

namespace fairlead::process::executor {

namespace we = wire::engine;
using model::tasks::FailureKind;

namespace {
we::TaskBroke Broken(int64_t task, FailureKind kind, const std::string& why) {
  return {task, static_cast<int32_t>(kind), why, -1, -1, UINT32_MAX};
}
}  // namespace

ExecutorCore::ExecutorCore(Send send, MakeProgram make_program, int64_t kept_bytes_max)
    : send_(std::move(send)),
      make_program_(std::move(make_program)),
      kept_(kept_bytes_max, [this](const we::BlockKept& news) { send_(news); }) {}

ExecutorCore::Outcome ExecutorCore::OnMessage(we::Message message) {
  Outcome outcome;
  base::Dispatch(
      message, [&](we::Launch& launch) { On(launch, outcome); }, [&](we::StagePlanned& planned) { On(planned); },
      [&](const we::Kill& kill) { On(kill, outcome); },
      [&](const we::StageGone& gone) {
        programs_.erase({gone.stage, gone.attempt});
      },
      [&](const we::CommitAnswer& commit) {
        const auto found = commits_.find(commit.token);
        if (found != commits_.end()) found->second = commit.granted;
        outcome.answers = true;
      },
      [&](we::MapOutputs& outputs) {
        On(outputs);
        outcome.answers = true;
      },
      [&](we::Broadcast& broadcast) {
        SharedValue& value = broadcasts_[broadcast.id];
        value.ready = true;
        if (broadcast.known) value.bytes = std::make_shared<const std::string>(std::move(broadcast.value));
        outcome.answers = true;
      },
      [&](we::KeptPlace& place) {
        const auto found = kept_waits_.find(place.token);
        if (found != kept_waits_.end()) found->second = std::move(place);
        outcome.answers = true;
      },
      [&](const we::PublishKept& publish) {
        outcome.publish = {publish.dataset, publish.partition};
      },
      [&](const we::Forget& forget) { On(forget, outcome); },
      base::Others{[](const auto&) {}});  // no driver sends them
  return outcome;
}

void ExecutorCore::On(we::Launch& launch, Outcome& outcome) {
  const auto program = programs_.find({launch.stage, launch.stage_attempt});
  for (const we::TaskLaunch& task : launch.tasks) {
    if (program == programs_.end()) {
      send_(Broken(task.task, FailureKind::kException, "executor has no plan of the stage"));
      continue;
    }
    queue_.push_back({task, launch.stage, program->second});
    ++outcome.work;
  }
}

void ExecutorCore::On(we::StagePlanned& planned) {
  kept_somewhere_.insert(planned.kept.begin(), planned.kept.end());
  programs_[{planned.stage, planned.attempt}] = make_program_(std::move(planned.plan));
  // Outputs were lost since an older table was sent: it is asked for again.
  std::erase_if(outputs_, [&](const auto& entry) { return entry.second.ready && entry.second.epoch < planned.epoch; });
}

void ExecutorCore::On(const we::Kill& kill, Outcome& outcome) {
  if (running_.contains(kill.task)) {
    outcome.kill = kill.task;
  } else if (std::erase_if(queue_, [&](const Work& work) { return work.launch.task == kill.task; }) != 0) {
    send_(Broken(kill.task, FailureKind::kKilled, "killed"));
  }
}

void ExecutorCore::On(we::MapOutputs& message) {
  auto table = tasks::DecodeMapOutputs(std::move(message.table));
  Outputs& outputs = outputs_[message.shuffle];
  outputs.ready = true;
  outputs.epoch = message.epoch;
  outputs.places.clear();
  outputs.table = table.ok() ? std::make_shared<const tasks::MapOutputTable>(std::move(*table)) : nullptr;
  for (we::Place& place : message.places) outputs.places[place.executor] = std::move(place);
  outputs.merge = std::move(message.merge);
  outputs.merged = std::move(message.merged);
}

void ExecutorCore::On(const we::Forget& forget, Outcome& outcome) {
  for (const int32_t shuffle : forget.shuffles) {
    for (const int64_t task : written_[shuffle]) outcome.outputs_gone.emplace_back(shuffle, task);
    written_.erase(shuffle);
    outputs_.erase(shuffle);
  }
  for (const int32_t dataset : forget.datasets) {
    kept_somewhere_.erase(dataset);
    kept_.Forget(dataset, outcome.files_gone);
  }
  for (const int64_t id : forget.broadcasts) {
    const auto found = broadcasts_.find(id);
    if (found != broadcasts_.end() && found->second.ready) broadcasts_.erase(found);
  }
  outcome.broadcasts_gone = forget.broadcasts;
}

std::optional<ExecutorCore::Work> ExecutorCore::Take() {
  if (queue_.empty()) return std::nullopt;
  Work work = std::move(queue_.front());
  queue_.pop_front();
  running_.insert(work.launch.task);
  return work;
}

const ExecutorCore::Outputs* ExecutorCore::FindOutputs(int32_t shuffle) {
  Outputs& outputs = outputs_[shuffle];
  if (outputs.ready) return &outputs;
  if (!std::exchange(outputs.asked, true)) send_(we::AskMapOutputs{shuffle});
  return nullptr;
}

void ExecutorCore::DropOutputs(int32_t shuffle) {
  const auto found = outputs_.find(shuffle);
  if (found != outputs_.end() && found->second.ready) outputs_.erase(found);
}

uint64_t ExecutorCore::AskCommit(int64_t task) {
  const uint64_t token = next_token_++;
  commits_[token] = std::nullopt;
  send_(we::AskCommit{task, token});
  return token;
}

std::optional<bool> ExecutorCore::TakeCommit(uint64_t token) {
  const auto found = commits_.find(token);
  if (found == commits_.end() || !found->second) return std::nullopt;
  const bool granted = *found->second;
  commits_.erase(found);
  return granted;
}

const ExecutorCore::SharedValue* ExecutorCore::FindBroadcast(int64_t id) {
  const auto [found, fresh] = broadcasts_.try_emplace(id);
  if (fresh) send_(we::AskBroadcast{id});
  return found->second.ready ? &found->second : nullptr;
}

uint64_t ExecutorCore::AskKept(int32_t dataset, int32_t partition) {
  if (!kept_somewhere_.contains(dataset)) return 0;
  const uint64_t token = next_token_++;
  kept_waits_[token] = std::nullopt;
  send_(we::AskKept{dataset, partition, token});
  return token;
}

std::optional<we::KeptPlace> ExecutorCore::TakeKept(uint64_t token) {
  const auto found = kept_waits_.find(token);
  if (found == kept_waits_.end() || !found->second) return std::nullopt;
  we::KeptPlace place = std::move(*found->second);
  kept_waits_.erase(found);
  return place;
}

void ExecutorCore::Abandon(uint64_t token) {
  commits_.erase(token);
  kept_waits_.erase(token);
}

}  // namespace fairlead::process::executor
