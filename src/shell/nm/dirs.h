#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/loop.h"
#include "process/nm/ports.h"
#include "shell/nm/accounts.h"
#include "shell/nm/errands.h"

namespace fairlead::shell {

struct NmDirsOptions {
  std::vector<std::string> local;
  std::vector<std::string> logs;
  bool check = true;            // yarn.nodemanager.disk-health-checker.enable
  double min_healthy = 0.25;    // ...min-healthy-disks
  double max_utilization = 90;  // ...max-disk-utilization-per-disk-percentage
  int64_t min_free_mib = 0;     // ...min-free-space-per-disk-mb
  RunAs run_as;
};

/// Local and log directories of a node (Hadoop: LocalDirsHandlerService, DirectoryCollection): a directory that cannot
/// be written, or whose disk is fuller than allowed, is not used until a later check finds it good again. Neither is
/// one that others could exchange, where containers run as their submitters.
class NmDirs final : public process::nm::NodeDirs {
 public:
  explicit NmDirs(NmDirsOptions options);
  /// Who removes for it; before the first Remove.
  void SetErrands(env::Loop& loop, Errands& errands) {
    loop_ = &loop;
    errands_ = &errands;
  }

  /// Makes what is missing and looks at every directory; true when the list of good ones changed.
  bool Check();
  /// Whether enough directories are good, and in Hadoop's words which are not.
  bool healthy() const;
  std::string Report() const;

  std::vector<std::string> all_local() const override { return options_.local; }
  std::vector<std::string> good_local() const override { return good_local_; }
  std::vector<std::string> all_logs() const override { return options_.logs; }
  std::vector<std::string> good_logs() const override { return good_logs_; }
  std::string PickLocal() override;
  void Remove(std::vector<std::string> paths, std::function<void(std::vector<std::string>)> done) override;

 private:
  /// What is wrong with directories of one kind, as "PATH : why".
  struct Troubles {
    std::vector<std::string> errors;
    std::vector<std::string> full;
  };

  /// True when the directory can be used; else the reason is added to `troubles`.
  bool IsGood(const std::string& directory, Troubles& troubles) const;
  /// The agent's own part of a removal: what remains of it in a directory of the agent's.
  static base::Status RemoveOwn(const Place& place);
  /// The administrator's directory that holds the path.
  Place PlaceOf(const std::string& path) const;

  const NmDirsOptions options_;
  env::Loop* loop_ = nullptr;
  Errands* errands_ = nullptr;
  std::vector<std::string> good_local_, good_logs_;
  Troubles local_troubles_, log_troubles_;
};

}  // namespace fairlead::shell
