#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fairlead::endpoints::rest {

/// A tree that is written as JSON or as XML the way Hadoop's web services (Jersey with JAXB) write their beans: an
/// object's fields in order, a list as an array or as repeated elements, a missing value as {} or an empty element.
class Document {
 public:
  using Fields = std::vector<std::pair<std::string, Document>>;
  using List = std::vector<Document>;
  /// An element written bare in JSON although it may occur again ("entry" of Hadoop's maps).
  struct Number {
    std::string text;  // as it stands in either form
  };

  Document() = default;
  Document(std::string text) : value_(std::move(text)) {}
  Document(std::string_view text) : value_(std::string(text)) {}
  Document(const char* text) : value_(std::string(text)) {}
  Document(bool flag) : value_(flag) {}
  Document(int32_t number) : value_(static_cast<int64_t>(number)) {}
  Document(int64_t number) : value_(number) {}
  Document(uint64_t number) : value_(static_cast<int64_t>(number)) {}
  Document(Fields fields) : value_(std::move(fields)) {}
  Document(List list) : value_(std::move(list)) {}
  Document(Number number) : value_(std::move(number)) {}

  static Document Object() { return Document(Fields{}); }
  /// A Java float or double as Java prints it ("8.333334", "1.0", "1.0E10").
  static Document Float(float value);
  static Document Double(double value);

  /// Appends a field; this must be an object.
  Document& Add(std::string name, Document value) &;
  Document&& Add(std::string name, Document value) &&;
  /// Which of several beans this object is: its field "type" in JSON, the attribute xsi:type in XML.
  Document& Type(std::string name) { return Add(kType, std::move(name)); }

  /// {"root":value}; an empty `root` gives the value alone.
  std::string ToJson(std::string_view root) const;
  /// <?xml ...?><root>value</root>
  std::string ToXml(std::string_view root) const;

 private:
  void AppendJson(std::string& out) const;
  /// `declared`: an element around this one has declared xsi.
  void AppendXml(std::string& out, std::string_view name, bool declared) const;
  static constexpr char kType[] = "xsi:type";

  std::variant<std::monostate, std::string, bool, int64_t, Number, Fields, List> value_;
};

/// Text safe inside XML; what XML cannot carry, bytes that are no UTF-8 included, becomes U+FFFD.
std::string XmlEscape(std::string_view text);

/// Float.toString of Java: the shortest digits that read back as the same float.
std::string JavaFloat(float value);
std::string JavaDouble(double value);

}  // namespace fairlead::endpoints::rest
