#pragma once

// FL_CHECK: a programmer error ends the process with its place and reason; always on. No byte from outside may reach
// one: what comes from outside is validated and answered with a Result instead.

namespace fairlead::base {

/// Prints `file:line: condition: message` to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, const char* message);

}  // namespace fairlead::base

#define FL_CHECK(condition, message)                                          \
  do {                                                                        \
    if (!(condition)) [[unlikely]]                                            \
      ::fairlead::base::CheckFailed(__FILE__, __LINE__, #condition, message); \
  } while (false)
