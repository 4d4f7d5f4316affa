#include "scheduler/yarn_fair/config.h"

#include <charconv>

namespace fairlead::scheduler::yarn_fair {
namespace {

constexpr std::string_view kFair = "yarn.scheduler.fair.";

/// Reads typed values and keeps the first error.
class Reader {
 public:
  explicit Reader(const ConfLookup& lookup) : lookup_(lookup) {}

  void Int(const std::string& key, int64_t& value) { Number(key, value, "a whole number"); }
  void Int(const std::string& key, int32_t& value) { Number(key, value, "a whole number of 32 bits"); }
  void Float(const std::string& key, float& value) {
    Number(key, value, "a number");
    if (value != value) Fail(key, "NaN", "a number");
  }
  void Bool(const std::string& key, bool& value) {
    const std::optional<std::string> text = Trimmed(key);
    if (!text) return;
    if (*text == "true") value = true;
    if (*text == "false") value = false;
    if (*text != "true" && *text != "false") Fail(key, *text, "true or false");
  }
  /// A count with an optional unit of Hadoop's resource types ("2Gi" for memory); 1024-based units count MiB.
  void Amount(const std::string& key, int64_t& value, bool memory) {
    std::optional<std::string> text = Trimmed(key);
    if (!text) return;
    int64_t factor = 1;
    if (memory && text->ends_with("Gi")) factor = 1024;
    if (memory && text->ends_with("Ti")) factor = 1024 * 1024;
    const size_t digits = text->find_first_not_of("0123456789-+ ");
    if (digits != std::string::npos) {
      const std::string unit = text->substr(digits);
      if (memory && unit != "Mi" && factor == 1) return Fail(key, *text, "a number, or one with Mi, Gi or Ti");
      if (!memory) return Fail(key, *text, "a whole number");
      text->resize(digits);
      while (!text->empty() && text->back() == ' ') text->pop_back();
    }
    Parse(key, *text, value, "a whole number");
    if (value > INT64_MAX / factor) return Fail(key, *text, "a smaller number");
    value *= factor;
  }
  void Fail(const std::string& key, const std::string& text, const std::string& want) {
    if (error_.empty()) error_ = key + " is '" + text + "'; write " + want;
  }
  const std::string& error() const { return error_; }

 private:
  std::optional<std::string> Trimmed(const std::string& key) {
    std::optional<std::string> text = lookup_(key);
    if (!text) return text;
    const size_t first = text->find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return std::nullopt;
    return text->substr(first, text->find_last_not_of(" \t\r\n") - first + 1);
  }
  template <class T>
  void Parse(const std::string& key, std::string_view text, T& value, const char* want) {
    if (text.starts_with('+')) text.remove_prefix(1);
    T parsed{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), parsed);
    if (problem != std::errc() || end != text.data() + text.size()) return Fail(key, std::string(text), want);
    value = parsed;
  }
  template <class T>
  void Number(const std::string& key, T& value, const char* want) {
    std::optional<std::string> text = Trimmed(key);
    if (!text) return;
    if constexpr (std::is_floating_point_v<T>) {
      if (text->ends_with('f') || text->ends_with('F')) text->pop_back();
    }
    Parse(key, *text, value, want);
  }

  const ConfLookup& lookup_;
  std::string error_;
};

/// FairSchedulerConfiguration.getIncrementAllocation: the key per type wins over the two old ones.
void ReadAllocations(Reader& read, YarnFairConfig& config) {
  read.Int("yarn.scheduler.minimum-allocation-mb", config.minimum_allocation[0]);
  read.Int("yarn.scheduler.minimum-allocation-vcores", config.minimum_allocation[1]);
  read.Int("yarn.scheduler.maximum-allocation-mb", config.maximum_allocation[0]);
  read.Int("yarn.scheduler.maximum-allocation-vcores", config.maximum_allocation[1]);
  read.Int("yarn.scheduler.increment-allocation-mb", config.increment[0]);
  read.Int("yarn.scheduler.increment-allocation-vcores", config.increment[1]);
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    const std::string prefix = "yarn.resource-types." + std::string(model::ResourceTypes::Name(type));
    if (type >= 2) config.maximum_allocation[type] = INT64_MAX;
    read.Amount(prefix + ".increment-allocation", config.increment[type], type == 0);
    read.Amount(prefix + ".minimum-allocation", config.minimum_allocation[type], type == 0);
    read.Amount(prefix + ".maximum-allocation", config.maximum_allocation[type], type == 0);
  }
}

