// oracle_shuffle DIR: every recorded exchange is one test; ends with "N passed, N failed".
#include <cstdio>

#include "oracle/shuffle_replay.h"

int main(int argc, char** argv) {
  using namespace fairlead::oracle;
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIR\n", argv[0]);
    return 2;
  }
  const auto recordings = ReadShuffleRecordings(argv[1]);
  if (!recordings.ok()) {
    std::printf("FAILED %s\n0 passed, 1 failed\n", recordings.error().message.c_str());
    return 1;
  }
  std::vector<ExchangeOutcome> outcomes;
  for (const ShuffleRecording& recording : recordings->files) {
    for (ExchangeOutcome& outcome : ReplayShuffle(recording, *recordings)) outcomes.push_back(std::move(outcome));
  }
  if (!recordings->path_vectors.empty()) outcomes.push_back(CheckPathVectors(*recordings));
  int failed = 0;
  for (const ExchangeOutcome& outcome : outcomes) {
    if (outcome.difference.empty()) continue;
    ++failed;
    std::printf("FAILED %s: %s\n", outcome.name.c_str(), outcome.difference.c_str());
  }
  std::printf("%d passed, %d failed\n", static_cast<int>(outcomes.size()) - failed, failed);
  return failed == 0 ? 0 : 1;
}
