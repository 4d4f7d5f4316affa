#include "scheduler/fairlead/maintenance.h"

namespace fairlead::scheduler::native {

using model::scheduler::Window;

void Maintenance::Set(const model::scheduler::NodeWindows& event) {
  known_ = true;
  if (event.windows.empty()) {
    windows_.erase(event.node);
  } else {
    windows_[event.node] = event.windows;
  }
}

const std::vector<Window>& Maintenance::Of(NodeIndex node) const {
  static const std::vector<Window> kNone;
  const auto found = windows_.find(node);
  return found == windows_.end() ? kNone : found->second;
}

const Window* Maintenance::InTheWay(NodeIndex node, base::Instant now, base::Duration run) const {
  if (windows_.empty()) return nullptr;
  const base::Instant end = Later(now, run == kForever ? config_.unknown_run : run);
  for (const Window& window : Of(node)) {
    if (window.from >= end) return nullptr;
    if (window.until > now) return &window;
  }
  return nullptr;
}

void Maintenance::Mix(base::StateHasher& hash) const {
  for (const auto& [node, windows] : windows_) {
    hash.Mix(node.value);
    for (const Window& window : windows) {
      hash.Mix(static_cast<uint64_t>(window.from.ns));
      hash.Mix(static_cast<uint64_t>(window.until.ns));
    }
  }
}

}  // namespace fairlead::scheduler::native
