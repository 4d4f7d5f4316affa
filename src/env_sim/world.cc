#include "env_sim/world.h"

#include <cerrno>
#include <deque>
#include <set>

#include "base/check.h"
#include "base/checksum.h"
#include "env_sim/sim_disk.h"

namespace fairlead::env_sim {
namespace {

/// Wall time of the first instant of every run.
constexpr int64_t kWallStartMs = 1'700'000'000'000;

}  // namespace

/// Timers of one process life. A callback runs only while the life it belongs to lasts.
class SimLoop final : public env::Loop {
 public:
  SimLoop(World& world, std::function<void(base::Instant, Callback)> schedule)
      : world_(world), schedule_(std::move(schedule)), life_(std::make_shared<bool>(true)) {}

  base::Instant Now() const override { return world_.now(); }
  base::WallTime Wall() const override { return {kWallStartMs + world_.now().ns / 1'000'000}; }

  TimerId At(base::Instant when, Callback callback) override {
    const TimerId id = ++last_timer_;
    pending_.insert(id);
    schedule_(std::max(when, world_.now()), [this, life = life_, id, callback = std::move(callback)] {
      if (!*life || pending_.erase(id) == 0) return;
      callback();
    });
    return id;
  }

  void Cancel(TimerId timer) override { pending_.erase(timer); }
  void Post(Callback callback) override { At(world_.now(), std::move(callback)); }
  void Offload(Callback work, Callback done) override {
    work();
    Post(std::move(done));
  }
  void RandomBytes(std::span<uint8_t> bytes) override {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(world_.rng().Next());
  }

  void EndLife() {
    *life_ = false;
    life_ = std::make_shared<bool>(true);
    pending_.clear();
  }

 private:
  World& world_;
  std::function<void(base::Instant, Callback)> schedule_;
  std::shared_ptr<bool> life_;
  std::set<TimerId> pending_;
  TimerId last_timer_ = 0;
};

/// One direction-less connection with two ends.
struct Connection {
  struct End {
    env::StreamHandler* handler = nullptr;
    bool started = false;
    bool paused = false;
    bool closed = false;      // by its owner, or told of the end
    bool peer_ended = false;  // the end of the stream waits behind `inbox`
    std::string end_reason;
    std::deque<std::string> inbox;
    size_t in_flight = 0;  // written, not yet delivered to the other end
    base::Instant last_arrival{};
    env::Endpoint address;
    std::string host;
  };
  End ends[2];
  bool half_open = false;
};

class SimNetwork {
 public:
  explicit SimNetwork(World& world) : world_(world) {}

  World& world() { return world_; }

  base::Result<std::unique_ptr<env::Listener>> Listen(const std::string& host, const env::Endpoint& endpoint,
                                                      env::Net::AcceptHandler on_accept);
  void Connect(Machine& from, const env::Endpoint& endpoint, base::Duration timeout, env::Net::ConnectHandler done);
  void Write(const std::shared_ptr<Connection>& connection, int from, std::string bytes);
  void End(const std::shared_ptr<Connection>& connection, int from, const std::string& reason);
  void Deliver(const std::shared_ptr<Connection>& connection, int to);
  /// Every socket of a machine is gone; the other ends are told unless `silently`.
  void DropMachine(const std::string& host, bool silently);

  struct Listening {
    env::Net::AcceptHandler on_accept;
    std::shared_ptr<bool> open;
  };
  void Forget(const env::Endpoint& endpoint) { listeners_.erase(endpoint); }

 private:
  base::Duration Delay();
  bool Fires(double chance, const char* name);
  void Break(const std::shared_ptr<Connection>& connection, const std::string& reason);
  void ScheduleDelivery(const std::shared_ptr<Connection>& connection, int to, base::Instant when);

  World& world_;
  std::map<env::Endpoint, Listening> listeners_;
  std::vector<std::weak_ptr<Connection>> connections_;
  uint16_t next_port_ = 32768;
};

class SimStream final : public env::Stream {
 public:
  SimStream(SimNetwork& network, std::shared_ptr<Connection> connection, int end)
      : network_(network), connection_(std::move(connection)), end_(end) {}
  ~SimStream() override { Close(); }

