#pragma once

#include <string>

#include "shell/rm/segments.h"

// What `fairlead replay` tells of an older state: of a moment, and of one application's life.

namespace fairlead::apps {

struct PastOptions {
  std::string journal;  // a file, or the directory of its files
  std::string at;
  bool nodes = false;
  bool queues = false;
  bool apps = false;
  bool all = false;  // ended applications, too
  std::string why;
  std::string document;  // of /fairlead/v1, with its query
  std::string story;
  std::string diff;  // a profile, or a file of queues
  std::string out;   // directory for the comparison's report
  bool json = false;
};

/// "from TIME to TIME nothing is kept: WHY".
std::string HoleText(const shell::Hole& hole);

/// Each prints, and gives the exit code.
int ShowMoment(const PastOptions& options);
int TellStory(const PastOptions& options);
/// The same arrivals, nodes and run times under other queues or another profile.
int DiffJournal(const PastOptions& options);

}  // namespace fairlead::apps
