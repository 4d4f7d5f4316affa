#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

// `fairlead supervise DIR`: a process of the agent that waits, loaded and ready, to become a supervisor. To start one
// for a container is then a fork, not the loading of a program. Packets on its socket are control directories
// (supervisor.h), each with the supervisor's channel and lock; it ends when the agent does, the supervisors live on.
// When it is killed itself, the next start replaces it; a start that was in its socket counts as lost.

namespace fairlead::shell {

inline constexpr int kSpawnerSocketFd = 3;

/// The agent's end. Belongs to one thread.
class SupervisorSpawner {
 public:
  /// `binary` understands "supervise DIR"; the directory only tells who looks at processes whose supervisors they are.
  SupervisorSpawner(std::string binary, std::string directory)
      : binary_(std::move(binary)), directory_(std::move(directory)) {}
  ~SupervisorSpawner() { Stop(); }
  SupervisorSpawner(const SupervisorSpawner&) = delete;
  SupervisorSpawner& operator=(const SupervisorSpawner&) = delete;

  /// Starts the process; Spawn does it, too, where it must.
  base::Status Start();
  /// A supervisor on `control` that is given copies of both descriptors. One that cannot be forked leaves its
  /// launch_error in the directory and closes its channel.
  base::Status Spawn(const std::string& control, int channel, int lock);

 private:
  void Stop();

  const std::string binary_;
  const std::string directory_;
  int socket_ = -1;
  pid_t pid_ = -1;
};

/// `fairlead supervise`; returns when the agent has gone.
int RunSupervisorSpawner();

}  // namespace fairlead::shell
