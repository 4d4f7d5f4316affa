#pragma once

#include <string>

#include "sim/traces/configuration.h"
#include "sim_workload.h"

namespace fairlead::apps {

/// Two configurations that are compared.
struct Sides {
  sim::Configuration from;
  sim::Configuration to;
  const sim::Configuration* written = nullptr;  // whose queues a profile took; null: both have their own
};

/// Runs the workload under both, and prints and writes the comparison. Gives the exit code.
int CompareSides(const std::string& command, const TraceArguments& arguments, const Workload& workload,
                 const Sides& sides);

/// Adds `sim migrate`.
void AddSimMigrate(CLI::App& sim, int& exit_code);

}  // namespace fairlead::apps
