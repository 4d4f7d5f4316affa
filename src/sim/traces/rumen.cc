#include <algorithm>

#include "sim/traces/readers.h"

// Rumen's job histories (org.apache.hadoop.tools.rumen.LoggedJob): MapReduce jobs with the attempts of each task.

namespace fairlead::sim {
namespace {

/// {"layers": [rack, host]} as "/rack/host".
std::string ReadLocation(const JsonValue& object, JobCollector& jobs) {
  JsonFields fields(object, jobs.file(), jobs.error());
  std::string path;
  for (const JsonValue& layer : fields.Items("layers")) {
    if (layer.kind != JsonValue::Kind::kText) {
      fields.Refuse(layer.line, "layers must be texts");
      continue;
    }
    if (layer.text.empty() || layer.text[0] != '/') path += '/';
    path += layer.text;
  }
  return path;
}

/// The attempt that succeeded tells how long the task runs, as in SLS; without one the last does.
void ReadTask(const JsonValue& object, bool map, JobBuilder& builder, JobCollector& jobs) {
  JsonFields fields(object, jobs.file(), jobs.error());
  int64_t run_ms = -1;
  std::string ran_on;
  for (const JsonValue& item : fields.Items("attempts")) {
    JsonFields attempt(item, jobs.file(), jobs.error());
    const int64_t start = attempt.Int("startTime", -1, -1, INT64_MAX / 2);
    const int64_t finish = attempt.Int("finishTime", -1, -1, INT64_MAX / 2);
    if (start < 0 || finish < 0) continue;  // did not end
    if (finish < start) attempt.Refuse(item.line, "finishTime lies before startTime");
    run_ms = finish - start;
    ran_on = attempt.Text("hostName");
    if (attempt.Text("result") == "SUCCESS") break;
  }
  if (run_ms < 0) return;  // never ran
  if (run_ms > INT32_MAX) fields.Refuse(object.line, "a task of more than 24 days");
  std::vector<std::string> hosts;
  if (map) {
    for (const JsonValue& item : fields.Items("preferredLocations")) hosts.push_back(ReadLocation(item, jobs));
    std::erase(hosts, "");
    // SLS, which knows no splits, would like the host where the task ran.
    if (hosts.empty() && !ran_on.empty()) hosts.push_back(ran_on);
  }
  builder.AddTask(builder.StageFor(map ? 20 : 10, model::Resources::Of(1024, 1), {}), run_ms & INT32_MAX, hosts);
}

}  // namespace

void ReadRumenJob(const JsonValue& object, JobCollector& jobs) {
  JsonFields fields(object, jobs.file(), jobs.error());
  JobBuilder builder;
  TraceJob& job = builder.job;
  job.name = fields.Text("jobID");
  job.queue = fields.Text("queue");
  job.user = fields.Text("user");
  job.submit_ms = fields.Needed("submitTime", 0, INT64_MAX / 2);
  for (const JsonValue& task : fields.Items("mapTasks")) ReadTask(task, true, builder, jobs);
  for (const JsonValue& task : fields.Items("reduceTasks")) ReadTask(task, false, builder, jobs);
  builder.Chain();
  jobs.Add(std::move(job), object.line);
}

}  // namespace fairlead::sim
