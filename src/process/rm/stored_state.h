#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "env/store.h"
#include "model/rm.h"
#include "process/rm/key_ring.h"

namespace fairlead::process::rm {

inline constexpr char kEpochTable[] = "rm/epoch";
/// Has a row while a backup is put into a store in several transactions.
inline constexpr char kRestoringTable[] = "rm/restoring";
inline constexpr char kInterruptedRestore[] =
    "'fairlead state restore' was interrupted: the state is in parts. Run it again";

/// What a resource manager's start takes from its store.
struct StoredState {
  KeyRing::Stored keys;
  model::rm::Started started;  // its epoch is the next one
  /// Cannot be read: they stay in the store, and this run goes on without them. Of an application with an attempt that
  /// cannot be read nothing is taken: another attempt would get the same number.
  std::vector<env::UnreadRow> unread;
  /// What is to be removed from the store (ForgetState).
  std::vector<env::Row> forgotten;
  size_t forgotten_apps = 0;
};

/// An error: keys or the epoch cannot be read, or a later release wrote a row.
base::Result<StoredState> ReadState(env::Store& store);

/// For a manager that keeps nothing (yarn.resourcemanager.recovery.enabled is false): keys alone. What an earlier run
/// has kept is to be removed, so that nothing comes back to life in a later one.
base::Result<StoredState> ForgetState(env::Store& store);

}  // namespace fairlead::process::rm
