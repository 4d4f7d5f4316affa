#pragma once

#include <cstddef>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/result.h"

// The one reader of XML from outside. pugixml makes its tree as a whole, without recursion, and expands no entities of
// a document's own; so what the tree will take is charged before it is made, and its depth is looked at afterwards.

namespace fairlead::wire::xml {

/// The body of a request over HTTP.
inline constexpr base::BudgetKind kRequest{.name = "an XML request",
                                           .bytes = 2 << 20,
                                           .depth = 32,
                                           .memory = {.floor = 64 << 10, .per_byte = 64, .most = 8 << 20},
                                           .nodes = {.floor = 50'000, .most = 50'000},
                                           .work = {}};
/// A configuration file. 10,000 queues with ten settings each have 220,000 tags in 6 MiB.
inline constexpr base::BudgetKind kFile{.name = "an XML file",
                                        .bytes = 16 << 20,
                                        .depth = 128,
                                        .memory = {.floor = 64 << 10, .per_byte = 64, .most = 256 << 20},
                                        .nodes = {.floor = 2'000'000, .most = 2'000'000},
                                        .work = {}};

/// Why a text was not taken.
struct Fault {
  std::string message;
  size_t at = 0;           // byte of the text; 0: no single one
  bool too_large = false;  // it has too much of what a budget bounds; else it is no XML
};

/// Reads `text` into `document`, of which an error leaves nothing that may be used. `options` are pugixml's.
base::Result<void, Fault> Load(pugi::xml_document& document, std::string_view text, const base::BudgetKind& kind,
                               unsigned options = pugi::parse_default,
                               pugi::xml_encoding encoding = pugi::encoding_auto);

}  // namespace fairlead::wire::xml
