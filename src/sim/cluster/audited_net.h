#pragma once

#include <memory>

#include "env/net.h"
#include "sim/cluster/ledger.h"

namespace fairlead::sim {

/// Passes everything through and reads along on the connections that a Hadoop RPC server accepts: each call may be
/// answered once. `twice` is a bug on purpose: a connection that was not read from for a while, as a standby holds its
/// callers, gets an answer twice. `inner` and `ledger` must outlive it.
std::unique_ptr<env::Net> AuditAnswers(env::Net& inner, Ledger& ledger, bool twice);

}  // namespace fairlead::sim
