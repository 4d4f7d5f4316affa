#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "process/rm/batches.h"
#include "process/rm/learning.h"
#include "process/rm/maintenance.h"
#include "process/rm/stored_state.h"

namespace fairlead::process::rm {

/// Hosts that operators take out of service here, beside the lists of Hadoop's files: graceful decommissioning in both
/// cases, so that Hadoop's tools show what they know. Owns who is out, and maintenance windows.
class Draining {
 public:
  static constexpr char kTable[] = "rm/draining";
  static constexpr char kOrderTable[] = "rm/drain-order";
  /// When a host was taken out, and who did it from where; nothing before a release knew.
  struct Order {
    int64_t since_ms = 0;
    std::string by;
    FL_FIELDS(since_ms, by)
  };
  struct Drained {
    int64_t seconds = 0;  // that its containers have
    Order order;
  };
  struct Outside {
    std::function<base::Result<model::rm::RefreshNodes>()> host_lists;  // as Hadoop's files have them; may be empty
    std::function<void(const std::string& host, const Maintenance::Window& window, bool begins)> tell;
    std::function<void(const std::string&)> warn;
  };
  Draining(env::Loop& loop, Batches& batches, const Learning& learning, Outside outside);

  /// What was stored, which `state` has in part, and gets the rest of.
  base::Status Load(env::Store& store, StoredState& state);
  /// The lists of hosts as their files have them now, with what was drained here, and maintenance windows.
  base::Result<model::rm::RefreshNodes> HostLists() const;
  /// Takes a host out as graceful decommissioning does, within `seconds` (0: at once, negative: for ever); nullopt
  /// takes it back. `by`: who orders it. Stored before `done`.
  using Done = std::function<void(const base::Status& status)>;
  void Drain(const std::string& host, std::optional<int64_t> seconds, const std::string& by, Done done);
  const std::map<std::string, Drained>& hosts() const { return hosts_; }
  Maintenance& maintenance() { return maintenance_; }

 private:
  /// The lists of hosts are read, and count; `runs`: with what was learned of run times.
  void Refresh(bool runs, Done done);

  env::Loop& loop_;
  Batches& batches_;
  const Learning& learning_;
  const Outside outside_;
  std::map<std::string, Drained> hosts_;
  Maintenance maintenance_;
};

}  // namespace fairlead::process::rm
