#pragma once

// XXH3 with the widest vectors of the processor it runs on.
#ifdef __x86_64__
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif
