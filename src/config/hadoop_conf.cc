#include "config/hadoop_conf.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <pugixml.hpp>

#include "base/did_you_mean.h"
#include "base/text.h"
#include "config/line_counter.h"
#include "wire/xml/xml.h"

namespace fairlead::config {
namespace {

constexpr int kExpansionDepthMax = 20;  // Configuration.MAX_SUBST
constexpr int kIncludeDepthMax = 10;
constexpr const char* kFiles[] = {"core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml"};

std::string Place(const HadoopConf::Origin& origin) {
  if (origin.file.empty()) return "Hadoop's default";
  if (origin.line == 0) return origin.file;
  return origin.file + ":" + std::to_string(origin.line) + ":" + std::to_string(origin.column);
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

/// Nanoseconds of a unit suffix as Configuration.getTimeDuration takes them; 0: unknown.
int64_t UnitNanos(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us") return 1'000;
  if (unit == "ms") return 1'000'000;
  if (unit == "s") return 1'000'000'000;
  if (unit == "m") return 60'000'000'000;
  if (unit == "h") return 3'600'000'000'000;
  if (unit == "d") return 86'400'000'000'000;
  return 0;
}

}  // namespace

std::pair<int, int> LineAndColumn(std::string_view text, size_t offset) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  const size_t newline = before.rfind('\n');
  return {line, static_cast<int>(newline == std::string_view::npos ? offset : offset - newline - 1) + 1};
}

HadoopConf::HadoopConf(std::map<std::string, std::string> variables) : variables_(std::move(variables)) {}

base::Result<HadoopConf> HadoopConf::Load(const std::string& directory, std::map<std::string, std::string> variables,
                                          const FileReader& read) {
  HadoopConf conf(std::move(variables));
  bool any = false;
  for (const char* name : kFiles) {
    const std::string path = directory + "/" + name;
    const auto text = read(path);
    if (!text) {
      if (text.error().code == ENOENT) continue;
      return text.error();
    }
    any = true;
    if (const base::Status added = conf.AddXml(path, *text, read); !added.ok()) return added.error();
  }
  if (!any) {
    return base::Error{
        directory +
        " holds none of core-site.xml, hdfs-site.xml, mapred-site.xml, yarn-site.xml; give the directory "
        "of Hadoop's configuration files"};
  }
  return conf;
}

base::Status HadoopConf::AddXml(const std::string& file, std::string_view text, const FileReader& read) {
  return AddXmlAtDepth(file, text, read, 0);
}

base::Status HadoopConf::AddMissing(const std::string& file, std::string_view text, const FileReader& read) {
  HadoopConf own(variables_);
  if (base::Status added = own.AddXml(file, text, read); !added.ok()) return added;
  entries_.merge(own.entries_);
  return {};
}

base::Status HadoopConf::AddXmlAtDepth(const std::string& file, std::string_view text, const FileReader& read,
                                       int depth) {
  pugi::xml_document document;
  const auto loaded = wire::xml::Load(document, text, wire::xml::kFile);
  LineCounter lines(text);
  const auto at = [&](ptrdiff_t offset) {
    const auto [line, column] = lines.At(static_cast<size_t>(std::max<ptrdiff_t>(offset, 0)));
    return Origin{file, line, column};
  };
  if (!loaded) {
    const wire::xml::Fault& fault = loaded.error();
    if (fault.too_large) return base::Error{file + ": " + fault.message};
    return base::Error{Place(at(static_cast<ptrdiff_t>(fault.at))) + ": not well-formed XML: " + fault.message +
                       "; write <configuration><property><name>..</name><value>..</value></property></configuration>"};
  }
  const pugi::xml_node root = document.document_element();
  if (std::string_view(root.name()) != "configuration") {
    return base::Error{Place(at(root.offset_debug())) + ": the top element is <" + root.name() +
                       ">; it must be <configuration>"};
  }
  for (const pugi::xml_node node : root.children()) {
    if (node.type() != pugi::node_element) continue;
    const std::string_view element = node.name();
    if (element == "xi:include" || element == "include") {
      if (depth == kIncludeDepthMax) return base::Error{Place(at(node.offset_debug())) + ": includes nest too deeply"};
      std::string path = node.attribute("href").value();
      if (!path.starts_with('/')) path = DirectoryOf(file) + "/" + path;
      const auto included = read(path);
      if (!included) {
        if (node.child("xi:fallback") || node.child("fallback")) continue;
        return base::Error{Place(at(node.offset_debug())) + ": cannot include: " + included.error().message};
      }
      if (const base::Status added = AddXmlAtDepth(path, *included, read, depth + 1); !added.ok()) return added;
      continue;
    }
    if (element != "property") continue;
    const std::string name = node.child("name") ? node.child("name").child_value() : node.attribute("name").value();
    const std::string key(base::Trimmed(name));
    if (key.empty()) continue;
    const pugi::xml_node value = node.child("value");
    Entry& entry = entries_[key];
    if (entry.is_final) continue;
    entry.value = value ? value.child_value() : node.attribute("value").value();
    entry.origin = at(node.offset_debug() - 1);
    entry.is_final = base::Trimmed(node.child("final").child_value()) == "true";
  }
  return {};
}

void HadoopConf::Set(const std::string& key, const std::string& value, Origin origin) {
  entries_[key] = {value, std::move(origin), false};
}

std::optional<std::string> HadoopConf::Variable(const std::string& name, int depth) const {
  asked_.insert(name);
  if (name.starts_with("env.")) {
    std::string variable = name.substr(4);
    std::optional<std::string> fallback;
    bool also_when_empty = false;
    if (const size_t split = variable.find_first_of(":-"); split != std::string::npos) {
      also_when_empty = variable[split] == ':';
      fallback = variable.substr(split + (also_when_empty ? 2 : 1));
      variable.resize(split);
    }
    const auto found = variables_.find(variable);
    if (found == variables_.end() || (also_when_empty && found->second.empty())) return fallback;
    return found->second;
  }
  if (name == "user.name") {
    const auto found = variables_.find("USER");
    return found == variables_.end() ? "root" : found->second;
  }
  if (name == "user.home") {
    const auto found = variables_.find("HOME");
    if (found != variables_.end()) return found->second;
  }
  if (name == "java.io.tmpdir") return "/tmp";
  const auto found = entries_.find(name);
  if (found != entries_.end()) return Expand(found->second.value, depth + 1);
  if (const char* value = HadoopDefault(name)) return Expand(value, depth + 1);
  return std::nullopt;
}

/// What a variable stands for is looked through in its turn, as in Hadoop (Configuration.substituteVars), but only so
/// many times in one value: variables that name each other twice would stand for more than any memory holds.
std::string HadoopConf::Expand(const std::string& raw, int depth) const {
  if (depth > kExpansionDepthMax) return raw;
  std::string out, rest = raw;
  for (int substituted = 0;;) {
    const size_t open = rest.find("${");
    const size_t close = open == std::string::npos ? open : rest.find('}', open);
    if (close == std::string::npos) return out + rest;
    out.append(rest, 0, open);
    const auto value = Variable(rest.substr(open + 2, close - open - 2), kExpansionDepthMax);  // as it is written
    if (!value) out.append(rest, open, close - open + 1);
    if (value && ++substituted > kExpansionDepthMax) return raw;
    rest = (value ? *value : "") + rest.substr(close + 1);
  }
}

std::optional<std::string> HadoopConf::Find(const std::string& key) const {
  asked_.insert(key);
  const auto found = entries_.find(key);
  if (found != entries_.end()) return Expand(found->second.value, 0);
  if (const char* value = HadoopDefault(key)) return Expand(value, 0);
  return std::nullopt;
}

bool HadoopConf::IsSet(const std::string& key) const {
  looked_for_.insert(key);
  return entries_.contains(key);
}

HadoopConf::Origin HadoopConf::OriginOf(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? Origin{} : found->second.origin;
}

std::string HadoopConf::String(const std::string& key, const std::string& fallback) const {
  const auto value = Find(key);
  return value ? std::string(base::Trimmed(*value)) : fallback;
}

int64_t HadoopConf::Int(const std::string& key, int64_t fallback, int64_t low, int64_t high) const {
  const std::string text = String(key);
  if (text.empty()) return fallback;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const char* first = text.data() + (hex ? 2 : 0);
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(first, text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || stop != text.data() + text.size() || value < low || value > high) {
    std::string range;
    if (low != INT64_MIN) range += " of at least " + std::to_string(low);
    if (high != INT64_MAX) range += std::string(range.empty() ? " of" : " and") + " at most " + std::to_string(high);
    Refuse(key, "'" + text + "' is not a whole number" + range);
    return fallback;
  }
  return value;
}

double HadoopConf::Double(const std::string& key, double fallback) const {
  const std::string text = String(key);
  if (text.empty()) return fallback;
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size() || !std::isfinite(value)) {
    Refuse(key, "'" + text + "' is not a number");
    return fallback;
  }
  return value;
}

