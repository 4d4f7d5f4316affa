#include "process/driver/lost_work.h"

#include <algorithm>

namespace fairlead::process::driver {

namespace mt = model::tasks;

void LostWork::OnEvent(const mt::Event& event) {
  if (const auto* const added = std::get_if<mt::ExecutorAdded>(&event)) {
    Executor& executor = executors_[added->executor.value];
    executor.slots = std::max(1, added->slots);
    executor.files_go = added->serves_own_files || !core_.config().external_shuffle_service;
  } else if (const auto* const lost = std::get_if<mt::ExecutorLost>(&event)) {
    executors_.erase(lost->executor.value);
  } else if (const auto* const block = std::get_if<mt::BlockCached>(&event)) {
    OnBlock(*block);
  } else if (const auto* const forgotten = std::get_if<mt::ForgetDatasets>(&event)) {
    Forget(*forgotten);
  }
}

void LostWork::OnEffect(const mt::Effect& effect) {
  if (const auto* const launch = std::get_if<mt::LaunchTask>(&effect)) {
    Begin(*launch);
  } else if (const auto* const batch = std::get_if<mt::LaunchBatch>(&effect)) {
    for (const mt::LaunchTask& task : batch->tasks) Begin(task);
  } else if (const auto* const ended = std::get_if<mt::TaskEnded>(&effect)) {
    End(*ended);
  } else if (const auto* const submitted = std::get_if<mt::StageSubmitted>(&effect)) {
    if (submitted->shuffle >= 0) shuffles_[submitted->stage] = submitted->shuffle;
  } else if (const auto* const completed = std::get_if<mt::StageCompleted>(&effect)) {
    shuffles_.erase(completed->stage);
  }
}

void LostWork::Begin(const mt::LaunchTask& launch) {
  const auto found = executors_.find(launch.executor.value);
  if (found != executors_.end()) found->second.running[launch.task] = {loop_.Now(), launch.partition};
}

void LostWork::End(const mt::TaskEnded& ended) {
  const auto found = executors_.find(ended.executor.value);
  if (found == executors_.end()) return;
  Executor& executor = found->second;
  const auto task = executor.running.find(ended.task);
  if (task == executor.running.end()) return;
  const auto shuffle = shuffles_.find(ended.stage);
  if (ended.kind == mt::EndKind::kSuccess && executor.files_go && shuffle != shuffles_.end()) {
    base::Duration& spent = executor.outputs[shuffle->second];
    spent = spent + (loop_.Now() - task->second.began);
  }
  executor.running.erase(task);
}

/// A partition costs what its task has run for until then; that of the same number, where there is one.
void LostWork::OnBlock(const mt::BlockCached& block) {
  const auto found = executors_.find(block.executor.value);
  if (found == executors_.end()) return;
  Executor& executor = found->second;
  if (!block.present) {
    executor.blocks.erase({block.dataset, block.partition});
    return;
  }
  auto task = std::find_if(executor.running.begin(), executor.running.end(),
                           [&](const auto& one) { return one.second.partition == block.partition; });
  if (task == executor.running.end()) task = executor.running.begin();
  const bool any = task != executor.running.end();
  executor.blocks[{block.dataset, block.partition}] = any ? loop_.Now() - task->second.began : base::Duration();
}

void LostWork::Forget(const mt::ForgetDatasets& forgotten) {
  for (auto& [index, executor] : executors_) {
    for (const mt::ShuffleId shuffle : forgotten.shuffles) executor.outputs.erase(shuffle);
    for (const mt::DatasetId dataset : forgotten.datasets) {
      executor.blocks.erase(executor.blocks.lower_bound({dataset, INT32_MIN}),
                            executor.blocks.upper_bound({dataset, INT32_MAX}));
    }
  }
}

base::Duration LostWork::Of(mt::ExecutorIndex index) const {
  const auto found = executors_.find(index.value);
  if (found == executors_.end()) return {};
  const Executor& executor = found->second;
  base::Duration sum;
  for (const auto& [id, task] : executor.running) sum = sum + (loop_.Now() - task.began);
  for (const auto& [block, spent] : executor.blocks) sum = sum + spent;
  for (const auto& [shuffle, spent] : executor.outputs) {
    if (core_.InUse(shuffle)) sum = sum + spent;
  }
  return {sum.ns / executor.slots};
}

}  // namespace fairlead::process::driver