  void Start(env::StreamHandler* handler) override {
    own().handler = handler;
    own().started = true;
    network_.Deliver(connection_, end_);
  }
  void Write(std::string bytes) override {
    if (!own().closed && !bytes.empty()) network_.Write(connection_, end_, std::move(bytes));
  }
  void SendFile(std::shared_ptr<env::File> file, uint64_t offset, uint64_t length) override {
    std::string bytes(length, '\0');
    const auto n = file->ReadAt(offset, bytes);
    if (!n || *n < length) return network_.End(connection_, end_, "a file became shorter while it was sent");
    Write(std::move(bytes));
  }
  size_t unsent() const override { return connection_->ends[end_].in_flight; }
  void PauseReading() override { own().paused = true; }
  void ResumeReading() override {
    own().paused = false;
    network_.Deliver(connection_, end_);
  }
  void CloseAfterFlush() override { Close(); }  // what was written still arrives
  void Close() override {
    if (own().closed) return;
    own().closed = true;
    own().handler = nullptr;
    network_.End(connection_, end_, "");
  }
  env::Endpoint peer() const override { return connection_->ends[1 - end_].address; }
  env::Endpoint local() const override { return connection_->ends[end_].address; }

 private:
  Connection::End& own() { return connection_->ends[end_]; }
  SimNetwork& network_;
  std::shared_ptr<Connection> connection_;
  int end_;
};

class SimListener final : public env::Listener {
 public:
  SimListener(SimNetwork& network, env::Endpoint endpoint, std::shared_ptr<bool> open)
      : network_(network), endpoint_(std::move(endpoint)), open_(std::move(open)) {}
  ~SimListener() override {
    if (*open_) network_.Forget(endpoint_);
    *open_ = false;
  }
  env::Endpoint local() const override { return endpoint_; }

