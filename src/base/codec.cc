#include "base/codec.h"

#include <cmath>
#include <cstdio>

#include "base/text.h"

namespace fairlead::base {

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        // What a terminal would obey is escaped, and so is what is no UTF-8.
        if (const size_t length = Utf8Length(text.substr(i)); length > 0) {
          const std::string_view sequence = text.substr(i, length);
          out += IsControl(sequence) ? VisibleText(sequence) : std::string(sequence);
          i += length - 1;
        } else {
          out += VisibleText(text.substr(i, 1));
        }
    }
  }
  out += '"';
}

void AppendJsonNumber(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.17g", value);
  out += buffer;
}

}  // namespace fairlead::base
