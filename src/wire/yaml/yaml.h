#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/result.h"

// The one reader of YAML. A first pass over yaml-cpp's events charges what stands there, of an alias all that it stands
// for: an alias is small and shared in memory, but whoever walks or copies the value sees all of it.

namespace fairlead::wire::yaml {

/// A configuration file. 5,000 queues with ten settings each are 105,000 nodes.
inline constexpr base::BudgetKind kFile{.name = "a YAML file",
                                        .bytes = 4 << 20,
                                        .depth = 64,
                                        .memory = {.floor = 1 << 20, .per_byte = 512, .most = 256 << 20},
                                        .nodes = {.floor = 250'000, .most = 250'000},
                                        .work = {}};

/// Why a text was not taken.
struct Fault {
  std::string message;
  YAML::Mark mark;         // where
  bool too_large = false;  // it has too much of what a budget bounds; else it is no YAML
};

/// The first document of `text`; null of an empty one. Throws nothing.
base::Result<YAML::Node, Fault> Load(std::string_view text, const base::BudgetKind& kind = kFile);

}  // namespace fairlead::wire::yaml
