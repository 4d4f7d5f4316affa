#pragma once

#include <sys/types.h>

#include <mutex>
#include <span>
#include <string>

#include "base/result.h"
#include "shell/nm/accounts.h"
#include "shell/nm/beneath.h"
#include "shell/nm/orders.h"

// `fairlead supervise DIR`: the one process of a node agent that keeps root's rights where containers run as their
// submitters. It waits, loaded and ready, for orders (orders.h), and does each in a fork of its own: one becomes a user
// and does an errand among that user's files (errand.h), one checks what a container needs. It and all that it forks
// has a list of allowed system calls, so containers cannot descend from it: for their supervisors (supervisor.h) it has
// a starter, forked before, that does nothing but fork and hears from nobody else; it is the agent's user, and its own
// list is one that takes nothing from containers. None of them loads a program. The helper takes the rules about
// accounts once, before the agent gives up its own rights, and ends when the agent does; supervisors live on.

namespace fairlead::shell {

inline constexpr int kHelperSocketFd = 3;

/// The agent's end; may be used by several threads.
class Helper {
 public:
  /// `binary` understands "supervise DIR"; the directory only tells who looks at processes whose they are.
  Helper(std::string binary, std::string directory, RunAs policy)
      : binary_(std::move(binary)), directory_(std::move(directory)), policy_(std::move(policy)) {}
  ~Helper() { Stop(); }
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;

  /// Starts the process; orders do it, too, where they must and can: an agent that has given up root's rights cannot.
  base::Status Start();
  /// A supervisor on `order.control` that is given copies of both descriptors. One that cannot start leaves its
  /// launch_error in the directory and closes its channel.
  base::Status Supervise(Order order, int channel, int lock);
  /// A stream to a process that acts as the order's account: it takes one errand, answers, and ends; at once when
  /// the stream is closed.
  base::Result<Fd> Errand(Order order);
  const RunAs& policy() const { return policy_; }
  /// False once the process has gone and cannot be replaced.
  bool usable();

 private:
  void Stop();
  base::Status StartLocked();
  base::Status Send(const Order& order, std::span<const int> descriptors);

  const std::string binary_;
  const std::string directory_;
  const RunAs policy_;
  std::mutex mutex_;
  int socket_ = -1;
  pid_t pid_ = -1;
};

/// `fairlead supervise`; returns when the agent has gone.
int RunHelper();

}  // namespace fairlead::shell
