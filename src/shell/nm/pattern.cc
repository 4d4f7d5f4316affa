#include "shell/nm/pattern.h"

#include <re2/re2.h>

namespace fairlead::shell {

namespace {
constexpr size_t kBytesMax = 1024;
}

base::Result<Pattern> Pattern::Read(const std::string& text) {
  if (text.size() > kBytesMax) return base::Error{"it is longer than " + std::to_string(kBytesMax) + " bytes"};
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_encoding(re2::RE2::Options::EncodingLatin1);  // names are bytes
  auto compiled = std::make_shared<const re2::RE2>(text, options);
  if (!compiled->ok()) return base::Error{compiled->error()};
  return Pattern(std::move(compiled));
}

bool Pattern::MatchesAll(const std::string& name) const {
  return name.size() <= kBytesMax && re2::RE2::FullMatch(name, *compiled_);
}

bool Pattern::IsFoundIn(const std::string& name) const {
  return name.size() <= kBytesMax && re2::RE2::PartialMatch(name, *compiled_);
}

}  // namespace fairlead::shell
