#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::endpoints::yarn {

inline std::string FromHex(std::string_view digits) {
  std::string out;
  int high = -1;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) continue;
    if (high < 0) {
      high = digit;
    } else {
      out.push_back(static_cast<char>(high << 4 | digit));
      high = -1;
    }
  }
  return out;
}

inline std::string ToHex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out.push_back(kDigits[static_cast<uint8_t>(c) >> 4]);
    out.push_back(kDigits[static_cast<uint8_t>(c) & 15]);
  }
  return out;
}

/// The words of the line of tests/golden/yarn/tokens.txt that begins with `words`.
inline std::vector<std::string> GoldenLine(std::vector<std::string> words) {
  std::ifstream in(FAIRLEAD_SOURCE_DIR "/tests/golden/yarn/tokens.txt");
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream split(line);
    std::vector<std::string> found;
    for (std::string word; split >> word;) found.push_back(word);
    if (found.size() > words.size() && std::equal(words.begin(), words.end(), found.begin())) return found;
  }
  ADD_FAILURE() << "no such line in tests/golden/yarn/tokens.txt";
  return std::vector<std::string>(words.size() + 3);
}

}  // namespace fairlead::endpoints::yarn
