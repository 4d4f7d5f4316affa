#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

// Recordings of what Spark's clients and its shuffle service said to each other, byte for byte.

namespace fairlead::oracle {

/// One thing on the wire, in order of arrival.
struct WireStep {
  enum class Kind : uint8_t { kToServer, kToClient, kServerClosed, kClientClosed };
  Kind kind = Kind::kToServer;
  int connection = 0;
  std::string frame;  // type name; empty: a piece as read from the socket
  std::string bytes;  // of a failure: up to the length of its text
  /// Of a failure frame: first line of its text.
  std::optional<std::string> error;
};

struct Exchange {
  std::string name;
  std::vector<WireStep> steps;
};

struct ShuffleRecording {
  std::string name;
  std::string spark;  // version
  std::string mode;   // plain, sasl, sasl-encrypt, crypto-v1, crypto-v2, crypto-gcm
  std::string app;
  std::string root;
  std::string secret;
  std::map<std::string, std::string> session_keys;  // decoded from hex where they are hex
  std::vector<Exchange> exchanges;
};

/// Everything under a folder: recordings, the files behind them, path vectors. Fails for a file that is none of these,
/// a step it does not know, and when there is no recording.
struct ShuffleRecordings {
  std::vector<ShuffleRecording> files;
  std::map<std::string, std::string> blocks;  // path below the root -> content
  std::vector<std::string> path_vectors;      // lines of file-paths.tsv without the heading
};
base::Result<ShuffleRecordings> ReadShuffleRecordings(const std::filesystem::path& folder);

}  // namespace fairlead::oracle
