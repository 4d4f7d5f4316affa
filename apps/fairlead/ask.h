#pragma once

#include <string>

#include "shell/base/settings.h"

namespace fairlead::apps {

/// A file of queues against a live manager.
struct QueuesCheck {
  std::string manager;  // HOST:PORT of its pages
  std::string file;
  std::string later;  // "10m": no queue may be served later, in the mean; empty: no rule
  bool json = false;
};
/// Says what the queues would change there; kFailed where the manager refuses them, or a queue breaks the rule.
int CheckQueues(const QueuesCheck& check, const shell::SettingsSource& source);

}  // namespace fairlead::apps
