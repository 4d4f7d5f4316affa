#include <charconv>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "profiles/keys.h"

// Lists of fairness over time: half-lives and budgets.

namespace fairlead::config {

using scheduler::BudgetConfig;

namespace {

constexpr size_t kMostBudgets = 1024;
constexpr int64_t kMostAmount = int64_t{1} << 40;  // of resource-hours
constexpr int64_t kMostSeconds = int64_t{366} * 86'400;
constexpr int64_t kMsAnHour = 3'600'000;
constexpr std::pair<char, int64_t> kUnits[] = {{'d', 86'400}, {'h', 3600}, {'m', 60}, {'s', 1}};

std::optional<int64_t> Number(std::string_view text, int64_t low, int64_t high) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < low || number > high) return {};
  return number;
}

std::optional<base::Duration> Period(std::string_view text) {
  for (const auto& [unit, seconds] : kUnits) {
    if (text.empty() || text.back() != unit) continue;
    const auto number = Number(text.substr(0, text.size() - 1), 1, kMostSeconds / seconds);
    if (!number) return {};
    return base::Duration::Seconds(*number * seconds);
  }
  return {};
}

std::string PeriodText(base::Duration period) {
  const int64_t all = period.ns / 1'000'000'000;
  for (const auto& [unit, seconds] : kUnits) {
    if (all % seconds == 0) return std::to_string(all / seconds) + unit;
  }
  return "";
}

std::optional<BudgetConfig> Budget(std::string_view text) {
  constexpr std::string_view kHard = " hard";
  BudgetConfig budget;
  if (text.ends_with(kHard)) {
    budget.hard = true;
    text.remove_suffix(kHard.size());
  }
  const size_t equals = text.find('=');
  const size_t blank = text.find(' ', equals == std::string_view::npos ? 0 : equals);
  const size_t slash = text.rfind('/');
  if (equals == std::string_view::npos || blank == std::string_view::npos || slash == std::string_view::npos ||
      slash < blank) {
    return {};
  }
  budget.queue = text.substr(0, equals);
  const auto amount = Number(text.substr(equals + 1, blank - equals - 1), 1, kMostAmount);
  const int type = model::ResourceTypes::Find(std::string(text.substr(blank + 1, slash - blank - 1)));
  const auto period = Period(text.substr(slash + 1));
  if (budget.queue.empty() || !amount || type < 0 || !period) return {};
  budget.amount = *amount * kMsAnHour;
  budget.type = static_cast<size_t>(type);
  budget.period = *period;
  return budget;
}

}  // namespace

void KeyValue<std::vector<base::Duration>>::Read(const HadoopConf& conf, const char* key, Range range,
                                                 std::vector<base::Duration>& value) {
  const std::string text = conf.String(key);
  if (text.empty()) return;
  value.clear();
  for (const std::string& part : base::SplitTrimmed(text)) {
    const auto ms = Number(part, range.low, range.high);
    if (!ms) {
      value.clear();
      return conf.Refuse(key, "'" + text +
                                  "' is no list of times; write milliseconds with commas between, such as "
                                  "604800000,86400000");
    }
    value.push_back(base::Duration::Millis(*ms));
  }
}

std::string KeyValue<std::vector<base::Duration>>::Text(const std::vector<base::Duration>& value, Range /*range*/) {
  std::string text;
  for (const base::Duration one : value) text += (text.empty() ? "" : ",") + std::to_string(one.millis());
  return text;
}

void KeyValue<std::vector<BudgetConfig>>::Read(const HadoopConf& conf, const char* key, Range /*range*/,
                                               std::vector<BudgetConfig>& value) {
  const std::string text = conf.String(key);
  if (text.empty()) return;
  value.clear();
  for (const std::string& part : base::SplitTrimmed(text)) {
    const std::optional<BudgetConfig> budget = Budget(part);
    if (!budget || value.size() == kMostBudgets) {
      value.clear();
      return conf.Refuse(key, "'" + part.substr(0, 128) +
                                  "' is no budget; write QUEUE=AMOUNT TYPE/PERIOD with commas between, such as "
                                  "root.batch=1000 vcores/7d hard (AMOUNT in hours of one of TYPE)");
    }
    value.push_back(*budget);
  }
}

std::string KeyValue<std::vector<BudgetConfig>>::Text(const std::vector<BudgetConfig>& value, Range /*range*/) {
  std::string text;
  for (const BudgetConfig& one : value) {
    text += (text.empty() ? "" : ", ") + one.queue + "=" + std::to_string(one.amount / kMsAnHour) + " " +
            std::string(model::ResourceTypes::Name(one.type)) + "/" + PeriodText(one.period) +
            (one.hard ? " hard" : "");
  }
  return text;
}

}  // namespace fairlead::config
