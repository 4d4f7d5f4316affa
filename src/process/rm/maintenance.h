#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "env/loop.h"
#include "env/store.h"
#include "env/timer.h"
#include "model/rm.h"

namespace fairlead::process::rm {

/// Maintenance windows of hosts: their nodes are drained when one begins, and serve again when it has ended. Stored;
/// which of them count follows from the wall clock, which is looked at once a minute at the least.
class Maintenance {
 public:
  static constexpr char kTable[] = "rm/maintenance";
  static constexpr size_t kMostOfHost = 64;
  static constexpr int64_t kLongestMs = int64_t{30} * 86'400'000;
  static constexpr int64_t kFarthestMs = int64_t{366} * 86'400'000;

  struct Window {
    int64_t from_ms = 0;  // since 1970
    int64_t until_ms = 0;
    std::string user;  // who ordered it
    std::string peer;  // from where
    FL_FIELDS(from_ms, until_ms, user, peer)
  };
  /// Of a host, by when they begin. A row of the store.
  struct Windows {
    std::vector<Window> all;
    FL_FIELDS(all)
  };

  struct Outside {
    std::function<void(std::vector<env::Row> rows, std::function<void()> stored)> store;
    /// Other hosts than before are in a window, or windows came or went: the lists of hosts are to be read again.
    /// `first`: there was no window before.
    std::function<void(bool first, std::function<void(const base::Status&)> done)> refresh;
    std::function<void(const std::string& host, const Window& window, bool begins)> tell;
  };

  Maintenance(env::Loop& loop, Outside outside) : loop_(loop), outside_(std::move(outside)), timer_(loop) {}

  /// What the store holds. Start follows, once decisions are made.
  base::Status Load(env::Store& store, std::vector<env::UnreadRow>& unread);
  void Start();

  using Done = std::function<void(const base::Status&)>;
  /// One more window, stored before `done`. An error: it is over, has begun long ago, is
  /// too long, too far away, meets another, or is one too many.
  void Add(const std::string& host, Window window, Done done);
  /// None is left of the host; what one of them has drained serves again.
  void Cancel(const std::string& host, Done done);

  const std::map<std::string, Windows>& hosts() const { return hosts_; }
  /// Those that have not ended.
  std::vector<model::rm::HostWindow> Ahead() const;
  /// Hosts that are in a window now.
  std::vector<std::string> Now() const;

 private:
  env::Row RowOf(const std::string& host) const;
  /// An Error: the host takes no window then.
  base::Status CheckFree(const std::string& host, const Window& window) const;
  void Refresh(bool first, Done done);
  void Look();
  void Arm();

  env::Loop& loop_;
  Outside outside_;
  std::map<std::string, Windows> hosts_;
  std::vector<std::string> now_;  // as the lists of hosts were last read
  bool stale_ = false;            // they could not be read
  env::Timer timer_;
};

}  // namespace fairlead::process::rm
