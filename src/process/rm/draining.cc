#include <utility>

#include "base/stored.h"
#include "process/rm/resource_manager.h"

// Hosts that operators take out of service here, beside the lists of Hadoop's files: graceful decommissioning in both
// cases, so that Hadoop's tools show what they know.

namespace fairlead::process::rm {

namespace m = model::rm;

base::Result<m::RefreshNodes> ResourceManager::HostLists() const {
  m::RefreshNodes lists;
  if (options_.host_lists) {
    base::Result<m::RefreshNodes> read = options_.host_lists();
    if (!read.ok()) return read;
    lists = std::move(*read);
  }
  for (const auto& [host, seconds] : drained_) {
    lists.exclude.push_back(host);
    lists.timeouts_s[host] = seconds;
  }
  return lists;
}

void ResourceManager::DrainHost(const std::string& host, std::optional<int64_t> seconds, DrainDone done) {
  const auto refresh = [this, done = std::move(done)] {
    base::Result<m::RefreshNodes> lists = HostLists();
    if (!lists.ok()) return done(lists.error());
    lists->graceful = true;
    Ask(std::move(*lists), [done](const m::OuterEffect&) { done({}); });
  };
  std::optional<std::string> value;
  if (seconds) {
    drained_[host] = *seconds;
    value = base::EncodeStored(*seconds);
  } else {
    drained_.erase(host);
  }
  StoreForCertain({{kDrainingTable, host, std::move(value)}}, refresh);
}

void ResourceManager::NoteAction(const std::string& user, const std::string& peer, const std::string& what,
                                 model::ApplicationId app, const std::string& queue, const std::string& node) {
  Happening happening;
  happening.at = loop_.Wall();
  happening.kind = HappeningKind::kAction;
  happening.app = app;
  happening.queue = queue;
  happening.node = node;
  happening.detail = what + " by " + user + " from " + peer;
  if (options_.on_action) options_.on_action(happening.detail);
  lately_.Add(std::move(happening));
}

}  // namespace fairlead::process::rm
