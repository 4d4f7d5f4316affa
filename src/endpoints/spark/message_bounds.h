#pragma once

#include <cstddef>

#include "base/budget.h"

// What a message of Spark's RPC may cost, and how long the texts in it may be. Real ones stay far below: a registration
// is 3 to 20 KB and 100 to 300 objects, and its longest text is a class path.
//
//   what                                                              | bound                | beyond it
//   a whole message                                                   | 1 MiB                | refused
//   names, users, hosts, ids, addresses, URLs of pages                | 1 KiB each           | refused
//   jars, classes, arguments, paths, options and variables of commands | 64 KiB each         | refused
//   all texts of one command                                          | 1 MiB                | refused
//   kinds of resources in a profile or at a worker                    | 64, 4                | refused
//   addresses of one kind of resource                                 | 1,024                | refused
//   what a worker says of an end, and exceptions                      | 4 KiB                | cut

namespace fairlead::endpoints::spark {

/// Any message, an object stream. Reading its objects and understanding them each may cost this: 5 MiB hold 30,000
/// names of executors, more than one message ever has.
inline constexpr base::BudgetKind kSparkMessage{"a message of Spark's RPC",
                                                1 << 20,
                                                100,
                                                {.floor = 64 << 10, .per_byte = 24, .most = 5 << 20},
                                                {.floor = 1024, .per_byte = 1, .most = 60'000},
                                                {.floor = 64 << 10, .per_byte = 16, .most = 2'000'000}};

inline constexpr size_t kNameBytesMax = 1 << 10;
/// As long as Linux lets a whole path be sixteen times; Java's own command line ends at 128 KiB a word.
inline constexpr size_t kWordBytesMax = 64 << 10;
inline constexpr size_t kCommandBytesMax = 1 << 20;
inline constexpr size_t kResourceKindsMax = 64;
inline constexpr size_t kResourceAddressesMax = 1024;
inline constexpr size_t kSaidBytesMax = 4 << 10;

}  // namespace fairlead::endpoints::spark
