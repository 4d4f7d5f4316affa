#pragma once

namespace fairlead::shell {

/// From here on this process may only do what errands need (files, memory, threads, sockets, becoming another user,
/// ending its own processes): any other system call ends it with SIGSYS. Nothing that loads a program, looks into
/// another process, changes mounts or namespaces, or administers the machine. False, with errno, when the kernel
/// refuses.
bool AllowErrandCalls();

}  // namespace fairlead::shell