/// FairScheduler.validateConf.
void Validate(Reader& read, const YarnFairConfig& config) {
  for (size_t type = 0; type < 2; ++type) {
    const std::string unit = type == 0 ? "mb" : "vcores";
    const int64_t low = config.minimum_allocation[type];
    const int64_t high = config.maximum_allocation[type];
    if (low < 0 || low > high) {
      read.Fail(
          "yarn.scheduler.minimum-allocation-" + unit, std::to_string(low),
          "a value between 0 and yarn.scheduler.maximum-allocation-" + unit + ", which is " + std::to_string(high));
    }
    if (config.increment[type] <= 0) {
      read.Fail("yarn.scheduler.increment-allocation-" + unit, std::to_string(config.increment[type]),
                "a value above 0");
    }
  }
  if (config.continuous_sleep_ms < 0) {
    read.Fail(std::string(kFair) + "continuous-scheduling-sleep-ms", std::to_string(config.continuous_sleep_ms),
              "0 or more milliseconds");
  }
  if (config.wait_before_kill_ms < 0) {
    read.Fail(std::string(kFair) + "waitTimeBeforeKill", std::to_string(config.wait_before_kill_ms),
              "0 or more milliseconds");
  }
}

}  // namespace

std::optional<Quirks> QuirksOf(std::string_view version) {
  Quirks quirks;
  if (version.starts_with("3.4.")) return quirks;
  if (version != "3.3.5" && version != "3.3.6") return std::nullopt;
  quirks.default_queue_always = true;
  quirks.am_preemption_per_queue_only = true;
  quirks.drf_needy_test_uses_first_usage = version == "3.3.5";
  return quirks;
}

base::Result<YarnFairConfig> ReadConfig(const ConfLookup& lookup, std::string_view version,
                                        const std::map<std::string, std::string>& all_keys) {
  YarnFairConfig config;
  const std::optional<Quirks> quirks = QuirksOf(version);
  if (!quirks)
    return base::Error{"no FairScheduler of version '" + std::string(version) + "'; write 3.4.3, 3.3.6 or 3.3.5"};
  config.quirks = *quirks;
  Reader read(lookup);
  const auto key = [](std::string_view name) { return std::string(kFair) + std::string(name); };
  ReadAllocations(read, config);
  read.Float("yarn.scheduler.reservation-threshold.increment-multiple", config.reservation_threshold_multiple);
  read.Int("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms", config.nm_heartbeat_ms);
  read.Bool("yarn.scheduler.include-port-in-node-name", config.include_port_in_node_name);
  read.Bool(key("allow-undeclared-pools"), config.allow_undeclared_pools);
  read.Bool(key("user-as-default-queue"), config.user_as_default_queue);
  read.Bool(key("preemption"), config.preemption);
  read.Float(key("preemption.cluster-utilization-threshold"), config.preemption_utilization_threshold);
  read.Bool(key("am.preemption"), config.am_preemption);
  read.Int(key("waitTimeBeforeKill"), config.wait_before_kill_ms);
  read.Int(key("waitTimeBeforeNextStarvationCheck"), config.wait_before_next_starvation_check_ms);
  read.Bool(key("sizebasedweight"), config.size_based_weight);
  read.Bool(key("assignmultiple"), config.assign_multiple);
  read.Bool(key("dynamic.max.assign"), config.dynamic_max_assign);
  read.Int(key("max.assign"), config.max_assign);
  read.Float(key("locality.threshold.node"), config.locality_threshold_node);
  read.Float(key("locality.threshold.rack"), config.locality_threshold_rack);
  read.Int(key("locality-delay-node-ms"), config.locality_delay_node_ms);
  read.Int(key("locality-delay-rack-ms"), config.locality_delay_rack_ms);
  read.Bool(key("continuous-scheduling-enabled"), config.continuous);
  read.Int(key("continuous-scheduling-sleep-ms"), config.continuous_sleep_ms);
  read.Int(key("update-interval-ms"), config.update_interval_ms);
  if (config.update_interval_ms < 0) config.update_interval_ms = 500;  // as FairScheduler.initScheduler
  read.Float(key("reservable-nodes"), config.reservable_nodes);
  const std::string per_queue = key("am.preemption.");
  for (auto it = all_keys.lower_bound(per_queue); it != all_keys.end() && it->first.starts_with(per_queue); ++it) {
    bool allowed = true;
    read.Bool(it->first, allowed);
    config.am_preemption_of[it->first.substr(per_queue.size())] = allowed;
  }
  Validate(read, config);
  if (!read.error().empty()) return base::Error{read.error()};
  return config;
}

}  // namespace fairlead::scheduler::yarn_fair
