#pragma once

namespace fairlead::base {

/// Whether jemalloc keeps the pages of freed pieces of more than 8 MiB for the next such piece. Else, and in the
/// beginning, it gives them back to the kernel at once, and a state that is copied again and again is mostly page
/// faults. false gives back what was kept, which takes some 10 ms for 100 MiB. Without jemalloc nothing changes. Any
/// thread.
void KeepLargeFreedPages(bool keep);

}  // namespace fairlead::base
