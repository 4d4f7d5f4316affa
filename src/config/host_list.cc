#include "config/host_list.h"

#include <charconv>
#include <pugixml.hpp>

#include "wire/xml/xml.h"

namespace fairlead::config {
namespace {

/// Takes the first word off `text`, which ends at any of `breaks`; empty at the end.
std::string_view TakeWord(std::string_view& text, std::string_view breaks) {
  const size_t from = text.find_first_not_of(breaks);
  if (from == std::string_view::npos) return text = {};
  const size_t end = std::min(text.size(), text.find_first_of(breaks, from));
  const std::string_view word = text.substr(from, end - from);
  text.remove_prefix(end);
  return word;
}

}  // namespace

HostList ParseHostList(std::string_view text) {
  HostList list;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    for (;;) {
      const std::string_view word = TakeWord(line, " \t\r\f");
      if (word.empty() || word.front() == '#') break;
      list.names.emplace_back(word);
    }
  }
  return list;
}

base::Result<HostList> ParseHostListXml(std::string_view text) {
  pugi::xml_document document;
  if (const auto loaded = wire::xml::Load(document, text, wire::xml::kFile); !loaded) {
    return base::Error{(loaded.error().too_large ? "" : "not XML: ") + loaded.error().message};
  }
  HostList list;
  for (const pugi::xml_node host : document.document_element().children("host")) {
    std::string_view seconds = host.child("timeout").text().get();
    seconds = TakeWord(seconds, " \t\r\n");
    int64_t timeout = -1;
    const auto [end, error] = std::from_chars(seconds.data(), seconds.data() + seconds.size(), timeout);
    if (!seconds.empty() && (error != std::errc() || end != seconds.data() + seconds.size())) {
      return base::Error{"the timeout \"" + std::string(seconds) + "\" is no number of seconds"};
    }
    std::string_view names = host.child("name").text().get();
    for (;;) {
      const std::string_view name = TakeWord(names, ", \t\r\n");
      if (name.empty()) break;
      list.names.emplace_back(name);
      if (!seconds.empty()) list.timeouts_s[list.names.back()] = timeout;
    }
  }
  return list;
}

}  // namespace fairlead::config
