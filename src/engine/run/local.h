#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/driver/driver_session.h"
#include "engine/driver/progress.h"
#include "engine/history/event_log.h"
#include "engine/run/executor.h"
#include "engine/run/outbox.h"
#include "tasks/config.h"

namespace fairlead::engine {

struct LocalOptions {
  int32_t slots = 1;
  int64_t memory_bytes = 0;  // 0: half of the machine's
  std::string directory;     // scratch; empty: $TMPDIR or /tmp
  std::string event_log;     // file; empty: none
  tasks::Config tasks;
};

/// A whole cluster in one process: the driver's session and one executor whose threads run the tasks.
class Local {
 public:
  explicit Local(const LocalOptions& options);
  ~Local();
  DriverSession& session() { return *session_; }
  /// What it has on disk; a process that is ended in a hurry calls this.
  void RemoveFiles() const;
  /// The program has returned, or failed with `error`, or was `killed`: the last line of the event log.
  void End(const std::string& error, bool killed = false);

 private:
  struct Link;
  std::string directory_;
  std::unique_ptr<DriverSession> session_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<Link> link_;
  std::unique_ptr<Progress> progress_;  // on a terminal
  std::unique_ptr<EventLog> log_;
  std::shared_ptr<Outbox> outbox_;
};

}  // namespace fairlead::engine
