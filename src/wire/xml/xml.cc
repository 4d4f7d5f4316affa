#include "wire/xml/xml.h"

#include <algorithm>
#include <deque>

namespace fairlead::wire::xml {
namespace {

// What pugixml keeps, rounded up.
constexpr size_t kNodeBytes = 72;
constexpr size_t kAttributeBytes = 48;

/// A tag makes at most a node of its own and one of the text behind it; an end tag the latter alone.
bool ChargeTree(std::string_view text, base::Budget& budget) {
  if (!budget.Memory(text.size())) return false;
  for (size_t i = text.find_first_of("<="); i != std::string_view::npos; i = text.find_first_of("<=", i + 1)) {
    if (text[i] == '=') {
      if (!budget.Memory(kAttributeBytes)) return false;
      continue;
    }
    const bool ends = i + 1 < text.size() && text[i + 1] == '/';
    if (!budget.Node() || !budget.Memory(ends ? kNodeBytes : 2 * kNodeBytes)) return false;
  }
  return true;
}

bool ChargeDepth(const pugi::xml_document& document, base::Budget& budget) {
  std::deque<base::Budget::Level> levels;
  for (pugi::xml_node node = document.first_child(); node;) {
    if (const pugi::xml_node child = node.first_child()) {
      if (!levels.emplace_back(budget).ok()) return false;
      node = child;
      continue;
    }
    while (node && !node.next_sibling()) {
      node = node.parent();
      if (!levels.empty()) levels.pop_back();
    }
    node = node.next_sibling();
  }
  return true;
}

}  // namespace

base::Result<void, Fault> Load(pugi::xml_document& document, std::string_view text, const base::BudgetKind& kind,
                               unsigned options, pugi::xml_encoding encoding) {
  base::Budget budget(kind, text.size());
  const auto too_large = [&] { return Fault{budget.error().message, 0, true}; };
  if (!ChargeTree(text, budget)) return too_large();
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size(), options, encoding);
  if (!parsed) return Fault{parsed.description(), static_cast<size_t>(std::max<ptrdiff_t>(parsed.offset, 0)), false};
  if (ChargeDepth(document, budget)) return {};
  document.reset();
  return too_large();
}

}  // namespace fairlead::wire::xml
