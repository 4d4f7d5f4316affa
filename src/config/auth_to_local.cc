#include "config/auth_to_local.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

namespace fairlead::config {

namespace {

constexpr size_t kPrincipalMax = 1024;
constexpr int64_t kRegexMemory = 1 << 20;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// What is read of a text, from its front.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}
  bool Take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// Up to `end`, which is taken as well; nothing when it does not come.
  std::optional<std::string_view> Until(char end) {
    const size_t at = rest_.find(end);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view found = rest_.substr(0, at);
    rest_.remove_prefix(at + 1);
    return found;
  }
  void SkipSpace() {
    while (!rest_.empty() && IsSpace(rest_.front())) rest_.remove_prefix(1);
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// "alice/host@REALM" -> {REALM, alice, host}. KerberosName takes one or two components and one realm, none of
/// them empty, and nothing else. A backslash is GSSAPI's escape of a / or @ inside a component: whose name that
/// would be Hadoop does not say, so it is nobody's.
std::optional<std::vector<std::string>> PartsOf(std::string_view principal) {
  const size_t at = principal.find('@');
  const std::string_view name = principal.substr(0, at);
  const size_t slash = name.find('/');
  std::vector<std::string> parts{""};
  if (at != std::string_view::npos) parts[0] = principal.substr(at + 1);
  parts.emplace_back(name.substr(0, slash));
  if (slash != std::string_view::npos) parts.emplace_back(name.substr(slash + 1));
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool absent = i == 0 && at == std::string_view::npos;
    if ((parts[i].empty() && !absent) || parts[i].find_first_of("/@\\") != std::string::npos) return std::nullopt;
  }
  return parts;
}

std::unique_ptr<RE2> Compile(std::string_view pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kRegexMemory);
  return std::make_unique<RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
}

/// Java's $1 in a replacement is RE2's \1, and Java's \ takes the next character as it is.
std::string Rewrite(std::string_view java) {
  std::string out;
  const auto add = [&out](char c) { out += c == '\\' ? std::string("\\\\") : std::string(1, c); };
  for (size_t i = 0; i < java.size(); ++i) {
    if (java[i] == '\\' && i + 1 < java.size()) {
      add(java[++i]);
    } else if (java[i] == '$' && i + 1 < java.size() && std::isdigit(static_cast<unsigned char>(java[i + 1])) != 0) {
      out += std::string("\\") + java[++i];
    } else {
      add(java[i]);
    }
  }
  return out;
}

}  // namespace

struct AuthToLocal::Rule {
  bool is_default = false;
  size_t components = 0;
  std::string format;
  std::unique_ptr<RE2> match;  // null: everything
  std::unique_ptr<RE2> from;   // null: nothing is replaced
  std::string to;
  bool global = false;
  bool lower = false;

  /// Nothing: it does not apply.
  std::optional<std::string> Apply(const std::vector<std::string>& parts) const {
    if (parts.size() - 1 != components) return std::nullopt;
    std::string name;
    for (size_t i = 0; i < format.size(); ++i) {
      size_t part = 0;
      if (format[i] == '$') {
        const auto [end, error] = std::from_chars(format.data() + i + 1, format.data() + format.size(), part);
        if (error == std::errc() && part < parts.size()) {
          name += parts[part];
          i = static_cast<size_t>(end - format.data()) - 1;
          continue;
        }
      }
      name += format[i];
    }
    if (match && !RE2::FullMatch(name, *match)) return std::nullopt;
    if (from)
      global ? static_cast<void>(RE2::GlobalReplace(&name, *from, to))
             : static_cast<void>(RE2::Replace(&name, *from, to));
    if (lower) std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
  }
};

base::Result<AuthToLocal> AuthToLocal::Parse(std::string_view rules, Mechanism mechanism, std::string default_realm) {
  AuthToLocal out;
  out.mechanism_ = mechanism;
  out.default_realm_ = std::move(default_realm);
  Cursor in(rules);
  for (in.SkipSpace(); !in.rest().empty(); in.SkipSpace()) {
    const std::string_view begun = in.rest();
    const auto refuse = [&](const std::string& why) {
      return base::Error{"rule '" + std::string(begun.substr(0, std::min(begun.find('\n'), size_t{200}))) +
                         "': " + why};
    };
    auto rule = std::make_shared<Rule>();
    if (in.Take("DEFAULT")) {
      rule->is_default = true;
    } else {
      if (!in.Take("RULE:[")) return refuse("it begins with neither RULE:[ nor DEFAULT");
      const std::optional<std::string_view> count = in.Until(':');
      const std::optional<std::string_view> format = count ? in.Until(']') : std::nullopt;
      if (!format) return refuse("[number:format] is expected");
      const auto [end, error] = std::from_chars(count->data(), count->data() + count->size(), rule->components);
      if (error != std::errc() || end != count->data() + count->size()) return refuse("[number:format] is expected");
      rule->format = *format;
      if (in.Take("(")) {
        const std::optional<std::string_view> pattern = in.Until(')');
        if (!pattern) return refuse("a ) is missing");
        rule->match = Compile(*pattern);
        if (!rule->match->ok()) return refuse("its regular expression is not supported: " + rule->match->error());
      }
      if (in.Take("s/")) {
        const std::optional<std::string_view> from = in.Until('/');
        const std::optional<std::string_view> to = from ? in.Until('/') : std::nullopt;
        if (!to) return refuse("s/from/to/ is expected");
        rule->from = Compile(*from);
        if (!rule->from->ok()) return refuse("its regular expression is not supported: " + rule->from->error());
        rule->to = Rewrite(*to);
        std::string why;
        if (!rule->from->CheckRewriteString(rule->to, &why)) return refuse(why);
        rule->global = in.Take("g");
      }
      in.Take("/");  // KerberosName.ruleParser: it may be missing, and the next rule may follow at once
      rule->lower = in.Take("L");
    }
    out.rules_.push_back(std::move(rule));
  }
  if (out.rules_.empty()) {
    auto rule = std::make_shared<Rule>();
    rule->is_default = true;
    out.rules_.push_back(std::move(rule));
  }
  return out;
}

base::Result<std::string> AuthToLocal::ShortName(const std::string& principal) const {
  if (principal.size() > kPrincipalMax) return base::Error{"the principal's name is too long"};
  const std::optional<std::vector<std::string>> read = PartsOf(principal);
  if (!read) return base::Error{"Malformed Kerberos name: " + principal};
  const std::vector<std::string>& parts = *read;
  if (parts.size() == 2 && parts[0].empty()) return parts[1];
  for (const std::shared_ptr<const Rule>& rule : rules_) {
    std::optional<std::string> name;
    if (!rule->is_default) {
      name = rule->Apply(parts);
    } else if (parts[0] == default_realm_ && !default_realm_.empty()) {
      name = parts[1];
    }
    if (!name) continue;
    const bool odd = name->empty() || (mechanism_ == Mechanism::kHadoop && name->find_first_of("/@") != name->npos);
    if (odd) return base::Error{"Non-simple name " + *name + " after auth_to_local rule for " + principal};
    return *name;
  }
  if (mechanism_ == Mechanism::kMit) return principal;
  return base::Error{"No rules applied to " + principal};
}

}  // namespace fairlead::config
