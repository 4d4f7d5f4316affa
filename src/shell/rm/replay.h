#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "process/rm/lately.h"
#include "process/rm/machine.h"
#include "shell/rm/journal.h"
#include "shell/rm/settings.h"

namespace fairlead::shell {

/// The header of a resource manager's journal: everything that its machine is made from.
JournalHeader RmJournalHeader(const config::HadoopConf& conf, const RmSettings& settings);
/// Makes it that of a segment that goes on from the machine as it is.
void SetState(JournalHeader& header, const process::rm::ResourceMachine& machine);

/// The hash of a batch's effects that the journal keeps.
uint64_t EffectHash(const std::vector<model::rm::OuterEffect>& effects);

struct ReplayResult {
  int64_t batches = 0;
  int64_t events = 0;
  uint64_t state_hash = 0;
  /// Empty: every batch had the same effects, byte for byte. Else the batch and its events, for a person.
  std::string difference;
};

struct ReplayWatch {
  /// Called with the number of batches before each one.
  std::function<void(int64_t batches)> progress;
  /// Called with what people may want to know: decisions, ends, changes of state, in order.
  std::function<void(const process::rm::Happening&)> told;
};

/// Steps a fresh machine through the journal and compares. An Error: the journal cannot be replayed at all.
base::Result<ReplayResult> ReplayRm(const Journal& journal, const ReplayWatch& watch = {});

}  // namespace fairlead::shell
