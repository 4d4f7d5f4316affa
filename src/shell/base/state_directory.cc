#include "shell/base/state_directory.h"

#include "env_posix/private_dir.h"

namespace fairlead::shell {

base::Status MakeStateDirectory(const std::string& path, env::Log& log) {
  const auto closed = env_posix::MakePrivateDirectory(path);
  if (!closed.ok()) return base::Error{"state directory: " + closed.error().message, closed.error().code};
  for (const std::string& sentence : *closed) log.Warn(sentence);
  return {};
}

}  // namespace fairlead::shell
