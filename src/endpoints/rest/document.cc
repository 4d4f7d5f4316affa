#include "endpoints/rest/document.h"

#include <algorithm>

#include "base/check.h"
#include "base/codec.h"
#include "base/java_number.h"
#include "base/text.h"

namespace fairlead::endpoints::rest {

std::string JavaFloat(float value) { return base::JavaFloat(value); }
std::string JavaDouble(double value) { return base::JavaDouble(value); }

Document Document::Float(float value) { return Document(Number{JavaFloat(value)}); }
Document Document::Double(double value) { return Document(Number{JavaDouble(value)}); }

Document& Document::Add(std::string name, Document value) & {
  FL_CHECK(std::holds_alternative<Fields>(value_), "fields belong to objects");
  std::get<Fields>(value_).emplace_back(std::move(name), std::move(value));
  return *this;
}
Document&& Document::Add(std::string name, Document value) && {
  return std::move(Add(std::move(name), std::move(value)));
}

namespace {
/// What stands for a byte that is no UTF-8 and for a character that XML 1.0 cannot carry (U+FFFD).
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsXmlCharacter(std::string_view sequence) {
  const auto c = static_cast<unsigned char>(sequence[0]);
  return (c >= 0x20 || c == '\n' || c == '\t' || c == '\r') && sequence != "\xEF\xBF\xBE" && sequence != "\xEF\xBF\xBF";
}
}  // namespace

std::string XmlEscape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = base::Utf8Length(text);
    const std::string_view sequence = text.substr(0, std::max<size_t>(length, 1));
    if (sequence == "&") {
      out += "&amp;";
    } else if (sequence == "<") {
      out += "&lt;";
    } else if (sequence == ">") {
      out += "&gt;";
    } else if (sequence == "\"") {
      out += "&quot;";
    } else {
      out += length > 0 && IsXmlCharacter(sequence) ? sequence : kReplacement;
    }
    text.remove_prefix(sequence.size());
  }
  return out;
}

void Document::AppendJson(std::string& out) const {
  if (std::holds_alternative<std::monostate>(value_)) {
    out += "{}";
  } else if (const auto* text = std::get_if<std::string>(&value_)) {
    base::AppendJsonString(out, *text);
  } else if (const auto* flag = std::get_if<bool>(&value_)) {
    out += *flag ? "true" : "false";
  } else if (const auto* number = std::get_if<int64_t>(&value_)) {
    out += std::to_string(*number);
  } else if (const auto* real = std::get_if<Number>(&value_)) {
    const bool finite = real->text.find_first_of("NI") == std::string::npos;
    if (finite) {
      out += real->text;
    } else {
      base::AppendJsonString(out, real->text);
    }
  } else if (const auto* fields = std::get_if<Fields>(&value_)) {
    out += '{';
    bool first = true;
    for (const auto& [name, value] : *fields) {
      if (!first) out += ',';
      first = false;
      base::AppendJsonString(out, name == kType ? "type" : name);
      out += ':';
      value.AppendJson(out);
    }
    out += '}';
  } else if (const auto* list = std::get_if<List>(&value_)) {
    out += '[';
    bool first = true;
    for (const Document& item : *list) {
      if (!first) out += ',';
      first = false;
      item.AppendJson(out);
    }
    out += ']';
  }
}

// As JAXB declares the name space: where it is needed first, for all that is inside.
void Document::AppendXml(std::string& out, std::string_view name, bool declared) const {
  if (const auto* list = std::get_if<List>(&value_)) {
    for (const Document& item : *list) item.AppendXml(out, name, declared);
    return;
  }
  const auto* fields = std::get_if<Fields>(&value_);
  const bool empty = std::holds_alternative<std::monostate>(value_) || (fields && fields->empty());
  out += '<';
  out += name;
  if (fields && !empty && fields->front().first == kType) {
    if (!declared) out += " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
    out += " xsi:type=\"" + XmlEscape(std::get<std::string>(fields->front().second.value_)) + "\"";
    declared = true;
  }
  if (empty) {
    out += "/>";
    return;
  }
  out += '>';
  if (const auto* text = std::get_if<std::string>(&value_)) {
    out += XmlEscape(*text);
  } else if (const auto* flag = std::get_if<bool>(&value_)) {
    out += *flag ? "true" : "false";
  } else if (const auto* number = std::get_if<int64_t>(&value_)) {
    out += std::to_string(*number);
  } else if (const auto* real = std::get_if<Number>(&value_)) {
    out += real->text;
  } else if (fields) {
    for (const auto& [field, value] : *fields) {
      if (field != kType) value.AppendXml(out, field, declared);
    }
  }
  out += "</";
  out += name;
  out += '>';
}

std::string Document::ToJson(std::string_view root) const {
  std::string out;
  if (root.empty()) {
    AppendJson(out);
    return out;
  }
  out += '{';
  base::AppendJsonString(out, root);
  out += ':';
  AppendJson(out);
  out += '}';
  return out;
}

std::string Document::ToXml(std::string_view root) const {
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>";
  AppendXml(out, root, false);
  return out;
}

}  // namespace fairlead::endpoints::rest
