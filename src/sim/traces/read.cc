#include "sim/traces/read.h"

#include <algorithm>
#include <set>

#include "sim/traces/json.h"
#include "sim/traces/readers.h"

namespace fairlead::sim {
namespace {

/// Sorts by submission and moves the first job to time 0.
void Settle(std::vector<TraceJob>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const TraceJob& a, const TraceJob& b) { return a.submit_ms < b.submit_ms; });
  if (jobs.empty()) return;
  const int64_t first = jobs.front().submit_ms;
  for (TraceJob& job : jobs) job.submit_ms -= first;
}

base::Result<TraceFile> ReadJson(std::string_view text, const std::string& file, const TraceOptions& options) {
  JsonStream stream(text, file);
  TraceFile trace;
  JobCollector jobs(file, options);
  for (;;) {
    auto value = stream.Next();
    if (!value) return value.error();
    if (!value.value()) break;
    const JsonValue& object = *value.value();
    std::string format = object.Find("mapTasks") || object.Find("jobID") ? "rumen"
                         : object.Find("workloads")                      ? "synth"
                                                                         : "sls";
    if (!trace.format.empty() && trace.format != format) {
      return base::Error{file + ":" + std::to_string(object.line) + ": a " + trace.format + " trace goes on with a " +
                         format + " object"};
    }
    trace.format = std::move(format);
    if (trace.format == "rumen") {
      ReadRumenJob(object, jobs);
    } else if (trace.format == "synth") {
      ReadSynth(object, jobs);
    } else {
      ReadSlsJob(object, jobs);
    }
    if (!jobs.error().empty()) return base::Error{jobs.error()};
  }
  trace.jobs = std::move(jobs.jobs());
  return trace;
}

/// By its first line: a remark, or numbers without the tabs that SWIM has between its columns.
bool IsSwf(std::string_view line) {
  return line[0] == ';' || (line[0] >= '0' && line[0] <= '9' && line.find('\t') == std::string_view::npos);
}

}  // namespace

void JobCollector::Add(TraceJob job, int line) {
  int64_t tasks = 0;
  for (const TraceStage& stage : job.stages) tasks += static_cast<int64_t>(stage.run_ms.size());
  tasks_ += tasks;
  MayHave(tasks, line);
  if (tasks_ > options_.tasks) Refuse(line, "more than " + std::to_string(options_.tasks) + " tasks in one file");
  if (static_cast<int64_t>(jobs_.size()) >= options_.jobs) {
    Refuse(line, "more than " + std::to_string(options_.jobs) + " jobs in one file");
  }
  if (static_cast<int64_t>(job.stages.size()) > options_.stages_of_job) {
    Refuse(line, "a job of more than " + std::to_string(options_.stages_of_job) + " kinds of tasks");
  }
  if (!error_.empty()) return;
  if (job.queue.empty()) job.queue = "default";
  if (job.user.empty()) job.user = "default";
  jobs_.push_back(std::move(job));
}

bool JobCollector::MayHave(int64_t tasks, int line) {
  if (tasks <= options_.tasks_of_job) return true;
  Refuse(line, "a job of more than " + std::to_string(options_.tasks_of_job) + " tasks");
  return false;
}

void JobCollector::Refuse(int line, const std::string& what) {
  if (error_.empty()) error_ = file_ + ":" + std::to_string(line) + ": " + what;
}

base::Result<TraceFile> ReadTrace(std::string_view text, const std::string& file, const TraceOptions& options) {
  const size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return base::Error{file + ":1: the file is empty"};
  const auto read = [&]() -> base::Result<TraceFile> {
    if (text[start] == '{' || text[start] == '[') return ReadJson(text, file, options);
    JobCollector jobs(file, options);
    const bool swf = IsSwf(text.substr(start, text.find('\n', start) - start));
    (swf ? ReadSwf : ReadSwim)(text, jobs);
    if (!jobs.error().empty()) return base::Error{jobs.error()};
    return TraceFile{swf ? "swf" : "swim", std::move(jobs.jobs())};
  };
  auto trace = read();
  if (trace) Settle(trace->jobs);
  return trace;
}

void Deal(std::vector<TraceJob>& jobs, int64_t queues, int64_t users) {
  for (size_t i = 0; i < jobs.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (queues > 0) jobs[i].queue = "q" + std::to_string(at % queues + 1);
    if (users > 0) jobs[i].user = "u" + std::to_string(at / std::max<int64_t>(queues, 1) % users + 1);
  }
}

std::pair<std::string, std::string> SplitHost(std::string_view name) {
  const size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return {"/default-rack", std::string(name)};
  std::string rack(name.substr(0, slash));
  if (rack.empty()) rack = "/default-rack";
  if (rack[0] != '/') rack.insert(0, "/");
  return {std::move(rack), std::string(name.substr(slash + 1))};
}

base::Result<std::vector<TraceNode>> ReadNodes(std::string_view text, const std::string& file,
                                               const model::Resources& usual) {
  JsonStream stream(text, file);
  std::vector<TraceNode> nodes;
  std::set<std::string> seen;
  std::string error;
  for (;;) {
    auto value = stream.Next();
    if (!value) return value.error();
    if (!value.value()) break;
    JsonFields rack(*value.value(), file, error);
    std::string rack_name = rack.Text("rack", "/default-rack");
    if (rack_name.empty() || rack_name[0] != '/') rack_name.insert(0, "/");
    if (!rack.Has("nodes")) rack.Refuse(rack.line(), "\"nodes\" is missing: this is no SLS node list");
    for (const JsonValue& item : rack.Items("nodes")) {
      JsonFields fields(item, file, error);
      TraceNode node;
      node.host = fields.Text("node");
      node.rack = rack_name;
      node.capacity = usual;
      if (node.host.empty()) continue;  // Hadoop's own example ends with an empty one
      node.capacity[0] = fields.Int("memory-mb", usual[0], 1, int64_t{1} << 40);
      node.capacity[1] = fields.Int("vcores", usual[1], 1, 1 << 20);
      if (!seen.insert(node.host).second) fields.Refuse(fields.line(), "node " + node.host + " stands here twice");
      nodes.push_back(std::move(node));
    }
    if (!error.empty()) return base::Error{error};
  }
  if (nodes.empty()) return base::Error{file + ":1: no nodes"};
  return nodes;
}

std::vector<TraceNode> NodesNamedBy(const std::vector<TraceJob>& jobs, const model::Resources& capacity) {
  std::vector<TraceNode> nodes;
  std::set<std::string> seen;
  for (const TraceJob& job : jobs) {
    for (const TraceStage& stage : job.stages) {
      for (const std::string& name : stage.hosts) {
        auto [rack, host] = SplitHost(name);
        if (!seen.insert(host).second) continue;
        nodes.push_back({std::move(host), std::move(rack), capacity, {}});
      }
    }
  }
  return nodes;
}

}  // namespace fairlead::sim
