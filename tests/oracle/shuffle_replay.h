#pragma once

#include <string>
#include <vector>

#include "oracle/shuffle_recording.h"

namespace fairlead::oracle {

/// Outcome of one exchange: `difference` is empty when the service answered as recorded.
struct ExchangeOutcome {
  std::string name;
  std::string difference;
};

/// Replays a recording's exchanges in order against a fresh production service (sessions, core, block store) on a
/// simulated network and disk. `piece`: what the client writes is cut into pieces of this many bytes (0: not cut).
std::vector<ExchangeOutcome> ReplayShuffle(const ShuffleRecording& recording, const ShuffleRecordings& all,
                                           size_t piece = 0);

/// Every line of file-paths.tsv.
ExchangeOutcome CheckPathVectors(const ShuffleRecordings& all);

}  // namespace fairlead::oracle
