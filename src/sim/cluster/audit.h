#pragma once

#include <memory>

#include "scheduler/scheduler.h"
#include "sim/cluster/ledger.h"

namespace fairlead::sim {

/// Passes everything through and judges each grant by books of its own: nothing may be granted on a node beyond what
/// its host really has (the ledger's capacity). Containers found again after a restart may overbook a node - the run
/// before may have given their room away without their nodes' knowing - but then no grant may follow there.
std::unique_ptr<scheduler::Scheduler> Audit(std::unique_ptr<scheduler::Scheduler> inner, Ledger& ledger);

}  // namespace fairlead::sim