 private:
  SimNetwork& network_;
  env::Endpoint endpoint_;
  std::shared_ptr<bool> open_;
};

base::Duration SimNetwork::Delay() {
  const FaultRates& rates = world_.faults();
  return {world_.rng().Between(rates.delay_min.ns, rates.delay_max.ns)};
}

bool SimNetwork::Fires(double chance, const char* name) {
  if (chance <= 0 || !world_.rng().Chance(chance)) return false;
  ++world_.counts()[name];
  return true;
}

base::Result<std::unique_ptr<env::Listener>> SimNetwork::Listen(const std::string& host, const env::Endpoint& endpoint,
                                                                env::Net::AcceptHandler on_accept) {
  const env::Endpoint bound{host, endpoint.port != 0 ? endpoint.port : next_port_++};
  if (listeners_.contains(bound)) return base::Error{"cannot listen on " + bound.ToString() + ": in use", EADDRINUSE};
  auto open = std::make_shared<bool>(true);
  listeners_[bound] = {std::move(on_accept), open};
  return std::unique_ptr<env::Listener>(std::make_unique<SimListener>(*this, bound, open));
}

void SimNetwork::Connect(Machine& from, const env::Endpoint& endpoint, base::Duration timeout,
                         env::Net::ConnectHandler done) {
  env::Loop& loop = from.loop();
  const std::string from_host = from.host();
  const bool refused = Fires(world_.faults().connect_refused, "connect refused");
  // The other end is looked up when the packet arrives there.
  loop.After(Delay(), [this, &loop, from_host, endpoint, refused, timeout, done = std::move(done)] {
    const auto target = world_.machines_.find(endpoint.host);
    const bool host_up = target != world_.machines_.end() && target->second->up();
    if (!host_up) {
      loop.After(timeout, [endpoint, done] {
        done(base::Error{"cannot connect to " + endpoint.ToString() + ": timed out", ETIMEDOUT});
      });
      return;
    }
    const auto found = listeners_.find(endpoint);
    if (refused || found == listeners_.end()) {
      return done(base::Error{"cannot connect to " + endpoint.ToString() + ": Connection refused", ECONNREFUSED});
    }
    auto connection = std::make_shared<Connection>();
    connection->ends[0].address = {from_host, next_port_++};
    connection->ends[0].host = from_host;
    connection->ends[1].address = endpoint;
    connection->ends[1].host = endpoint.host;
    connections_.push_back(connection);
    target->second->loop().Post([this, connection, open = found->second.open, accept = found->second.on_accept] {
      if (*open) accept(std::make_unique<SimStream>(*this, connection, 1));
    });
    done(std::unique_ptr<env::Stream>(std::make_unique<SimStream>(*this, connection, 0)));
  });
}

void SimNetwork::Write(const std::shared_ptr<Connection>& connection, int from, std::string bytes) {
  Connection::End& own = connection->ends[from];
  Connection::End& other = connection->ends[1 - from];
  const FaultRates& rates = world_.faults();
  if (connection->half_open) return;
  if (Fires(rates.half_open, "half-open peer")) {
    connection->half_open = true;
    return;
  }
  if (Fires(rates.cut_before_delivery, "connection cut before delivery")) {
    return Break(connection, "connection reset by peer");
  }
  const bool cut_after = Fires(rates.cut_after_delivery, "connection cut after delivery");
  base::Duration delay = Delay();
  if (Fires(rates.slow_write, "slow delivery")) delay = rates.slow_delay;
  // Order within a connection is kept: nothing overtakes.
  const base::Instant arrival = std::max(world_.now() + delay, other.last_arrival);
  other.last_arrival = arrival;
  own.in_flight += bytes.size();
  world_.Schedule(arrival, [this, connection, from, cut_after, bytes = std::move(bytes)]() mutable {
    Connection::End& sender = connection->ends[from];
    const bool was_full = sender.in_flight > 0;
    sender.in_flight -= std::min(sender.in_flight, bytes.size());
    Connection::End& receiver = connection->ends[1 - from];
    if (!receiver.closed) {
      receiver.inbox.push_back(std::move(bytes));
      Deliver(connection, 1 - from);
    }
    if (cut_after) Break(connection, "connection reset by peer");
    if (was_full && sender.in_flight == 0 && sender.handler != nullptr && !sender.closed) sender.handler->OnDrained();
  });
}

void SimNetwork::Deliver(const std::shared_ptr<Connection>& connection, int to) {
  Connection::End& end = connection->ends[to];
  if (!end.started) return;
  world_.Schedule(world_.now(), [connection, to] {
    Connection::End& own = connection->ends[to];
    while (!own.inbox.empty() && !own.paused && !own.closed && own.handler != nullptr) {
      const std::string bytes = std::move(own.inbox.front());
      own.inbox.pop_front();
      own.handler->OnData(bytes);
    }
    if (own.peer_ended && own.inbox.empty() && !own.closed && own.handler != nullptr) {
      own.closed = true;
      env::StreamHandler* handler = std::exchange(own.handler, nullptr);
      handler->OnClosed(own.end_reason);
    }
  });
}

void SimNetwork::End(const std::shared_ptr<Connection>& connection, int from, const std::string& reason) {
  if (connection->half_open) return;
  Connection::End& other = connection->ends[1 - from];
  const base::Instant arrival = std::max(world_.now() + Delay(), other.last_arrival);
  other.last_arrival = arrival;
  world_.Schedule(arrival, [this, connection, from, reason] {
    Connection::End& end = connection->ends[1 - from];
    end.peer_ended = true;
    end.end_reason = reason;
    Deliver(connection, 1 - from);
  });
}

void SimNetwork::Break(const std::shared_ptr<Connection>& connection, const std::string& reason) {
  for (const int side : {0, 1}) {
    Connection::End& end = connection->ends[side];
    end.peer_ended = true;
    end.end_reason = reason;
    Deliver(connection, side);
  }
  connection->half_open = true;  // nothing passes any more
}

void SimNetwork::DropMachine(const std::string& host, bool silently) {
  std::erase_if(listeners_, [&](auto& entry) {
    if (entry.first.host != host) return false;
    *entry.second.open = false;
    return true;
  });
  for (const auto& weak : connections_) {
    const auto connection = weak.lock();
    if (!connection) continue;
    for (const int side : {0, 1}) {
      Connection::End& end = connection->ends[side];
      if (end.host != host) continue;
      end.closed = true;
      end.handler = nullptr;
      if (silently) {
        connection->half_open = true;
      } else {
        End(connection, side, "connection reset by peer");
      }
    }
  }
  std::erase_if(connections_, [](const auto& weak) { return weak.expired(); });
}

namespace {

class HostNet final : public env::Net {
 public:
  HostNet(SimNetwork& network, Machine& machine) : network_(network), machine_(machine) {}
  /// A simulated machine never runs out of open files.
  base::Result<std::unique_ptr<env::Listener>> Listen(const env::Endpoint& endpoint, AcceptHandler on_accept,
                                                      CrowdHandler) override {
    return network_.Listen(machine_.host(), endpoint, std::move(on_accept));
  }
  /// A machine here has one loop.
  void Adopt(std::unique_ptr<env::Stream> stream, AcceptHandler on_accept) override {
    machine_.loop().Post([shared = std::make_shared<std::unique_ptr<env::Stream>>(std::move(stream)),
                          on_accept = std::move(on_accept)] { on_accept(std::move(*shared)); });
  }
  void Connect(const env::Endpoint& endpoint, base::Duration timeout, ConnectHandler done) override {
    network_.Connect(machine_, endpoint, timeout, std::move(done));
  }

