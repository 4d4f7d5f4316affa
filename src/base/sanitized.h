#pragma once

// Whether a sanitizer watches this build: memory and time are not the program's own then. For tests.

namespace fairlead::base {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadsWatched = true;
#elif defined(__has_feature)
inline constexpr bool kThreadsWatched = __has_feature(thread_sanitizer);
#else
inline constexpr bool kThreadsWatched = false;
#endif

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressesWatched = true;
#elif defined(__has_feature)
inline constexpr bool kAddressesWatched = __has_feature(address_sanitizer);
#else
inline constexpr bool kAddressesWatched = false;
#endif

}  // namespace fairlead::base
