#include "engine/plan/operators.h"

#include <algorithm>
#include <map>

#include "engine/records/errors.h"

namespace fairlead::engine {

namespace {

/// Function-local, so that it exists before any registration of another source file.
template <class Factory>
std::map<std::string, Factory>& Factories() {
  static std::map<std::string, Factory> factories;
  return factories;
}

template <class Factory>
std::string Register(const char* type_name, Factory factory) {
  auto& factories = Factories<Factory>();
  std::string key = type_name;
  for (int copy = 2; !factories.emplace(key, factory).second; ++copy) {
    key = std::string(type_name) + "#" + std::to_string(copy);
  }
  return key;
}

template <class Factory>
auto Make(const std::string& key, const std::string& payload) {
  const auto& factories = Factories<Factory>();
  const auto found = factories.find(key);
  if (found == factories.end()) throw TaskError("this executor's program has no operator " + key);
  return found->second(payload);
}

}  // namespace

std::string RegisterOperator(const char* type_name, OperatorFactory factory) { return Register(type_name, factory); }
std::string RegisterStageSink(const char* type_name, StageSinkFactory factory) { return Register(type_name, factory); }

void ThrowMalformedCapture(const char* type_name) {
  throw TaskError(std::string("malformed captured state of ") + type_name);
}

namespace {
thread_local TaskContext* current_task = nullptr;
}

TaskContext* TaskContext::Current() { return current_task; }
void TaskContext::SetCurrent(TaskContext* task) { current_task = task; }

void TaskContext::CheckKilled() const {
  if (killed.load(std::memory_order_relaxed)) throw TaskKilled();
}

StageProgram::StageProgram(StagePlan plan) : plan_(std::move(plan)) {
  for (size_t i = 0; i < plan_.nodes.size(); ++i) {
    for (const InputRange& input : plan_.nodes[i].inputs) {
      if (input.node < 0 || static_cast<size_t>(input.node) >= i) throw TaskError("malformed stage plan");
    }
    operators_.push_back(Make<OperatorFactory>(plan_.nodes[i].op, plan_.nodes[i].payload));
  }
  if (plan_.nodes.empty()) throw TaskError("empty stage plan");
  sink_ = Make<StageSinkFactory>(plan_.sink_op, plan_.sink_payload);
}

StageProgram::~StageProgram() = default;

void StageProgram::RunNode(TaskContext& task, int32_t node, int32_t partition, AnySink& out) const {
  operators_[static_cast<size_t>(node)]->Run(NodeScope{task, *this, node}, partition, out);
}

void StageProgram::RunLast(TaskContext& task, int32_t partition, AnySink& out) const {
  RunNode(task, static_cast<int32_t>(plan_.nodes.size()) - 1, partition, out);
}

int64_t StageProgram::Share(int64_t memory_bytes) const {
  const bool reads =
      std::any_of(plan_.nodes.begin(), plan_.nodes.end(), [](const PlanNode& node) { return !node.shuffles.empty(); });
  const auto keepers =
      std::count_if(plan_.nodes.begin(), plan_.nodes.end(), [](const PlanNode& node) { return node.keeps_records; });
  const int64_t parts = keepers + (plan_.shuffle >= 0 ? 1 : 0);
  return memory_bytes / 8 * (reads ? 7 : 8) / std::max<int64_t>(1, parts);
}

void StageProgram::Run(TaskContext& task, int32_t partition) const { sink_->Run(task, *this, partition); }

const PlanNode& NodeScope::plan() const { return program.plan().nodes[static_cast<size_t>(node)]; }

void NodeScope::RunInput(int32_t partition, AnySink& out) const {
  for (const InputRange& input : plan().inputs) {
    if (partition < input.out_start || partition >= input.out_start + input.length) continue;
    program.RunNode(task, input.node, partition - input.out_start + input.in_start, out);
    return;
  }
  throw TaskError("stage plan has no input for partition " + std::to_string(partition));
}

void NodeScope::RunInput(size_t i, int32_t partition, AnySink& out) const {
  const InputRange& input = plan().inputs.at(i);
  program.RunNode(task, input.node, partition - input.out_start + input.in_start, out);
}

}  // namespace fairlead::engine
