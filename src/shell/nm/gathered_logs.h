#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

// Logs that have left their nodes, read where they were gathered: by Fairlead's node agents or by Hadoop's.

namespace fairlead::shell {

struct GatheredLog {
  std::string container;
  std::string name;
  int64_t bytes = 0;
};

/// Hears the logs of a file, one after the other.
class LogReader {
 public:
  virtual ~LogReader() = default;
  /// Whether its bytes are wanted.
  virtual bool Wants(const GatheredLog& log) = 0;
  virtual void Read(std::string_view bytes) = 0;
  virtual void Ended() = 0;
};

/// Reads a TFile or an IFile, whose bytes may be anybody's, compressed ("gz") or not. What is whole of a broken file is
/// read before the error. Cost: the file, an index of at most 64 MiB and what it says.
base::Status ReadGatheredLogs(int file, LogReader& reader);

}  // namespace fairlead::shell
