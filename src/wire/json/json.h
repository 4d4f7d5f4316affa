#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "base/budget.h"
#include "base/result.h"

// The one reader of JSON from outside. What a text costs is charged while it is read (base/budget.h), and no value is
// nested so deeply that whoever walks, writes or frees it runs out of stack.

namespace fairlead::wire::json {

/// The body of a request over HTTP. Clients' requests are far below 1 MiB, most of it credentials and environments.
inline constexpr base::BudgetKind kRequest{.name = "a JSON request",
                                           .bytes = 2 << 20,
                                           .depth = 32,
                                           .memory = {.floor = 64 << 10, .per_byte = 64, .most = 8 << 20},
                                           .nodes = {.floor = 50'000, .most = 50'000},
                                           .work = {}};
/// What a server answers to a command or a job, such as the list of all applications.
inline constexpr base::BudgetKind kAnswer{.name = "a JSON answer",
                                          .bytes = 64 << 20,
                                          .depth = 64,
                                          .memory = {.floor = 64 << 10, .per_byte = 64, .most = 1 << 30},
                                          .nodes = {.floor = 10'000'000, .most = 10'000'000},
                                          .work = {}};
/// A file or variable that the administrator or user of this process wrote, or a line of an event log.
inline constexpr base::BudgetKind kFile{.name = "a JSON file",
                                        .bytes = 16 << 20,
                                        .depth = 64,
                                        .memory = {.floor = 64 << 10, .per_byte = 64, .most = 256 << 20},
                                        .nodes = {.floor = 2'000'000, .most = 2'000'000},
                                        .work = {}};

/// The value that `text` is, of which equal members are one with the last value. An Error says at which byte it is no
/// JSON, or what it has too much of. O(n log n) in the number of members, whatever they are.
base::Result<nlohmann::json> Parse(std::string_view text, const base::BudgetKind& kind);
/// The same with the members in the order of the text. To look up a member is linear in their number.
base::Result<nlohmann::ordered_json> ParseOrdered(std::string_view text, const base::BudgetKind& kind);

}  // namespace fairlead::wire::json
