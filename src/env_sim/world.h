#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/time.h"
#include "env/disk.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/process.h"
#include "env/store.h"

// A virtual cluster in one thread: time that only the event queue moves, machines with timers, sockets, a disk and a
// store, and faults by seed. Below TCP nothing is lost or reordered: faults are connections cut before or after bytes
// arrived, delay, half-open peers (a side that is gone without a word), crashes and stores that fail or are slow.

namespace fairlead::env_sim {

/// Chances of faults; all zero: a perfect network.
struct FaultRates {
  double cut_before_delivery = 0;  // per write: the bytes are lost and both ends see the connection break
  double cut_after_delivery = 0;   // per write: the bytes arrive, then the connection breaks (the reply is lost)
  double half_open = 0;            // per write: from now on nothing passes, and nobody is told
  double slow_write = 0;           // per write: delivered only after slow_delay
  double connect_refused = 0;      // per connect
  double store_failure = 0;        // per commit: nothing is written, the caller is told
  double store_damage = 0;         // per crash: the machine's store has lost a row or holds a changed one
  base::Duration delay_min = base::Duration::Micros(50);
  base::Duration delay_max = base::Duration::Millis(2);
  base::Duration slow_delay = base::Duration::Seconds(2);
  base::Duration store_delay_max = base::Duration::Millis(5);
};

class Machine;
class SimNetwork;

/// How often each fault fired, by name.
using FaultCounts = std::map<std::string, int64_t>;

class World {
 public:
  explicit World(uint64_t seed);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// A host with one process on it; host names are unique.
  Machine& AddMachine(const std::string& host);
  Machine& machine(const std::string& host);

  base::Instant now() const { return now_; }
  base::Rng& rng() { return rng_; }
  FaultRates& faults() { return faults_; }
  FaultCounts& counts() { return counts_; }

  /// Runs the next due callback; false when nothing is left to do.
  bool Step();
  /// Steps until `done()` or `deadline`; true when `done()`. `after_step` runs after every callback.
  bool RunUntil(base::Instant deadline, const std::function<bool()>& done,
                const std::function<void()>& after_step = {});

  /// Runs `callback` at `when`, outside of any machine (for scripts of faults).
  void Script(base::Instant when, std::function<void()> callback);

 private:
  friend class Machine;
  friend class SimNetwork;
  struct Turn {
    base::Instant when;
    uint64_t order;
    // One shared cell for ordering structures that copy.
    std::shared_ptr<std::function<void()>> run;
    bool operator>(const Turn& other) const { return std::pair(when, order) > std::pair(other.when, other.order); }
  };
  void Schedule(base::Instant when, std::function<void()> run);

  base::Instant now_{1'000'000'000};
  uint64_t last_order_ = 0;
  base::Rng rng_;
  FaultRates faults_;
  FaultCounts counts_;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  std::unique_ptr<SimNetwork> network_;
  std::map<std::string, std::unique_ptr<Machine>> machines_;
};

/// What a simulated child process does: told of signals, it ends by calling `exit` once.
class SimProcess {
 public:
  virtual ~SimProcess() = default;
  virtual void OnSignal(int signal) = 0;
};
using ProcessFactory =
    std::function<std::unique_ptr<SimProcess>(const env::SpawnRequest&, std::function<void(env::ExitStatus)> exit)>;

/// One host: the ports of one process. The disk and the store outlive Crash(); timers, sockets and callbacks do not.
class Machine {
 public:
  Machine(World& world, std::string host);
  ~Machine();

  const std::string& host() const { return host_; }
  env::Loop& loop();
  env::Net& net();
  env::Disk& disk();
  env::Store& store();
  env::Processes& processes();
  bool up() const { return up_; }

  /// The process is gone at once: nothing it had scheduled runs any more, its connections break (peers are told, or not
  /// when `silently`), uncommitted store writes are lost. The owner destroys the process' objects first.
  void Crash(bool silently = false);
  /// A new process may use the ports again.
  void Restart();
  /// Its timers do not run, as those of a process that is stopped; they do when it goes on.
  void Stall(bool stalled);
  /// The store has suffered store_damage: it refuses to be loaded until RepairStore puts a backup in its place.
  bool store_is_damaged() const;
  void RepairStore();

  /// What Spawn runs.
  void SetProcessFactory(ProcessFactory factory);

 private:
  friend class World;
  friend class SimNetwork;
  struct Ports;
  World& world_;
  std::string host_;
  bool up_ = true;
  bool stalled_ = false;
  std::vector<std::function<void()>> late_;  // since then
  std::unique_ptr<Ports> ports_;
};

}  // namespace fairlead::env_sim
