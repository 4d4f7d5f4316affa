#pragma once

#include <functional>
#include <optional>
#include <string>

#include "env/own_process.h"

namespace fairlead::process::http {

/// Tells how every /metrics of this process learns what the process uses. Said once, by main; without it, as in a
/// simulation, no process_* metrics are shown.
void SetOwnProcess(std::function<std::optional<env::OwnProcess>()> read);

/// Empty where it is unknown.
std::optional<env::OwnProcess> ReadOwnProcess();

/// What Prometheus' client libraries say of their process, by their names, which carry no prefix of ours; empty where
/// it is unknown.
std::string OwnProcessMetrics();

}  // namespace fairlead::process::http
