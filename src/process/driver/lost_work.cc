#include "process/driver/lost_work.h"

#include <algorithm>

#include "base/dispatch.h"

namespace fairlead::process::driver {

namespace mt = model::tasks;

void LostWork::OnEvent(const mt::Event& event) {
  base::Dispatch(
      event,
      [&](const mt::ExecutorAdded& added) {
        Executor& executor = executors_[added.executor.value];
        executor.slots = std::max(1, added.slots);
        executor.files_go = added.serves_own_files || !core_.config().external_shuffle_service;
      },
      [&](const mt::ExecutorLost& lost) { executors_.erase(lost.executor.value); },
      [&](const mt::BlockCached& block) { OnBlock(block); },
      [&](const mt::ForgetDatasets& forgotten) { Forget(forgotten); }, base::Others{[](const auto&) {}});
}

void LostWork::OnEffect(const mt::Effect& effect) {
  base::Dispatch(
      effect, [&](const mt::LaunchTask& launch) { Begin(launch); },
      [&](const mt::LaunchBatch& batch) {
        for (const mt::LaunchTask& task : batch.tasks) Begin(task);
      },
      [&](const mt::TaskEnded& ended) { End(ended); },
      [&](const mt::StageSubmitted& submitted) {
        if (submitted.shuffle >= 0) shuffles_[submitted.stage] = submitted.shuffle;
      },
      [&](const mt::StageCompleted& completed) { shuffles_.erase(completed.stage); }, base::Others{[](const auto&) {}});
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
