#include "config/yaml_edit.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "wire/yaml/yaml.h"

namespace fairlead::config {
namespace {

using Path = std::vector<std::string>;

/// The entry of that name; undefined if there is none. (A map that is not const makes what it is asked for.)
YAML::Node Entry(const YAML::Node& map, const std::string& name) {
  if (map.IsMap()) {
    const YAML::Node found = map[name];
    if (found.IsDefined()) return found;
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

/// The same value, whatever the order of a map's keys and the way it is written.
bool Same(const YAML::Node& a, const YAML::Node& b) {
  if (a.Type() != b.Type()) return false;
  if (a.IsScalar()) return a.Scalar() == b.Scalar();
  if (a.size() != b.size()) return false;
  if (a.IsSequence()) return std::equal(a.begin(), a.end(), b.begin(), [](auto x, auto y) { return Same(x, y); });
  if (!a.IsMap()) return true;
  return std::all_of(a.begin(), a.end(), [&](const auto& item) {
    const YAML::Node other = Entry(b, item.first.Scalar());
    return other.IsDefined() && Same(item.second, other);
  });
}

/// A copy in which nothing is shared: an alias is what it stands for.
YAML::Node Copy(const YAML::Node& node) {
  YAML::Node copy(node.Type());
  if (node.IsScalar()) copy = node.Scalar();
  if (node.IsSequence()) {
    for (const auto& item : node) copy.push_back(Copy(item));
  }
  if (node.IsMap()) {
    for (const auto& item : node) copy[item.first.Scalar()] = Copy(item.second);
  }
  return copy;
}

/// One file being changed, an entry after the other; each is read afresh, since it moves what stands behind it.
class Editor {
 public:
  explicit Editor(std::string text) : text_(std::move(text)) {}

  /// Empty `value`: the entry goes.
  base::Status Set(const Path& path, const std::string& value) {
    const auto before = wire::yaml::Load(text_);
    const auto entry = wire::yaml::Load(value);
    if (!before || !entry) return base::Error{(before ? entry : before).error().message};
    const YAML::Node wanted = Copy(*before);
    if (!Change(wanted, path, value.empty() ? std::nullopt : std::optional(*entry))) return {};
    Write(*before, path, value);
    if (const auto after = wire::yaml::Load(text_); after && Same(*after, wanted)) return {};
    return base::Error{"'" + base::Joined(path, ".") +
                       "' cannot be changed safely as this file is laid out; edit it by hand"};
  }
  const std::string& text() const { return text_; }

 private:
  /// False: it is so already. No `wanted`: the entry goes.
  static bool Change(YAML::Node at, const Path& path, const std::optional<YAML::Node>& wanted) {
    for (size_t i = 0; i + 1 < path.size(); ++i) {
      if (!wanted && !Entry(at, path[i]).IsDefined()) return false;
      at.reset(at[path[i]]);
    }
    if (!wanted) return at.IsMap() && at.remove(path.back());
    if (const YAML::Node is = Entry(at, path.back()); is.IsDefined() && Same(is, *wanted)) return false;
    at[path.back()] = *wanted;
    return true;
  }

  void Write(const YAML::Node& root, const Path& path, const std::string& value) {
    YAML::Node map = root;
    size_t depth = 0;
    for (; depth + 1 < path.size() && Entry(map, path[depth]).IsMap(); ++depth) map.reset(Entry(map, path[depth]));
    std::string entry = value;  // what is not there yet of the path goes around it
    for (size_t i = path.size() - 1; i > depth; --i) entry = "{" + path[i] + ": " + entry + "}";
    for (const auto& item : map) {
      if (item.first.Scalar() != path[depth]) continue;
      if (value.empty()) return Remove(item.first, item.second);
      return Replace(item.first, item.second, entry);
    }
    Insert(map, path[depth] + ": " + entry);
  }

  void Replace(const YAML::Node& key, const YAML::Node& old, const std::string& value) {
    if (!old.IsNull()) {
      const size_t from = At(old);
      text_.replace(from, EndOf(old, from) - from, value);
      return;
    }
    const size_t colon = text_.find(':', At(key) + key.Scalar().size());
    if (colon != std::string::npos) text_.insert(colon + 1, " " + value);
  }

  void Insert(const YAML::Node& map, const std::string& entry) {
    if (!map.IsMap()) {  // an empty file, or comments alone
      if (!text_.empty() && text_.back() != '\n') text_ += '\n';
      text_ += entry + "\n";
      return;
    }
    const size_t from = At(map);
    if (from < text_.size() && text_[from] == '{') {
      text_.insert(from + 1, map.size() == 0 ? entry : entry + ", ");
      return;
    }
    text_.insert(LineOf(from), std::string(static_cast<size_t>(map.Mark().column), ' ') + entry + "\n");
  }

  void Remove(const YAML::Node& key, const YAML::Node& old) {
    const size_t from = At(key);
    const size_t end =
        old.IsNull() ? std::min(text_.find_first_of(":", from), text_.size() - 1) + 1 : EndOf(old, At(old));
    const size_t line = LineOf(from);
    const size_t line_end = std::min(text_.find('\n', end), text_.size() - 1) + 1;
    const size_t next = std::min(text_.find_first_not_of(" \t", end), text_.size());
    if (text_.find_first_not_of(" \t", line) == from && (next == text_.size() || text_[next] != ',')) {
      text_.erase(line, line_end - line);  // with a comment behind it, which was about it
    } else if (next < text_.size() && text_[next] == ',') {
      text_.erase(from, std::min(text_.find_first_not_of(" \t", next + 1), text_.size()) - from);
    } else {
      const size_t comma = text_.find_last_not_of(" \t", from - 1);
      const size_t begin = comma != std::string::npos && text_[comma] == ',' ? comma : from;
      text_.erase(begin, end - begin);
    }
  }

  static size_t At(const YAML::Node& node) { return static_cast<size_t>(std::max(node.Mark().pos, 0)); }
  size_t LineOf(size_t at) const {
    const size_t before = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
    return before == std::string::npos ? 0 : before + 1;
  }
  /// Behind a value that begins at `from`.
  size_t EndOf(const YAML::Node& value, size_t from) const {
    if (from >= text_.size()) return text_.size();
    const char first = text_[from];
    if (value.IsScalar()) {
      if (first != '"' && first != '\'') return std::min(from + value.Scalar().size(), text_.size());
      return std::min(text_.find(first, from + 1), text_.size() - 1) + 1;
    }
    size_t depth = 0;
    for (size_t at = from; at < text_.size(); ++at) {
      depth += text_[at] == '{' || text_[at] == '[' ? 1 : 0;
      if ((text_[at] == '}' || text_[at] == ']') && --depth == 0) return at + 1;
      if (depth == 0) break;  // a map in lines of its own
    }
    return from;
  }

  std::string text_;
};

/// `below_root`: the file has an entry for root itself, and the others below it.
base::Result<Path> PathOf(std::string_view queue, bool below_root) {
  Path path;
  if (below_root) path = {"queues", "root"};
  if (below_root && queue == "root") return path;
  const std::string_view names = queue.substr(queue.starts_with("root.") ? 5 : 0);
  for (size_t next = 0; next != std::string_view::npos;) {
    const size_t end = names.find('.', next);
    const std::string_view name = names.substr(next, end == std::string_view::npos ? end : end - next);
    next = end == std::string_view::npos ? end : end + 1;
    if (name.empty() || name.find_first_of(" \t/:{}[],#&*!|>'\"%@`\n") != std::string_view::npos || name == "root") {
      return base::Error{"'" + std::string(queue) + "' is no queue whose settings stand here; write root.prod"};
    }
    path.insert(path.end(), {"queues", std::string(name)});
  }
  return path;
}

}  // namespace

base::Result<std::string> EditFairleadYaml(std::string_view text, std::string_view queue,
                                           const std::vector<std::pair<std::string, std::string>>& settings) {
  const auto file = wire::yaml::Load(text);
  if (!file) return base::Error{file.error().message};
  Editor editor{std::string(text)};
  try {
    const bool below_root = Entry(Entry(*file, "queues"), "root").IsDefined();
    base::Result<Path> path = PathOf(queue, below_root);
    if (!path.ok()) return path.error();
    for (const auto& [name, value] : settings) {
      if (name.empty() || name == "queues" || (name + value).find('\n') != std::string::npos) {
        return base::Error{"'" + name + "' is no setting of a queue; write weight=2"};
      }
      Path entry = *path;
      entry.push_back(name);
      if (base::Status set = editor.Set(entry, value); !set.ok()) return set.error();
    }
  } catch (const YAML::Exception& e) {  // yaml-cpp reports by exception; it ends here
    return base::Error{"not well-formed YAML: " + e.msg};
  }
  return editor.text();
}

}  // namespace fairlead::config
