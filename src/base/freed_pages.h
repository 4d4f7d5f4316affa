#pragma once

namespace fairlead::base {

/// From now on jemalloc keeps the pages of freed pieces of more than 8 MiB for the next such piece; else it gives them
/// back to the kernel at once, and a state that is copied again and again is mostly page faults. What stays with the
/// process is as much as such pieces ever took at a time. Without jemalloc nothing changes. Once, at the start.
void KeepLargeFreedPages();

}  // namespace fairlead::base
