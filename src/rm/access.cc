#include "rm/access.h"

#include "model/access_list.h"

namespace fairlead::rm {
namespace {

/// By its full name; the file may leave "root." out, and "root" is the root.
const model::QueueConfig* FindQueue(const model::QueueTree& tree, const std::string& name) {
  const std::string_view below_root = name == "root" ? std::string_view() : std::string_view(name).substr(5);
  for (const model::QueueConfig& queue : tree.queues) {
    if (queue.name == name || (queue.name == below_root && below_root != "root")) return &queue;
  }
  return nullptr;
}

/// Cuts the last part off; false at the root.
bool ToParent(std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return false;
  name.resize(dot);
  return true;
}

}  // namespace

std::string FullQueueName(std::string_view name) {
  if (name == "root") return "root";
  return name.starts_with("root.") ? std::string(name) : "root." + std::string(name);
}

bool QueueAllows(const model::QueueTree& tree, const std::string& queue, const std::string& user,
                 const std::vector<std::string>& groups, bool administer) {
  std::string name = FullQueueName(queue);
  do {
    const model::QueueConfig* config = FindQueue(tree, name);
    const std::optional<model::AccessList> acl = !config      ? std::nullopt
                                                 : administer ? config->administer_acl
                                                              : config->submit_acl;
    if (acl ? model::Lists(*acl, user, groups) : name == "root") return true;
  } while (ToParent(name));
  return false;
}

std::string ConfiguredQueue(const model::QueueTree& tree, const std::string& queue) {
  std::string name = FullQueueName(queue);
  while (!FindQueue(tree, name) && ToParent(name)) {
  }
  return name;
}

}  // namespace fairlead::rm