bool HadoopConf::Bool(const std::string& key, bool fallback) const {
  std::string text = String(key);
  if (text.empty()) return fallback;
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  if (text == "true") return true;
  if (text == "false") return false;
  Refuse(key, "'" + text + "' is neither true nor false");
  return fallback;
}

base::Duration HadoopConf::Time(const std::string& key, base::Duration fallback, base::Duration unit) const {
  const std::string text = String(key);
  if (text.empty()) return fallback;
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view suffix =
      base::Trimmed(std::string_view(stop, static_cast<size_t>(text.data() + text.size() - stop)));
  const int64_t nanos = suffix.empty() ? unit.ns : UnitNanos(suffix);
  int64_t total = 0;
  if (error != std::errc() || nanos == 0 || __builtin_mul_overflow(value, nanos, &total)) {
    Refuse(key, "'" + text + "' is not a time; write a whole number with ns, us, ms, s, m, h or d");
    return fallback;
  }
  return {total};
}

std::vector<std::string> HadoopConf::List(const std::string& key, const std::vector<std::string>& fallback) const {
  const auto value = Find(key);
  if (!value) return fallback;
  std::vector<std::string> out;
  for (std::string_view rest = *value; !rest.empty();) {
    const size_t comma = rest.find(',');
    const std::string_view part = base::Trimmed(rest.substr(0, comma));
    if (!part.empty()) out.emplace_back(part);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return out;
}

void HadoopConf::Refuse(const std::string& key, const std::string& why_and_what_to_write) const {
  std::string line = Place(OriginOf(key)) + ": " + key + ": " + why_and_what_to_write;
  if (std::find(errors_.begin(), errors_.end(), line) == errors_.end()) errors_.push_back(std::move(line));
}

std::string HadoopConf::ErrorText() const {
  std::string text;
  for (const std::string& line : errors_) text += (text.empty() ? "" : "\n") + line;
  return text;
}

std::map<std::string, std::string> HadoopConf::Explicit() const {
  std::map<std::string, std::string> out;
  for (const auto& [key, entry] : entries_) out.emplace(key, entry.value);
  return out;
}

std::vector<std::string> HadoopConf::Unread(const std::vector<std::string_view>& prefixes) const {
  std::vector<std::string> keys;
  for (const auto& [key, entry] : entries_) {
    const bool ours = std::any_of(prefixes.begin(), prefixes.end(),
                                  [&key = key](std::string_view prefix) { return key.starts_with(prefix); });
    if (ours && !asked_.contains(key)) keys.push_back(key);
  }
  return keys;
}

std::string HadoopConf::ReadAndNear(const std::string& key) const {
  if (asked_.contains(key) || looked_for_.contains(key)) return {};  // it is written as it should be
  std::vector<std::string> known(asked_.begin(), asked_.end());
  known.insert(known.end(), looked_for_.begin(), looked_for_.end());
  return base::Nearest(key, known);
}

}  // namespace fairlead::config