 private:
  SimNetwork& network_;
  Machine& machine_;
};

/// Commits become durable after a delay; a crash before that loses them.
class SimStore final : public env::Store {
 public:
  SimStore(World& world, env::Loop& loop) : world_(world), loop_(loop) {}

  void Commit(std::vector<env::Row> rows, std::function<void(env::CommitStatus)> done) override {
    const FaultRates& rates = world_.faults();
    const base::Duration delay{world_.rng().Between(0, rates.store_delay_max.ns)};
    env::CommitStatus status;
    if (rates.store_failure > 0 && world_.rng().Chance(rates.store_failure)) {
      ++world_.counts()["store failure"];
      status = env::CommitError{env::CommitFailure::kRefused, "state store: the disk is full"};
    }
    free_at_ = std::max(free_at_, loop_.Now() + delay);  // in order
    loop_.At(free_at_, [this, rows = std::move(rows), status, done = std::move(done)] {
      if (status.ok()) Apply(rows);
      done(status);
    });
  }

  base::Result<std::vector<env::Row>> Load(const std::string& table) override {
    // As a real one: by what all rows together should be.
    if (Digest() != digest_) return base::Error{"state store: it is damaged"};
    std::vector<env::Row> out;
    for (const auto& [key, value] : tables_[table]) out.push_back({table, key, value});
    return out;
  }

  bool is_damaged() const { return backup_.has_value(); }
  void Repair() {
    if (backup_) tables_ = *std::exchange(backup_, std::nullopt);
  }
  /// Loses a row, or changes a byte of it; not when there is none.
  void Damage(base::Rng& rng) {
    if (backup_) return;
    Tables before = tables_;
    for (auto& [table, rows] : tables_) {
      if (rows.empty() || !rng.Chance(0.5)) continue;
      const auto row = std::next(rows.begin(), static_cast<int64_t>(rng.Below(rows.size())));
      if (row->second.empty() || rng.Chance(0.5)) {
        rows.erase(row);
      } else {
        row->second[rng.Below(row->second.size())] ^= 1;
      }
      ++world_.counts()["store damaged"];
      backup_ = std::move(before);
      return;
    }
  }

  std::string Name() const override { return "of a simulated machine"; }

 private:
  using Tables = std::map<std::string, std::map<std::string, std::string>>;

  uint64_t Digest() const {
    uint64_t sum = 0;
    for (const auto& [table, rows] : tables_) {
      for (const auto& [key, value] : rows) sum += base::Checksum({table, key, value});
    }
    return sum;
  }
  void Apply(const std::vector<env::Row>& rows) {
    for (const env::Row& row : rows) {
      auto& table = tables_[row.table];
      if (const auto old = table.find(row.key); old != table.end()) {
        digest_ -= base::Checksum({row.table, row.key, old->second});
        table.erase(old);
      }
      if (!row.value) continue;
      digest_ += base::Checksum({row.table, row.key, *row.value});
      table[row.key] = *row.value;
    }
  }

  World& world_;
  env::Loop& loop_;
  base::Instant free_at_{};
  Tables tables_;
  uint64_t digest_ = 0;  // of the rows that were committed
  std::optional<Tables> backup_;
};

/// Children of a machine; what they do comes from the machine's factory. They outlive a crash of their parent, as
/// supervised containers do.
class SimProcesses final : public env::Processes {
 public:
  explicit SimProcesses(env::Loop& loop) : loop_(loop) {}

  void SetFactory(ProcessFactory factory) { factory_ = std::move(factory); }

  base::Result<int64_t> Spawn(const env::SpawnRequest& request, ExitHandler on_exit) override {
    if (!factory_) return base::Error{"nothing can be started on this machine", ENOENT};
    const int64_t pid = ++last_pid_;
    watchers_[pid].push_back({});
    // The loop drops the handler's callback when the parent's life has ended.
    auto exit = [this, pid, on_exit = std::move(on_exit)](env::ExitStatus status) {
      loop_.Post([on_exit, status] { on_exit(status); });
      End(pid);
    };
    processes_[pid] = factory_(request, std::move(exit));
    return pid;
  }

  void Watch(int64_t pid, uint64_t, std::function<void()> on_gone) override {
    if (!processes_.contains(pid)) return loop_.Post(std::move(on_gone));
    watchers_[pid].push_back(std::move(on_gone));
  }

