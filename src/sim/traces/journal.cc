#include "sim/traces/journal.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "model/exit_status.h"

namespace fairlead::sim {

namespace ms = model::scheduler;
using fairlead::rm::App;
using fairlead::rm::Container;
using fairlead::rm::Core;

namespace {

constexpr size_t kStagesMax = 500;

/// Its work was asked for again.
bool IsLost(int32_t status) {
  return status == model::kExitPreempted || status == model::kExitLost || status == model::kExitDisksFailed ||
         status == model::kExitKilledByScheduler;
}

uint32_t RunMs(int64_t ms) { return static_cast<uint32_t>(std::clamp<int64_t>(ms, 1, INT32_MAX)); }

}  // namespace

void JournalTrace::Add(const model::rm::NodeAddress& address, const std::string& rack, const model::Resources& capacity,
                       const std::vector<std::string>& labels) {
  nodes_[address] = {address.host, rack.empty() ? "/default-rack" : rack, capacity, labels};
}

void JournalTrace::Begin(base::WallTime at, const process::rm::ResourceMachine& machine) {
  if (begins_ms_ < 0) begins_ms_ = at.ms;
  const Core& core = machine.core();
  core.ForEachNode([&](const fairlead::rm::Node& node) {
    if (node.in_scheduler) Add(node.address, node.rack, node.capacity, node.labels);
  });
  for (auto& [id, job] : jobs_) {
    const App* app = core.FindApp(id);
    const size_t unseen = std::erase_if(
        job.running, [&](const auto& one) { return app == nullptr || !app->containers.Contains(one.first); });
    out_.left_out += static_cast<int64_t>(unseen);
    if (unseen > 0) job.came = false;  // nobody knows when it ended
  }
  core.ForEachApp([&](const App& app) {
    if (Core::IsCompleted(app)) return;
    if (!jobs_.contains(app.submission.id)) Meet(app, at, false);
    Job& job = jobs_[app.submission.id];
    app.containers.ForEach([&](const Container& container) {
      const Running running{container.priority, container.resources, at.ms, false, at.ms, container.is_master};
      if (!job.running.try_emplace(container.id, running).second || !container.is_master) return;
      if (job.master_ms < 0) job.master_ms = at.ms;
      if (job.first_ms < 0) job.first_ms = at.ms;
      job.master_size = container.resources;
    });
  });
}

void JournalTrace::Meet(const App& app, base::WallTime at, bool came) {
  Job& job = jobs_[app.submission.id];
  job.name = app.submission.name.empty() ? ToString(app.submission.id) : app.submission.name;
  job.queue = app.submission.queue;
  job.user = app.submission.user;
  job.submit_ms = came ? app.submitted.ms : at.ms;
  job.came = came;
}

JournalTrace::Job* JournalTrace::Find(const Core& core, model::AppIndex index) {
  const App* app = core.AppAt(index);
  if (app == nullptr) return nullptr;
  const auto found = jobs_.find(app->submission.id);
  if (found != jobs_.end()) return &found->second;
  Meet(*app, app->submitted, true);
  return &jobs_[app->submission.id];
}

void JournalTrace::Granted(const Core& core, const ms::Granted& effect) {
  Job* job = Find(core, effect.app);
  if (job == nullptr) return;
  if (job->first_ms < 0) job->first_ms = now_ms_;
  Running running{effect.priority, effect.resources, std::max(job->master_ms, job->submit_ms),
                  false,           now_ms_,          effect.is_master};
  if (effect.is_master) {
    job->master_size = effect.resources;
    if (job->master_ms < 0) job->master_ms = now_ms_;
  } else {
    Asks& asks = job->asks[effect.priority];
    asks.wanted = std::max<int64_t>(0, asks.wanted - 1);
    if (!asks.open.empty()) {
      running.asked_ms = asks.open.front().at_ms;
      running.chained = asks.open.front().chained;
      if (--asks.open.front().count == 0) asks.open.pop_front();
    }
  }
  job->running[effect.container] = running;
}

void JournalTrace::End(Job& job, const Running& container, int64_t end_ms) {
  const int64_t run_ms = end_ms - container.since_ms;
  if (container.master) {
    job.master_run_ms = run_ms;
  } else {
    job.tasks.push_back({container.priority, container.size, container.asked_ms, container.chained, run_ms});
  }
}

void JournalTrace::Finished(const Core& core, const ms::Finished& effect) {
  Job* job = Find(core, effect.app);
  if (job == nullptr) return;
  auto found = job->running.extract(effect.container);
  if (found.empty()) return;
  Running running = found.mapped();
  job->end_ms = now_ms_;
  const Container* container = core.FindContainer(effect.container);
  const bool ran = container != nullptr && container->launched;
  if (ran) running.since_ms = std::max(running.since_ms, container->launched_at.ms);
  if (!running.master && (!ran || IsLost(effect.exit_status))) {
    ++out_.left_out;
  } else {
    End(*job, running, now_ms_);
  }
}

void JournalTrace::Arrive(std::span<const model::rm::OuterEvent> events) {
  if (arrived_) return;
  arrived_ = true;
  for (const model::rm::OuterEvent& event : events) {
    if (const auto* call = std::get_if<model::rm::AllocateCall>(&event)) Asked(*call);
  }
}

void JournalTrace::Decided(base::WallTime at, const process::rm::ResourceMachine& machine,
                           std::span<const model::rm::OuterEvent> events, std::span<const ms::Effect> effects) {
  now_ms_ = at.ms;
  if (begins_ms_ < 0) begins_ms_ = at.ms;
  Arrive(events);
  for (const ms::Effect& effect : effects) {
    if (const auto* granted = std::get_if<ms::Granted>(&effect)) Granted(machine.core(), *granted);
    if (const auto* finished = std::get_if<ms::Finished>(&effect)) Finished(machine.core(), *finished);
  }
}

/// A master says of each priority how many it wants in all; what is more than it wanted before is asked for now.
void JournalTrace::Asked(const model::rm::AllocateCall& call) {
  const auto found = jobs_.find(call.attempt.app);
  if (found == jobs_.end()) return;
  Job& job = found->second;
  std::map<int32_t, int64_t> wanted;
  for (const model::Ask& ask : call.asks) {
    if (ask.name == "*") wanted[ask.priority] += ask.count;
  }
  for (const auto& [priority, count] : wanted) {
    const bool idle =
        job.running.size() <= 1 && !job.tasks.empty() &&
        std::all_of(job.asks.begin(), job.asks.end(), [](const auto& one) { return one.second.wanted == 0; });
    Asks& asks = job.asks[priority];
    if (count > asks.wanted) {
      asks.open.push_back({now_ms_, idle, count - asks.wanted});
    } else if (count == 0) {
      asks.open.clear();
    }
    asks.wanted = count;
  }
}

void JournalTrace::Stepped(base::WallTime at, const process::rm::ResourceMachine& machine,
                           std::span<const model::rm::OuterEvent> events) {
  now_ms_ = at.ms;
  if (begins_ms_ < 0) begins_ms_ = at.ms;
  Arrive(events);
  arrived_ = false;
  const Core& core = machine.core();
  for (const model::rm::OuterEvent& event : events) {
    if (const auto* registered = std::get_if<model::rm::RegisterNode>(&event)) {
      const auto* node = core.FindNode(registered->address);
      if (node != nullptr && node->in_scheduler) Add(node->address, node->rack, node->capacity, node->labels);
    } else if (const auto* submit = std::get_if<model::rm::Submit>(&event)) {
      const App* app = core.FindApp(submit->submission.id);
      if (app != nullptr && !jobs_.contains(submit->submission.id)) Meet(*app, at, true);
    }
  }
}

TraceJob JournalTrace::Make(const Job& job) const {
  TraceJob made;
  made.name = job.name;
  made.queue = job.queue;
  made.user = job.user;
  made.submit_ms = job.submit_ms - begins_ms_;
  const int64_t master_ms = std::max(job.master_ms, job.submit_ms);
  std::vector<Task> tasks = job.tasks;
  if (tasks.empty() && job.master_run_ms > 0) {  // all its work was done in its master
    tasks.push_back({0, job.master_size, master_ms, false, job.master_run_ms});
  }
  // A long-lived one may ask all the time: what it asks for within a step counts as one ask.
  using Key = std::tuple<int64_t, bool, int32_t, int64_t, int64_t>;
  const auto key = [&](const Task& task, int64_t step) {
    return Key{(task.asked_ms - master_ms) / step, task.chained, -task.priority, task.size.memory_mib(),
               task.size.vcores()};
  };
  int64_t step = 1000;
  std::map<Key, TraceStage, std::less<>> stages;
  const auto count = [&] {
    std::set<Key> keys;
    for (const Task& task : tasks) keys.insert(key(task, step));
    return keys.size();
  };
  while (count() > kStagesMax) step *= 2;
  for (const Task& task : tasks) {
    TraceStage& stage = stages[key(task, step)];
    stage.priority = task.priority;
    stage.size = task.size;
    stage.waits_for_previous = task.chained;
    if (!task.chained)
      stage.after = base::Duration::Millis(std::max<int64_t>(0, task.asked_ms - master_ms) / step * step);
    stage.run_ms.push_back(RunMs(task.run_ms));
  }
  for (auto& [at, stage] : stages) made.stages.push_back(std::move(stage));
  return made;
}

JournalJobs JournalTrace::Finish() {
  std::map<std::pair<int64_t, int64_t>, int64_t> masters;
  for (auto& [id, job] : jobs_) {
    if (job.first_ms < 0) continue;  // it never ran: nobody knows for how long it would have
    ++masters[{job.master_size.memory_mib(), job.master_size.vcores()}];
    if (job.running.empty() && job.came) {
      ++out_.ended;
      out_.waited_ms += job.first_ms - job.submit_ms;
      out_.completion_ms += job.end_ms - job.submit_ms;
    }
    for (const auto& [container, running] : job.running) End(job, running, now_ms_);
    out_.jobs.push_back(Make(job));
  }
  std::stable_sort(out_.jobs.begin(), out_.jobs.end(),
                   [](const TraceJob& a, const TraceJob& b) { return a.submit_ms < b.submit_ms; });
  const int64_t first = out_.jobs.empty() ? 0 : out_.jobs.front().submit_ms;
  for (TraceJob& job : out_.jobs) job.submit_ms -= first;
  const auto usual = std::max_element(masters.begin(), masters.end(),
                                      [](const auto& a, const auto& b) { return a.second < b.second; });
  if (usual != masters.end() && usual->first.first > 0) {
    out_.master_size = model::Resources::Of(usual->first.first, usual->first.second);
  }
  std::map<std::string, int> hosts;
  for (const auto& [address, node] : nodes_) ++hosts[node.host];
  for (const auto& [address, node] : nodes_) {
    out_.nodes.push_back(node);
    if (hosts[node.host] > 1) out_.nodes.back().host += ":" + std::to_string(address.port);
  }
  return std::move(out_);
}

}  // namespace fairlead::sim
