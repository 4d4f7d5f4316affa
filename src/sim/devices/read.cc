#include "sim/devices/read.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>

namespace fairlead::sim {
namespace {

using base::Error;
using base::Result;

constexpr std::string_view kNodeColumns = "sn,cpu_milli,memory_mib,gpu,model";
constexpr std::string_view kPodColumns = "name,cpu_milli,memory_mib,num_gpu,gpu_milli";
constexpr int64_t kMost = int64_t{1} << 40;
constexpr size_t kMostRows = 1'000'000;

using Row = std::vector<std::string_view>;

Row Split(std::string_view line, char by) {
  Row cells;
  while (true) {
    const size_t end = std::min(line.find(by), line.size());
    cells.push_back(line.substr(0, end));
    if (end == line.size()) return cells;
    line.remove_prefix(end + 1);
  }
}

/// A whole number from 0 to `most`; -1: it is none.
int64_t Whole(std::string_view word, int64_t most) {
  int64_t number = -1;
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
  const bool good = fault == std::errc() && end == word.data() + word.size() && number >= 0 && number <= most;
  return good ? number : -1;
}

/// Bits of models by name, as they come.
class Models {
 public:
  /// 0: there are more than 64.
  uint64_t BitOf(std::string_view name) {
    const auto found = bits_.try_emplace(std::string(name), bits_.size()).first;
    return found->second < 64 ? uint64_t{1} << found->second : 0;
  }

 private:
  std::map<std::string, size_t> bits_;
};

std::string ReadNode(const Row& row, Models& models, DeviceNode& node) {
  node.cpu_milli = Whole(row[1], kMost);
  node.memory_mib = Whole(row[2], kMost);
  node.devices = static_cast<int32_t>(Whole(row[3], kMostDevices));
  if (node.cpu_milli < 0 || node.memory_mib < 0) return "cpu_milli and memory_mib are whole numbers";
  if (node.devices < 0) return "a node has 0 to 8 GPUs";
  if (node.devices > 0) node.model = models.BitOf(row[4]);
  if (node.devices > 0 && node.model == 0) return "more than 64 models of GPUs";
  std::fill_n(node.free.begin(), node.devices, kWholeDevice);
  return {};
}

std::string ReadPod(const Row& row, Models& models, DeviceAsk& ask) {
  ask.cpu_milli = Whole(row[1], kMost);
  ask.memory_mib = Whole(row[2], kMost);
  ask.devices = static_cast<int32_t>(Whole(row[3], kMostDevices));
  if (ask.cpu_milli < 0 || ask.memory_mib < 0) return "cpu_milli and memory_mib are whole numbers";
  if (ask.devices < 0) return "a pod has 0 to 8 GPUs";
  if (ask.devices == 0) return {};
  ask.share = static_cast<int32_t>(std::min<int64_t>(Whole(row[4], kMost), kWholeDevice));
  if (ask.share <= 0) return "gpu_milli is above 0 where there are GPUs";
  if (ask.devices > 1 && ask.share < kWholeDevice) return "several GPUs are whole ones";
  if (row.size() < 6 || row[5].empty()) return {};
  ask.models = 0;
  for (const std::string_view model : Split(row[5], '|')) {
    if (model.empty()) continue;
    const uint64_t bit = models.BitOf(model);
    if (bit == 0) return "more than 64 models of GPUs";
    ask.models |= bit;
  }
  return {};
}

template <class T, class Read>
Result<std::vector<T>> ReadTable(std::string_view csv, const std::string& kind, std::string_view columns,
                                 std::string_view next_column, Read read) {
  size_t wanted = 0;  // columns of every row
  std::vector<T> out;
  for (int64_t line = 1; !csv.empty(); ++line) {
    const auto wrong = [&](const std::string& what) {
      return Error{kind + ", line " + std::to_string(line) + ": " + what};
    };
    const size_t end = std::min(csv.find('\n'), csv.size());
    std::string_view text = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (line == 1) {
      const std::string_view further = text.substr(std::min(columns.size(), text.size()));
      if (!text.starts_with(columns) || (!further.empty() && !further.starts_with(next_column)))
        return wrong("the columns begin \"" + std::string(columns) + "\"");
      wanted = Split(text, ',').size();
      continue;
    }
    if (text.empty()) continue;
    const Row row = Split(text, ',');
    if (row.size() != wanted) return wrong("a row has " + std::to_string(wanted) + " columns");
    if (out.size() == kMostRows) return wrong("more than " + std::to_string(kMostRows) + " rows");
    const std::string fault = read(row, out.emplace_back());
    if (!fault.empty()) return wrong(fault);
  }
  if (out.empty()) return Error{kind + ": no rows"};
  return out;
}

}  // namespace

Result<DeviceWorkload> ReadDevices(std::string_view nodes, std::string_view pods) {
  Models models;
  Result<std::vector<DeviceNode>> read_nodes = ReadTable<DeviceNode>(
      nodes, "nodes", kNodeColumns, ",", [&](const Row& row, DeviceNode& node) { return ReadNode(row, models, node); });
  if (!read_nodes) return read_nodes.error();
  Result<std::vector<DeviceAsk>> asks =
      ReadTable<DeviceAsk>(pods, "pods", kPodColumns, ",gpu_spec",
                           [&](const Row& row, DeviceAsk& ask) { return ReadPod(row, models, ask); });
  if (!asks) return asks.error();
  return DeviceWorkload{std::move(*read_nodes), std::move(*asks)};
}

}  // namespace fairlead::sim