  base::Status Signal(int64_t pid, int signal) override {
    const auto found = processes_.find(pid < 0 ? -pid : pid);
    if (found != processes_.end()) found->second->OnSignal(signal);
    return {};
  }

  void ForgetWatchers() { watchers_.clear(); }

 private:
  void End(int64_t pid) {
    const auto found = processes_.find(pid);
    if (found == processes_.end()) return;
    std::shared_ptr<SimProcess> ended = std::move(found->second);
    processes_.erase(found);
    loop_.Post([ended] {});  // it may be running right now
    for (auto& watcher : std::exchange(watchers_[pid], {})) {
      if (watcher) loop_.Post(std::move(watcher));
    }
    watchers_.erase(pid);
  }

  env::Loop& loop_;
  ProcessFactory factory_;
  std::map<int64_t, std::unique_ptr<SimProcess>> processes_;
  std::map<int64_t, std::vector<std::function<void()>>> watchers_;
  int64_t last_pid_ = 1000;
};

}  // namespace

struct Machine::Ports {
  SimLoop loop;
  HostNet net;
  SimDisk disk;
  SimStore store;
  SimProcesses processes;
  Ports(World& world, SimNetwork& network, Machine& machine,
        std::function<void(base::Instant, env::Loop::Callback)> schedule)
      : loop(world, std::move(schedule)), net(network, machine), disk(loop), store(world, loop), processes(loop) {}
};

World::World(uint64_t seed) : rng_(seed), network_(std::make_unique<SimNetwork>(*this)) {}

World::~World() {
  // What pending callbacks own may still close streams, which puts new turns on the queue.
  while (!turns_.empty()) turns_.pop();
}

Machine& World::AddMachine(const std::string& host) {
  FL_CHECK(!machines_.contains(host), "a host of that name exists");
  return *(machines_[host] = std::make_unique<Machine>(*this, host));
}

Machine& World::machine(const std::string& host) {
  const auto found = machines_.find(host);
  FL_CHECK(found != machines_.end(), "no host of that name");
  return *found->second;
}

void World::Schedule(base::Instant when, std::function<void()> run) {
  turns_.push({when, ++last_order_, std::make_shared<std::function<void()>>(std::move(run))});
}

void World::Script(base::Instant when, std::function<void()> callback) { Schedule(when, std::move(callback)); }

bool World::Step() {
  if (turns_.empty()) return false;
  const Turn turn = turns_.top();
  turns_.pop();
  now_ = std::max(now_, turn.when);
  (*turn.run)();
  return true;
}

bool World::RunUntil(base::Instant deadline, const std::function<bool()>& done,
                     const std::function<void()>& after_step) {
  while (!done()) {
    if (turns_.empty() || turns_.top().when > deadline) return false;
    Step();
    if (after_step) after_step();
  }
  return true;
}

Machine::Machine(World& world, std::string host) : world_(world), host_(std::move(host)) {
  ports_ = std::make_unique<Ports>(world, *world.network_, *this,
                                   [this, &world](base::Instant when, env::Loop::Callback callback) {
                                     world.Schedule(when, [this, callback = std::move(callback)] {
                                       if (stalled_) return late_.push_back(callback);
                                       callback();
                                     });
                                   });
}

Machine::~Machine() = default;

env::Loop& Machine::loop() { return ports_->loop; }
env::Net& Machine::net() { return ports_->net; }
env::Disk& Machine::disk() { return ports_->disk; }
env::Store& Machine::store() { return ports_->store; }
env::Processes& Machine::processes() { return ports_->processes; }

void Machine::Crash(bool silently) {
  up_ = false;
  ports_->loop.EndLife();
  ports_->processes.ForgetWatchers();
  world_.network_->DropMachine(host_, silently);
  // Chance of its own: what else happens in a run is the same with and without.
  base::Rng chance(static_cast<uint64_t>(world_.now().ns));
  if (chance.Chance(world_.faults().store_damage)) ports_->store.Damage(chance);
}

void Machine::Restart() { up_ = true; }

void Machine::Stall(bool stalled) {
  stalled_ = stalled;
  if (stalled) return;
  for (auto& callback : std::exchange(late_, {})) world_.Schedule(world_.now(), std::move(callback));
}

bool Machine::store_is_damaged() const { return ports_->store.is_damaged(); }
void Machine::RepairStore() { ports_->store.Repair(); }

void Machine::SetProcessFactory(ProcessFactory factory) { ports_->processes.SetFactory(std::move(factory)); }

}  // namespace fairlead::env_sim
