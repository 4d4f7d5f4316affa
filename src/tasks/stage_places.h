#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fairlead::tasks {

/// Where the tasks of a stage would like to run.
struct StagePlaces {
  int64_t tasks = 0;                     // that prefer some host
  std::map<std::string, int64_t> hosts;  // how many of them name it
};

}  // namespace fairlead::tasks
