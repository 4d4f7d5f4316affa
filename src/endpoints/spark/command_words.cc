#include "endpoints/spark/command_words.h"

namespace fairlead::endpoints::spark {

std::vector<std::string> CommandWords(std::string_view line) {
  std::vector<std::string> words;
  bool open = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      open = false;
      continue;
    }
    if (!open) words.emplace_back();
    open = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      words.back().push_back(line[++i]);
    } else {
      words.back().push_back(c);
    }
  }
  return words;
}

}  // namespace fairlead::endpoints::spark
