#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/queues.h"
#include "rm/state.h"

namespace fairlead::process::rm {

/// What decides who sees and changes which application (yarn.acl.enable, yarn.admin.acl, the queues' lists).
struct AccessRules {
  bool acls = false;
  model::AccessList administrators;
  std::shared_ptr<const model::QueueTree> queues;
  std::function<std::vector<std::string>(const std::string&)> groups_of;  // may be called on any thread
};

/// One user's eyes and hands. Whoever owns it may take it to any thread; it asks for the user's groups when they are
/// needed, once.
class Viewer {
 public:
  Viewer(std::string user, AccessRules rules) : user_(std::move(user)), rules_(std::move(rules)) {}

  const std::string& user() const { return user_; }
  /// May the user see (or change) the application? (ApplicationACLsManager)
  bool May(const fairlead::rm::App& app, bool modify);

 private:
  const std::vector<std::string>& Groups();

  std::string user_;
  AccessRules rules_;
  std::optional<std::vector<std::string>> groups_;
};

}  // namespace fairlead::process::rm
