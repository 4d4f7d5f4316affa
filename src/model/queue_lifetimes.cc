#include "model/queue_lifetimes.h"

#include <algorithm>

namespace fairlead::model {

namespace {

LifetimeKeys KeysOf(const CapacityQueueKeys& keys) {
  const auto made = [&](std::optional<int64_t> CapacityQueueSettings::*key) {
    return (keys.leaves.*key).value_or((keys.children.*key).value_or(-1));
  };
  return {keys.own.maximum_application_lifetime.value_or(-1), keys.own.default_application_lifetime.value_or(-1),
          made(&CapacityQueueSettings::maximum_application_lifetime),
          made(&CapacityQueueSettings::default_application_lifetime)};
}

}  // namespace

int64_t QueueLifetimes::For(int64_t wanted) const {
  if (wanted <= 0) return standard;
  return maximum > 0 ? std::min(wanted, maximum) : wanted;
}

std::map<std::string, LifetimeKeys, std::less<>> LifetimeKeysOf(const CapacityQueues& file) {
  std::map<std::string, LifetimeKeys, std::less<>> all;
  bool any = false;
  for (const auto& [path, keys] : file.queues) {
    const LifetimeKeys& of = all.emplace(path, KeysOf(keys)).first->second;
    any = any || std::max({of.maximum, of.standard, of.made_maximum, of.made_standard}) >= 0;
  }
  if (!any) all.clear();
  return all;
}

QueueLifetimes LifetimesOf(std::string_view path,
                           const std::function<std::optional<LifetimeKeys>(std::string_view path)>& keys_at) {
  QueueLifetimes of;
  bool said = false;  // a default, here or above
  std::optional<LifetimeKeys> above;
  for (size_t end = path.find('.');; end = path.find('.', end + 1)) {
    const std::string_view at = path.substr(0, end);
    const std::optional<LifetimeKeys> here = keys_at(at);
    const int64_t maximum = here ? here->maximum : above ? above->made_maximum : -1;
    const int64_t standard = here ? here->standard : above ? above->made_standard : -1;
    const bool root = at.find('.') == std::string_view::npos;
    said = said || standard >= 0;
    if (root || maximum >= 0) of.maximum = maximum;
    if (root || standard >= 0) {
      of.standard = standard;
    } else {
      of.standard = said ? std::min(of.standard, of.maximum) : of.maximum;
    }
    if (!root && of.standard <= 0) of.standard = of.maximum;
    if (end == std::string_view::npos) return of;
    above = here;
  }
}

QueueLifetimes LifetimesOf(const CapacityQueues& file, std::string_view path) {
  return LifetimesOf(path, [&](std::string_view at) -> std::optional<LifetimeKeys> {
    const auto found = file.queues.find(std::string(at));
    return found == file.queues.end() ? std::nullopt : std::optional(KeysOf(found->second));
  });
}

}  // namespace fairlead::model
