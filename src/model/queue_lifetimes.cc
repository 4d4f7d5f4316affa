#include "model/queue_lifetimes.h"

#include <algorithm>
#include <optional>
#include <string>

namespace fairlead::model {

namespace {

const CapacityQueueKeys* Find(const CapacityQueues& file, std::string_view path) {
  const auto found = file.queues.find(std::string(path));
  return found == file.queues.end() ? nullptr : &found->second;
}

/// A key of a path: its own, else of the templates for what is made below the one above.
int64_t Read(const CapacityQueues& file, std::string_view path, std::optional<int64_t> CapacityQueueSettings::*key) {
  if (const CapacityQueueKeys* keys = Find(file, path)) return (keys->own.*key).value_or(-1);
  const size_t dot = path.rfind('.');
  const CapacityQueueKeys* above = dot == std::string_view::npos ? nullptr : Find(file, path.substr(0, dot));
  if (above == nullptr) return -1;
  return (above->leaves.*key).value_or((above->children.*key).value_or(-1));
}

}  // namespace

int64_t QueueLifetimes::For(int64_t wanted) const {
  if (wanted <= 0) return standard;
  return maximum > 0 ? std::min(wanted, maximum) : wanted;
}

QueueLifetimes LifetimesOf(const CapacityQueues& file, std::string_view path) {
  QueueLifetimes of;
  bool said = false;  // a default, here or above
  for (size_t end = path.find('.');; end = path.find('.', end + 1)) {
    const std::string_view at = path.substr(0, end);
    const int64_t maximum = Read(file, at, &CapacityQueueSettings::maximum_application_lifetime);
    const int64_t standard = Read(file, at, &CapacityQueueSettings::default_application_lifetime);
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
  }
}

}  // namespace fairlead::model
