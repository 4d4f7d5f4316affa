#pragma once

#include "env/process.h"
#include "env_posix/sockets_internal.h"

namespace fairlead::env_posix {

base::Result<int64_t> SpawnProcess(SocketHost& host, const env::SpawnRequest& request,
                                   env::Processes::ExitHandler on_exit);
void WatchProcess(SocketHost& host, int64_t pid, uint64_t start_ticks, std::function<void()> on_gone);
base::Status SignalProcess(int64_t pid, int signal);

}  // namespace fairlead::env_posix
