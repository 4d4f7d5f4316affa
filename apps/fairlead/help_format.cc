#include "help_format.h"

#include <algorithm>

namespace fairlead::apps {
namespace {

bool IsNumber(std::string_view kind) { return kind == "INT" || kind == "UINT" || kind == "FLOAT"; }

/// "1 to 64" of "INT in [1 - 64]".
std::string RangeInWords(std::string_view check) {
  const size_t begin = check.find(" in ["), dash = check.find(" - ", begin), end = check.rfind(']');
  if (begin == std::string_view::npos || dash == std::string_view::npos || end == std::string_view::npos) return "";
  return std::string(check.substr(begin + 5, dash - begin - 5)) + " to " +
         std::string(check.substr(dash + 3, end - dash - 3));
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = Formatter::make_option_opts(option);
    const std::string type = option->get_type_name();
    if (!option->get_option_text().empty() || option->get_type_size() == 0 || type.empty()) return text;
    std::string rest = text.substr(1 + get_label(type).size());
    const std::string fallback = option->get_default_str();
    if (!fallback.empty()) rest = " (default " + fallback + ")" + rest.substr(1 + fallback.size());
    return " " + KindInWords(type) + rest;
  }
};

}  // namespace

std::string KindInWords(std::string_view type) {
  const size_t colon = type.find(':');
  const std::string_view kind = type.substr(0, colon);
  const std::string_view check = colon == std::string_view::npos ? "" : type.substr(colon + 1);
  if (check.starts_with("{") && check.ends_with("}")) {
    std::string members(check.substr(1, check.size() - 2));
    std::ranges::replace(members, ',', '|');
    return members;
  }
  std::string words = IsNumber(kind) ? "NUMBER" : std::string(kind);
  if (check == "NONNEGATIVE") return words + ", 0 or more";
  if (check == "POSITIVE") return words + ", more than 0";
  if (const std::string range = RangeInWords(check); !range.empty()) words += ", " + range;
  return words;
}

std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace fairlead::apps
