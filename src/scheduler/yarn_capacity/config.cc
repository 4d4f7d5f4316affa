#include "scheduler/yarn_capacity/config.h"

#include <charconv>

namespace fairlead::scheduler::yarn_capacity {
namespace {

using Keys = std::map<std::string, std::string>;

/// Reads typed values and keeps the first error.
class Reader {
 public:
  explicit Reader(const Keys& keys) : keys_(keys) {}

  template <class T>
  void Int(const std::string& key, T& value) {
    const auto it = keys_.find(key);
    if (it == keys_.end()) return;
    const std::string& text = it->second;
    T read{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (problem == std::errc() && end == text.data() + text.size()) {
      value = read;
    } else if (error_.empty()) {
      error_ = key + " is '" + text + "'; write a whole number";
    }
  }
  void Bool(const std::string& key, bool& value) {
    const auto it = keys_.find(key);
    if (it == keys_.end()) return;
    if (it->second == "true") value = true;
    if (it->second == "false") value = false;
  }
  const std::string& error() const { return error_; }

 private:
  const Keys& keys_;
  std::string error_;
};

}  // namespace

std::optional<Quirks> QuirksOf(std::string_view version) {
  Quirks quirks;
  if (version.starts_with("3.4.")) return quirks;
  if (version.starts_with("3.5.")) {
    quirks.headroom_before_partition = true;
    quirks.departed_passed_over = true;
    return quirks;
  }
  if (version != "3.3.6") return std::nullopt;
  quirks.percentages_only = true;
  quirks.factor_may_be_negative = true;
  quirks.limits_by_dominant_share = true;
  quirks.node_room_by_dominant_share = true;
  quirks.maximum_below_capacity_refused = true;
  quirks.maximum_applications_at_setup = true;
  quirks.masters_never_on_shared_partitions = true;
  quirks.first_mapping_decides = true;
  quirks.child_limits_by_own_maximum = true;
  quirks.amounts_by_parent = true;
  quirks.root_labels_are_its_own = true;
  quirks.shares_may_be_infinite = true;
  quirks.start_computes_nothing = true;
  quirks.labels_checked_late = true;
  quirks.zero_amount_is_percentage = true;
  quirks.children_checked_together = true;
  quirks.reload_activates_at_once = true;
  quirks.conversion_by_state_key = true;
  quirks.factor_of_nothing_counts = true;
  quirks.whole_user_limit_percent = true;
  quirks.no_user_limits_for_all = true;
  quirks.ties_by_both_minima = true;
  quirks.offers_of_unguaranteed_types_stay = true;
  quirks.forgotten_users_fail_rounds = true;
  quirks.refused_reload_stays = true;
  return quirks;
}

base::Result<YarnCapacityConfig> ReadConfig(const Keys& keys, std::string_view version) {
  YarnCapacityConfig config;
  const std::optional<Quirks> quirks = QuirksOf(version);
  if (!quirks) return base::Error{"Hadoop " + std::string(version) + " is not known; write 3.3.6, 3.4.3 or 3.5.0"};
  config.quirks = *quirks;
  Reader read(keys);
  read.Int("yarn.scheduler.minimum-allocation-mb", config.minimum_allocation[0]);
  read.Int("yarn.scheduler.minimum-allocation-vcores", config.minimum_allocation[1]);
  for (size_t type = 2; type < model::ResourceTypes::Count(); ++type) {
    read.Int("yarn.resource-types." + std::string(model::ResourceTypes::Name(type)) + ".minimum-allocation",
             config.minimum_allocation[type]);
  }
  read.Int("yarn.cluster.max-application-priority", config.max_application_priority);
  read.Bool("yarn.acl.enable", config.access_lists);
  if (const auto tag = keys.find("yarn.workflow-id.tag-prefix"); tag != keys.end()) config.workflow_tag = tag->second;
  read.Bool("yarn.node-labels.enabled", config.node_labels);
  read.Bool("yarn.resourcemanager.node-labels.am.allow-non-exclusive-allocation", config.masters_on_shared_partitions);
  read.Bool("yarn.scheduler.include-port-in-node-name", config.include_port_in_node_name);
  if (!read.error().empty()) return base::Error{read.error()};
  if (config.minimum_allocation[0] <= 0 || config.minimum_allocation[1] <= 0) {
    return base::Error{"yarn.scheduler.minimum-allocation-mb and -vcores must be greater than 0"};
  }
  return config;
}

}  // namespace fairlead::scheduler::yarn_capacity
