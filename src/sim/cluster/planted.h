#pragma once

#include <memory>

#include "env/confined_files.h"
#include "env/loop.h"
#include "env/store.h"
#include "scheduler/scheduler.h"
#include "sim/cluster/planted_bug.h"
#include "wire/engine/messages.h"

// Bugs on purpose: wrappers around production parts, so that the parts themselves stay clean.

namespace fairlead::sim {

/// `inner`, or a wrapper with the scheduler's share of the bug.
std::unique_ptr<scheduler::Scheduler> Plant(PlantedBug bug, std::unique_ptr<scheduler::Scheduler> inner);

/// A store that says yes and forgets one commit in three.
std::unique_ptr<env::Store> MakeLyingStore(env::Store& inner, env::Loop& loop);

/// Forgets one write in twenty.
std::unique_ptr<env::ConfinedFiles> MakeLyingFiles(env::ConfinedFiles& inner);

/// A message between a driver and an executor, changed as the bug does; false: it does not arrive at all.
bool Passes(PlantedBug bug, wire::engine::Message& message);

}  // namespace fairlead::sim
