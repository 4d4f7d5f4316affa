#pragma once

#include <cstdint>

namespace fairlead::env {

/// What a process uses, of itself (Prometheus' process_* metrics).
struct OwnProcess {
  double cpu_seconds = 0;    // in user and system mode, all threads
  double start_seconds = 0;  // since 1970
  int64_t resident_bytes = 0;
  int64_t virtual_bytes = 0;
  int64_t threads = 0;
  int64_t open_files = 0;
  int64_t open_files_max = 0;
};

}  // namespace fairlead::env
