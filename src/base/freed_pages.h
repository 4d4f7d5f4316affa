#pragma once

namespace fairlead::base {

/// Whether jemalloc keeps the pages of freed pieces of more than 8 MiB for the next such piece. Else, and in the
/// beginning, it gives them back to the kernel at once, and a state that is copied again and again is mostly page
/// faults. false gives back what was kept, which takes some 10 ms for 100 MiB. Without jemalloc nothing changes. Any
/// thread.
void KeepLargeFreedPages(bool keep);

/// Gives those back to the kernel that this thread has freed, where jemalloc would keep them for some seconds: another
/// thread does not use them, and a large message is read, stored and written by several. Costs some 0.1 ms a MiB.
void GiveBackFreedPages();

}  // namespace fairlead::base
