#pragma once

#include <string>
#include <vector>

#include "env/loop.h"
#include "process/nm/ports.h"
#include "shell/nm/errands.h"

namespace fairlead::shell {

/// Logs for pages and REST, read by errands that act as the owner of the application's log directory.
class UsersLogs final : public process::nm::ContainerLogs {
 public:
  UsersLogs(env::Loop& loop, Errands& errands, process::nm::NodeDirs& dirs)
      : loop_(loop), errands_(errands), dirs_(dirs) {}
  void Read(process::nm::LogQuery query, std::function<void(process::nm::LogAnswer)> done) override;

 private:
  env::Loop& loop_;
  Errands& errands_;
  process::nm::NodeDirs& dirs_;
};

/// The errand's work.
process::nm::LogAnswer ReadContainerLogs(const process::nm::LogQuery& query, const std::vector<std::string>& log_dirs);

}  // namespace fairlead::shell
