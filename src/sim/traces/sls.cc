#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "sim/traces/readers.h"

// Hadoop's Scheduler Load Simulator: job lists, and descriptions of workloads from which it draws jobs.

namespace fairlead::sim {
namespace {

constexpr int64_t kMemoryMax = int64_t{1} << 40;
constexpr int64_t kCoresMax = 1 << 20;
constexpr int64_t kLargestCount = 1 << 30;

/// A container of a type that takes part in a chain of stages; "dag" masters ask for all by time instead.
struct SlsTask {
  int32_t priority;
  model::Resources size;
  int64_t run_ms;
  int64_t after_ms;
  int64_t count;
  std::vector<std::string> hosts;
};

SlsTask ReadSlsTask(const JsonValue& object, JobCollector& jobs) {
  JsonFields fields(object, jobs.file(), jobs.error());
  SlsTask task;
  task.priority = static_cast<int32_t>(fields.Int("container.priority", 20, 0, INT32_MAX));
  task.size = model::Resources::Of(fields.Int("container.memory-mb", 1024, 1, kMemoryMax),
                                   fields.Int("container.vcores", 1, 1, kCoresMax));
  task.after_ms = fields.Int("container.request.delay", 0, 0, kLongestMs);
  task.count = fields.Int("container.count", 1, 1, kLargestCount);
  if (fields.Has("container.duration.ms")) {
    task.run_ms = fields.Needed("container.duration.ms", 0, INT32_MAX);
  } else {
    const int64_t start = fields.Needed("container.start.ms", 0, kLongestMs);
    const int64_t end = fields.Needed("container.end.ms", 0, kLongestMs);
    if (end < start) fields.Refuse(object.line, "container.end.ms lies before container.start.ms");
    task.run_ms = std::clamp<int64_t>(end - start, 0, INT32_MAX);
  }
  if (const std::string host = fields.Text("container.host"); !host.empty()) task.hosts.push_back(host);
  return task;
}

/// A random number as SynthTraceJobProducer's Sample describes it: {"val": mean, "std": deviation}, or a plain number.
struct Distribution {
  double mean = 0;
  double deviation = 0;

