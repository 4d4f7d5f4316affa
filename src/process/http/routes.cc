#include "process/http/routes.h"

#include "base/text.h"

namespace fairlead::process::http {

std::optional<std::vector<std::string>> MatchPath(std::string_view pattern, const std::vector<std::string>& path) {
  const std::vector<std::string_view> parts = base::Split(pattern, '/');
  if (parts.size() != path.size()) return std::nullopt;
  std::vector<std::string> words;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].starts_with('{')) {
      words.push_back(path[i]);
    } else if (parts[i] != path[i]) {
      return std::nullopt;
    }
  }
  return words;
}

}  // namespace fairlead::process::http
