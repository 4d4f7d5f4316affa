#include "config/allocation_edit.h"

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>

#include "base/text.h"
#include "wire/xml/xml.h"

namespace fairlead::config {
namespace {

using Node = pugi::xml_node;

bool IsQueue(const Node& node) {
  const std::string_view tag = node.name();
  return tag == "queue" || tag == "pool";
}

/// The last queue of that name below `parent`: what is written last counts.
Node FindQueue(const Node& parent, std::string_view name) {
  Node found;
  for (const Node& child : parent.children()) {
    if (IsQueue(child) && base::Trimmed(child.attribute("name").value()) == name) found = child;
  }
  return found;
}

int Depth(Node node) {
  int depth = 0;
  for (node = node.parent(); node.type() == pugi::node_element; node = node.parent()) ++depth;
  return depth;
}

/// A new element at the end of `parent`, on a line of its own.
Node AppendElement(Node parent, const std::string& name) {
  const auto line = [&](int depth) { return "\n" + std::string(static_cast<size_t>(depth) * 2, ' '); };
  Node last = parent.last_child();
  if (last.type() == pugi::node_pcdata && base::Trimmed(last.value()).empty()) parent.remove_child(last);
  parent.append_child(pugi::node_pcdata).set_value(line(Depth(parent) + 1).c_str());
  Node made = parent.append_child(name.c_str());
  parent.append_child(pugi::node_pcdata).set_value(line(Depth(parent)).c_str());
  return made;
}

void RemoveElement(Node parent, Node node) {
  Node before = node.previous_sibling();
  if (before.type() == pugi::node_pcdata && base::Trimmed(before.value()).empty()) parent.remove_child(before);
  parent.remove_child(node);
}

void Set(Node queue, const std::string& name, const std::string& value) {
  Node found;
  for (const Node& child : queue.children(name.c_str())) found = child;
  if (value.empty()) {
    if (found) RemoveElement(queue, found);
    return;
  }
  if (!found) found = AppendElement(queue, name);
  while (found.first_child()) found.remove_child(found.first_child());
  found.append_child(pugi::node_pcdata).set_value(value.c_str());
}

}  // namespace

base::Result<std::string> EditAllocationFile(std::string_view text, std::string_view queue,
                                             const std::vector<std::pair<std::string, std::string>>& settings) {
  pugi::xml_document document;
  const auto loaded =
      wire::xml::Load(document, text, wire::xml::kFile, pugi::parse_full | pugi::parse_ws_pcdata, pugi::encoding_utf8);
  if (!loaded) {
    const wire::xml::Fault& fault = loaded.error();
    return base::Error{fault.too_large ? fault.message : "not well-formed XML (" + fault.message + ")"};
  }
  Node at = document.document_element();
  if (std::string_view(at.name()) != "allocations") return base::Error{"the top element is not <allocations>"};
  bool top = true;
  for (const std::string_view name : base::Split(queue, '.')) {
    if (name.empty()) return base::Error{"'" + std::string(queue) + "' is no queue's name; write root.prod"};
    Node found = FindQueue(at, name);
    if (top && !found) {
      if (const Node root = FindQueue(at, "root")) {
        at = root;
        found = FindQueue(at, name);
      }
    }
    if (!found && !(top && name == "root")) {
      found = AppendElement(at, "queue");
      found.append_attribute("name") = std::string(name).c_str();
    }
    if (found) at = found;
    top = false;
  }
  for (const auto& [name, value] : settings) {
    if (name.empty()) return base::Error{"a setting has no name; write weight=2"};
    Set(at, name, value);
  }
  // pugixml keeps no space outside of the top element: what stands there is taken as it was.
  std::ostringstream out;
  const Node whole = document.document_element();
  const auto begin = static_cast<size_t>(std::max<ptrdiff_t>(whole.offset_debug() - 1, 0));
  const size_t closing = text.rfind("</allocations");
  const size_t end = text.find('>', closing == std::string_view::npos ? begin : closing) + 1;
  out << text.substr(0, begin);
  whole.print(out, "", pugi::format_raw, pugi::encoding_utf8);
  out << text.substr(end);
  return out.str();
}

std::string LinesThatDiffer(std::string_view before, std::string_view after) {
  std::vector<std::string_view> was = base::Split(before, '\n');
  std::vector<std::string_view> is = base::Split(after, '\n');
  size_t same = 0;
  while (same < std::min(was.size(), is.size()) && was[same] == is[same]) ++same;
  size_t end = 0;
  while (end < std::min(was.size(), is.size()) - same && was[was.size() - 1 - end] == is[is.size() - 1 - end]) ++end;
  std::string out;
  for (size_t i = same; i < was.size() - end; ++i) out += "- " + std::string(was[i]) + "\n";
  for (size_t i = same; i < is.size() - end; ++i) out += "+ " + std::string(is[i]) + "\n";
  return out;
}

}  // namespace fairlead::config
