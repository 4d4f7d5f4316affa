#pragma once

#include <functional>
#include <memory>
#include <string>

#include "env/disk.h"
#include "env/local_net.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/process.h"
#include "env/store.h"

namespace fairlead::env_posix {

/// The real world on one thread (Boost.Asio, epoll): clock, timers, sockets, child processes. Run() turns the loop on
/// the calling thread until Stop().
class PosixLoop : public env::Loop, public env::Net, public env::LocalNet, public env::Processes {
 public:
  virtual void Run() = 0;
  /// Makes Run() return; may be called from any thread and from a callback.
  virtual void Stop() = 0;
  /// Runs `callback` on the loop each time `signal` arrives, instead of its default action.
  virtual void OnSignal(int signal, Callback callback) = 0;
  /// Calls `tell`, seldom, when connections cannot be accepted for want of open files.
  virtual void OnCrowded(std::function<void(const std::string& reason)> tell) = 0;
};

/// What a loop without work does.
enum class WhenIdle {
  kSleep,
  kPollFirst,  ///< in a dialogue of short calls (IdlePolling), while no other thread wants the core
};

/// Raises the limit of open files first (RaiseOpenFilesLimit).
std::unique_ptr<PosixLoop> MakePosixLoop(WhenIdle idle = WhenIdle::kSleep);

/// The local file system.
std::unique_ptr<env::Disk> MakePosixDisk();
/// A File that owns the open descriptor; `name` is for its errors.
std::shared_ptr<env::File> AdoptFile(int descriptor, std::string name);
/// Lets this process open as many files as its hard limit says. Its children inherit that.
void RaiseOpenFilesLimit();
size_t OpenFilesLimit();

/// What a committed row outlives.
enum class Durability {
  kProcess,  ///< the end of this process in any way, not the machine's: no commit waits for the disk
  kMachine,  ///< the machine's, too: every commit is synced
};

/// A Store in one SQLite file (WAL) with a thread of its own; commits that wait together share one transaction.
/// Destroying it finishes what was queued. One process at a time.
///
/// Opened whole or refused, with the file's name, what is lost (`holds`, such as "acknowledged applications") and what
/// to do: SQLite's own check, a checksum of every row, a count and a digest of all rows that change with every
/// transaction, and the number of the last transaction in a mark beside the file (state_mark.h), which tells a database
/// that was emptied, and one whose log has lost its end. Cost: every row is read once.
base::Result<std::unique_ptr<env::Store>> OpenSqliteStore(const std::string& path, env::Loop& loop,
                                                          Durability durability, const std::string& holds);
/// Removes a store and everything beside it.
void RemoveSqliteStore(const std::string& path);

}  // namespace fairlead::env_posix
