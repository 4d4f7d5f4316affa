#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "model/ids.h"

namespace fairlead::scheduler::tdw {

/// The article's notifiers: what was granted to a session and taken from it since it was last told, in one message.
/// Each session belongs to one of a fixed number of threads, by the hash of its name; a thread tells its sessions in
/// the order in which they first had something. A master that calls for its grants (YARN) gets the same message as the
/// reply.
class Notices {
 public:
  struct Message {
    size_t thread = 0;
    model::AppIndex session;
    std::vector<model::ContainerId> granted;
    std::vector<model::ContainerId> preempted;
  };

  explicit Notices(size_t threads) : threads_(threads) {}

  void Granted(model::AppIndex session, const model::ContainerId& container);
  void Preempted(model::AppIndex session, const model::ContainerId& container);
  /// What every thread tells when it looks, the first thread first.
  std::vector<Message> Take();

 private:
  Message& Of(model::AppIndex session, const model::ApplicationId& name);

  std::vector<std::vector<Message>> threads_;  // in order of the first notice
};

/// java.lang.String.hashCode.
int32_t JavaHash(std::string_view text);

}  // namespace fairlead::scheduler::tdw
