#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace fairlead::shell {

/// A user's regular expression (java.util.regex in Hadoop), matched in time linear in the text (RE2: no look-around, no
/// references back). At most 1,024 bytes, like the names it is matched with; longer names match nothing.
class Pattern {
 public:
  static base::Result<Pattern> Read(const std::string& text);
  /// Matcher.matches and Matcher.find.
  bool MatchesAll(const std::string& name) const;
  bool IsFoundIn(const std::string& name) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace fairlead::shell
