#include "env/server_pattern.h"

#include <fnmatch.h>

#include <algorithm>
#include <vector>

namespace fairlead::env {

namespace {

constexpr size_t kPatternMost = 1024;
constexpr size_t kNameMost = 255;  // of a service, and of a host
constexpr size_t kAlternativesMost = 100;

/// Where the bracket at `open` ends, npos: nowhere; `commas`: on its own level.
size_t CloseOf(std::string_view text, size_t open, std::vector<size_t>& commas) {
  size_t depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '{') {
      ++depth;
    } else if (text[i] == ',' && depth == 1) {
      commas.push_back(i);
    } else if (text[i] == '}' && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

size_t FirstBrace(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '{') {
      return i;
    }
  }
  return std::string_view::npos;
}

/// Patterns without {a,b} that stand for `pattern` together.
base::Result<std::vector<std::string>> Alternatives(std::string pattern) {
  std::vector<std::string> open = {std::move(pattern)}, out;
  while (!open.empty()) {
    if (open.size() + out.size() > kAlternativesMost) return base::Error{"it has more than 100 alternatives"};
    const std::string text = std::move(open.back());
    open.pop_back();
    const size_t begin = FirstBrace(text);
    if (begin == std::string::npos) {
      out.push_back(text);
      continue;
    }
    std::vector<size_t> ends;
    const size_t close = CloseOf(text, begin, ends);
    if (close == std::string::npos) return base::Error{"a { is not closed"};
    ends.push_back(close);
    size_t from = begin + 1;
    for (const size_t end : ends) {
      open.push_back(text.substr(0, begin) + text.substr(from, end - from) + text.substr(close + 1));
      from = end + 1;
    }
  }
  return out;
}

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kNameMost && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

/// A class of characters that has no end is one of GlobPattern's errors; fnmatch takes it for a [.
bool HasOpenClass(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '[') {
      i = text.find(']', i + 2);
      if (i == std::string_view::npos) return true;
    }
  }
  return false;
}

}  // namespace

bool IsServerPattern(std::string_view principal) { return principal.find_first_of("*?[{\\") != principal.npos; }

base::Status CheckServerPattern(std::string_view pattern) {
  if (pattern.size() > kPatternMost) return base::Error{"it is longer than 1024 bytes"};
  const auto alternatives = Alternatives(std::string(pattern));
  if (!alternatives.ok()) return alternatives.error();
  if (HasOpenClass(pattern)) return base::Error{"a [ is not closed"};
  return {};
}

base::Result<std::string> FittingServer(const std::string& pattern, const std::string& said, const RealmOfHost& realm) {
  const size_t slash = said.find('/');
  if (slash == said.npos || !IsName(said.substr(0, slash)) || !IsName(said.substr(slash + 1))) {
    return base::Error{"the server does not say which principal it has"};
  }
  const base::Result<std::string> of_host = realm(said.substr(slash + 1));
  if (!of_host.ok()) return of_host.error();
  const std::string name = said + "@" + *of_host;
  const auto alternatives = Alternatives(pattern);
  if (!alternatives.ok()) return base::Error{pattern + ": " + alternatives.error().message};
  for (const std::string& one : *alternatives) {
    if (::fnmatch(one.c_str(), name.c_str(), 0) == 0) return name;
  }
  return base::Error{"Server has invalid Kerberos principal: " + name + ", doesn't match the pattern: " + pattern};
}

}  // namespace fairlead::env