  double Draw(base::Rng& rng) const {
    if (deviation <= 0) return mean;
    // Box and Muller.
    const double radius = std::sqrt(-2 * std::log(1 - rng.Unit()));
    return mean + deviation * radius * std::cos(2 * 3.14159265358979323846 * rng.Unit());
  }
};

struct SynthTask {
  int32_t priority = 20;
  Distribution count, seconds, memory, cores;
};

struct SynthClass {
  std::string user;
  double weight = 1;
  std::vector<SynthTask> tasks;
};

struct SynthWorkload {
  std::string queue;
  double weight = 1;
  std::vector<SynthClass> classes;
  std::vector<std::pair<int64_t, double>> times;  // from second, weight of the time until the next one
};

Distribution ReadSample(JsonFields& fields, const std::string& name, double high, JobCollector& jobs) {
  Distribution sample;
  const JsonValue* value = fields.Find(name);
  if (value == nullptr) return sample;
  if (value->kind == JsonValue::Kind::kNumber) {
    sample.mean = fields.Real(name, 0, 0, high);
    return sample;
  }
  JsonFields inner(*value, jobs.file(), jobs.error());
  sample.mean = inner.Real("val", 0, 0, high);
  sample.deviation = inner.Real("std", 0, 0, high);
  return sample;
}

Distribution ReadOldSample(JsonFields& fields, const std::string& name, double high) {
  return {fields.Real(name + "_avg", 0, 0, high), fields.Real(name + "_stddev", 0, 0, high)};
}

constexpr double kSecondsMax = 1e8;

SynthTask ReadOldTask(JsonFields& fields, const std::string& letter, const std::string& word, int32_t priority) {
  SynthTask task;
  task.priority = priority;
  task.count = ReadOldSample(fields, letter + "tasks", kLargestCount);
  task.seconds = ReadOldSample(fields, letter + "time", kSecondsMax);
  task.memory = ReadOldSample(fields, word + "_max_memory", kMemoryMax);
  task.cores = ReadOldSample(fields, word + "_max_vcores", kCoresMax);
  return task;
}

SynthClass ReadClass(const JsonValue& object, JobCollector& jobs) {
  JsonFields fields(object, jobs.file(), jobs.error());
  SynthClass one;
  one.user = fields.Text("user_name");
  one.weight = fields.Real("class_weight", 1, 0, 1e9);
  for (const JsonValue& item : fields.Items("tasks")) {
    JsonFields task(item, jobs.file(), jobs.error());
    one.tasks.push_back({static_cast<int32_t>(task.Int("priority", 20, 0, INT32_MAX)),
                         ReadSample(task, "count", kLargestCount, jobs), ReadSample(task, "time", kSecondsMax, jobs),
                         ReadSample(task, "max_memory", kMemoryMax, jobs),
                         ReadSample(task, "max_vcores", kCoresMax, jobs)});
  }
  if (one.tasks.empty()) {
    one.tasks = {ReadOldTask(fields, "m", "map", 20), ReadOldTask(fields, "r", "reduce", 10)};
  }
  return one;
}

SynthWorkload ReadWorkload(const JsonValue& object, JobCollector& jobs) {
  JsonFields fields(object, jobs.file(), jobs.error());
  SynthWorkload workload;
  workload.queue = fields.Text("queue_name");
  workload.weight = fields.Real("workload_weight", 1, 0, 1e9);
  for (const JsonValue& item : fields.Items("job_classes")) workload.classes.push_back(ReadClass(item, jobs));
  if (workload.classes.empty()) fields.Refuse(object.line, "a workload without job_classes");
  int64_t last = 0;
  for (const JsonValue& item : fields.Items("time_distribution")) {
    JsonFields point(item, jobs.file(), jobs.error());
    const int64_t time = point.Needed("time", 0, kLongestMs / 1000);
    if (time < last) point.Refuse(item.line, "times of time_distribution must rise");
    last = time;
    workload.times.emplace_back(time, point.Real("weight", 0, 0, 1e9));
  }
  return workload;
}

/// The position of a value drawn in proportion to the weights.
template <class T, class Weight>
size_t Pick(const std::vector<T>& choices, base::Rng& rng, Weight weight) {
  double total = 0;
  for (const T& choice : choices) total += weight(choice);
  double at = rng.Unit() * total;
  for (size_t i = 0; i < choices.size(); ++i) {
    at -= weight(choices[i]);
    if (at < 0) return i;
  }
  return choices.size() - 1;
}

int64_t DrawSubmission(const SynthWorkload& workload, base::Rng& rng) {
  const auto& times = workload.times;
  if (times.empty()) return 0;
  const size_t i = Pick(times, rng, [](const auto& point) { return point.second; });
  const int64_t from = times[i].first * 1000;
  const int64_t to = i + 1 < times.size() ? times[i + 1].first * 1000 : from;
  return from + (to > from ? rng.Between(0, to - from - 1) : 0);
}

TraceJob DrawJob(const SynthWorkload& workload, base::Rng& rng, JobCollector& jobs, int line) {
  const SynthClass& kind =
      workload.classes[Pick(workload.classes, rng, [](const SynthClass& one) { return one.weight; })];
  JobBuilder builder;
  builder.job.queue = workload.queue;
  builder.job.user = kind.user;
  builder.job.submit_ms = DrawSubmission(workload, rng);
  int64_t tasks = 0;
  for (const SynthTask& task : kind.tasks) {
    const auto whole = [&](const Distribution& sample, double low, double high) {
      return static_cast<int64_t>(std::clamp(std::round(sample.Draw(rng)), low, high));
    };
    const int64_t count = whole(task.count, 0, kLargestCount);
    tasks += count;
    if (!jobs.MayHave(tasks, line)) break;
    const model::Resources size =
        model::Resources::Of(whole(task.memory, 1, kMemoryMax), whole(task.cores, 1, kCoresMax));
    if (count == 0) continue;
    const size_t stage = builder.StageFor(task.priority, size, {});
    for (int64_t i = 0; i < count; ++i) {
      builder.AddTask(stage, static_cast<int64_t>(std::clamp(task.seconds.Draw(rng) * 1000, 1.0, 2e9)), {});
    }
  }
  builder.Chain();
  return std::move(builder.job);
}

}  // namespace

size_t JobBuilder::StageFor(int32_t priority, const model::Resources& size, base::Duration after) {
  for (size_t i = job.stages.size(); i > 0; --i) {
    const TraceStage& stage = job.stages[i - 1];
    if (stage.priority == priority && stage.size == size && stage.after == after) return i - 1;
  }
  TraceStage stage;
  stage.priority = priority;
  stage.size = size;
  stage.after = after;
  job.stages.push_back(std::move(stage));
  return job.stages.size() - 1;
}

void JobBuilder::AddTask(size_t at, int64_t run_ms, const std::vector<std::string>& hosts) {
  TraceStage& stage = job.stages[at];
  std::array<uint32_t, 3> wish{kNoHost, kNoHost, kNoHost};
  for (size_t i = 0; i < std::min(hosts.size(), wish.size()); ++i) {
    const auto [it, added] = positions_.try_emplace({at, hosts[i]}, static_cast<uint32_t>(stage.hosts.size()));
    if (added) stage.hosts.push_back(hosts[i]);
    wish[i] = it->second;
  }
  stage.run_ms.push_back(static_cast<uint32_t>(run_ms));
  stage.wishes.push_back(wish);
}

void JobBuilder::Chain() {
  std::stable_sort(job.stages.begin(), job.stages.end(),
                   [](const TraceStage& a, const TraceStage& b) { return a.priority > b.priority; });
  for (size_t i = 1; i < job.stages.size(); ++i) {
    job.stages[i].waits_for_previous = job.stages[i].priority != job.stages[i - 1].priority;
  }
}

void ReadSlsJob(const JsonValue& object, JobCollector& jobs) {
  JsonFields fields(object, jobs.file(), jobs.error());
  JobBuilder builder;
  TraceJob& job = builder.job;
  job.name = fields.Text("job.id", "job_" + std::to_string(jobs.jobs().size() + 1));
  job.queue = fields.Text("job.queue.name");
  job.user = fields.Text("job.user");
  job.submit_ms = fields.Int("job.start.ms", 0, 0, kLongestMs);
  if (!fields.Has("job.tasks")) fields.Refuse(object.line, "\"job.tasks\" is missing: this is no SLS job");
  const std::string type = fields.Text("am.type", fields.Text("yarn.sls.am.type", "mapreduce"));
  int64_t tasks = 0;
  for (const JsonValue& item : fields.Items("job.tasks")) {
    const SlsTask task = ReadSlsTask(item, jobs);
    tasks += task.count;
    if (!jobs.MayHave(tasks, item.line)) return;
    const size_t stage = builder.StageFor(task.priority, task.size, base::Duration::Millis(task.after_ms));
    if (stage >= static_cast<size_t>(jobs.options().stages_of_job)) break;  // refused by Add
    for (int64_t i = 0; i < task.count; ++i) builder.AddTask(stage, task.run_ms, task.hosts);
  }
  if (type == "mapreduce") builder.Chain();
  const int64_t copies = fields.Int("job.count", 1, 1, kLargestCount);
  for (int64_t i = 1; i < copies && jobs.error().empty(); ++i) {
    TraceJob copy = job;
    copy.name += "_" + std::to_string(i + 1);
    jobs.Add(std::move(copy), object.line);
  }
  jobs.Add(std::move(job), object.line);
}

void ReadSynth(const JsonValue& object, JobCollector& jobs) {
  JsonFields fields(object, jobs.file(), jobs.error());
  const int64_t count = fields.Needed("num_jobs", 1, kLargestCount);
  std::vector<SynthWorkload> workloads;
  for (const JsonValue& item : fields.Items("workloads")) workloads.push_back(ReadWorkload(item, jobs));
  if (workloads.empty()) fields.Refuse(object.line, "no workloads");
  base::Rng rng(jobs.options().seed * 1'000'003 + static_cast<uint64_t>(fields.Int("rand_seed", 0, 0, INT32_MAX)));
  for (int64_t i = 0; i < count && jobs.error().empty(); ++i) {
    TraceJob job =
        DrawJob(workloads[Pick(workloads, rng, [](const SynthWorkload& workload) { return workload.weight; })], rng,
                jobs, object.line);
    job.name = "job_" + std::to_string(i + 1);
    jobs.Add(std::move(job), object.line);
  }
}

}  // namespace fairlead::sim
