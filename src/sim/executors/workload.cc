#include "sim/executors/workload.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "wire/json/json.h"

namespace fairlead::sim {
namespace {

using Json = nlohmann::json;
using base::Error;
using base::Result;

constexpr int32_t kMostStages = 1000;
constexpr int32_t kMostExecutors = 100'000;
constexpr int64_t kLongestTaskMs = 24LL * 3600 * 1000;
constexpr size_t kMostTasks = 1'000'000;

/// Times by number of executors; nothing: they are not numbers in the bounds.
bool ReadTimes(const Json& stage, const char* kind, std::map<int32_t, TaskTimes>& times,
               std::vector<int32_t> TaskTimes::*list) {
  const auto found = stage.find(kind);
  if (found == stage.end() || !found->is_object()) return false;
  for (const auto& [key, values] : found->items()) {
    if (key.empty() || key.size() > 6 || key.find_first_not_of("0123456789") != key.npos) return false;
    const int32_t executors = std::stoi(key);
    if (executors <= 0 || executors > kMostExecutors || !values.is_array() || values.size() > kMostTasks) return false;
    std::vector<int32_t>& to = times[executors].*list;
    for (const Json& value : values) {
      if (!value.is_number_integer()) return false;
      const int64_t ms = value.get<int64_t>();
      if (ms < 0 || ms > kLongestTaskMs) return false;
      to.push_back(static_cast<int32_t>(ms));
    }
  }
  return true;
}

/// Takes the fresh times out of the first wave, each once, and fills an empty first wave from the one below.
void CleanFirstWaves(std::map<int32_t, TaskTimes>& times) {
  const std::vector<int32_t>* below = nullptr;
  for (auto& [executors, of] : times) {
    std::multiset<int32_t> fresh(of.fresh.begin(), of.fresh.end());
    std::erase_if(of.first, [&](int32_t ms) {
      const auto found = fresh.find(ms);
      if (found == fresh.end()) return false;
      fresh.erase(found);
      return true;
    });
    if (of.first.empty() && below != nullptr) of.first = *below;
    below = &of.first;
  }
}

double MeanOf(const std::map<int32_t, TaskTimes>& times) {
  double sum = 0;
  size_t number = 0;
  for (const auto& [executors, of] : times) {
    for (const std::vector<int32_t>* list : {&of.first, &of.rest, &of.fresh}) {
      for (const int32_t ms : *list) sum += ms;
      number += list->size();
    }
  }
  return number == 0 ? 0 : sum / static_cast<double>(number);
}

/// Empty: the stage was read; else what is wrong with it.
std::string ReadStage(const Json& from, TimedStage& stage) {
  if (!from.is_object() || !ReadTimes(from, "fresh_durations", stage.times, &TaskTimes::fresh) ||
      !ReadTimes(from, "first_wave", stage.times, &TaskTimes::first) ||
      !ReadTimes(from, "rest_wave", stage.times, &TaskTimes::rest)) {
    return "needs fresh_durations, first_wave and rest_wave: lists of milliseconds by number of executors";
  }
  // Every number of executors ran the same tasks; without a time of some kind nothing can be drawn for it.
  for (const auto& [executors, of] : stage.times) {
    const size_t tasks = of.first.size() + of.rest.size();
    if (tasks == 0 || tasks > kMostTasks) return "has no tasks for " + std::to_string(executors) + " executors";
    if (stage.tasks == 0) stage.tasks = static_cast<int32_t>(tasks);
  }
  if (stage.tasks == 0) return "was never timed";
  CleanFirstWaves(stage.times);
  for (const auto& [executors, of] : stage.times) {
    if (of.first.empty() && of.fresh.empty())
      return "has no first task for " + std::to_string(executors) + " executors";
  }
  stage.mean_ms = MeanOf(stage.times);
  return {};
}

bool ReadEdges(const Json& from, TimedJob& stages) {
  if (!from.is_array() || from.size() > size_t{kMostStages} * kMostStages) return false;
  for (const Json& edge : from) {
    if (!edge.is_array() || edge.size() != 2 || !edge[0].is_number_integer() || !edge[1].is_number_integer())
      return false;
    const int64_t parent = edge[0].get<int64_t>();
    const int64_t child = edge[1].get<int64_t>();
    const auto number = static_cast<int64_t>(stages.size());
    if (parent < 0 || child < 0 || parent >= number || child >= number) return false;
    stages[static_cast<size_t>(parent)].children.push_back(static_cast<int32_t>(child));
    stages[static_cast<size_t>(child)].parents.push_back(static_cast<int32_t>(parent));
  }
  for (TimedStage& stage : stages) {
    for (std::vector<int32_t>* list : {&stage.children, &stage.parents}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
  }
  return true;
}

/// Whether every stage can run some day: no stage waits for itself.
bool HasNoCycle(const TimedJob& stages) {
  std::vector<size_t> waits;
  std::vector<int32_t> ready;
  for (size_t i = 0; i < stages.size(); ++i) {
    waits.push_back(stages[i].parents.size());
    if (waits.back() == 0) ready.push_back(static_cast<int32_t>(i));
  }
  size_t ran = 0;
  for (; ran < ready.size(); ++ran) {
    for (const int32_t child : stages[static_cast<size_t>(ready[ran])].children) {
      if (--waits[static_cast<size_t>(child)] == 0) ready.push_back(child);
    }
  }
  return ran == stages.size();
}

Result<TimedQuery> ReadQuery(const std::string& name, const Json& from) {
  const auto wrong = [&](const std::string& what) { return Error{"query " + name + ": " + what}; };
  if (!from.is_object() || !from.contains("durations") || !from.contains("edges")) {
    return wrong("needs \"edges\" and \"durations\"");
  }
  const Json& durations = from.at("durations");
  if (!durations.is_array() || durations.empty() || durations.size() > size_t{kMostStages}) {
    return wrong("has no stages, or more than " + std::to_string(kMostStages));
  }
  TimedQuery query{.name = name, .stages = {}};
  for (const Json& stage : durations) {
    const std::string fault = ReadStage(stage, query.stages.emplace_back());
    if (!fault.empty()) return wrong("stage " + std::to_string(query.stages.size() - 1) + " " + fault);
  }
  if (!ReadEdges(from.at("edges"), query.stages)) return wrong("an edge is [parent, child], numbers of its stages");
  if (!HasNoCycle(query.stages)) return wrong("its stages wait for each other in a circle");
  return query;
}

}  // namespace

Result<std::vector<TimedQuery>> ReadQueries(std::string_view json) {
  const Result<Json> all = wire::json::Parse(json, wire::json::kAnswer);
  if (!all) return all.error();
  if (!all->is_object()) return Error{"the workload is a JSON object of queries by name (\"2g/1\")"};
  std::vector<TimedQuery> queries;
  for (const std::string_view size : kQuerySizes) {
    for (int32_t number = 1; number <= kQueries; ++number) {
      const std::string name = std::string(size) + "/" + std::to_string(number);
      const auto found = all->find(name);
      if (found == all->end()) return Error{"no query " + name + "; the workload has 22 queries at 7 sizes"};
      Result<TimedQuery> query = ReadQuery(name, *found);
      if (!query) return query.error();
      queries.push_back(std::move(*query));
    }
  }
  return queries;
}

}  // namespace fairlead::sim
