#include "wire/java_stream/graph.h"

#include <algorithm>

#include "base/check.h"
#include "wire/java_stream/java_library.h"

namespace fairlead::wire::java_stream {

// ---- reading -------------------------------------------------------------------------------------------------------

Ref Graph::Root() const {
  if (contents.size() != 1) return kNull;
  const Ref* ref = std::get_if<Ref>(&contents.front());
  return ref != nullptr ? *ref : kNull;
}

std::string_view Graph::ClassName(Ref object) const {
  Ref type = kNull;
  if (const auto* plain = Get<Object>(object)) type = plain->type;
  if (const auto* array = Get<Array>(object)) type = array->type;
  if (const auto* constant = Get<Enum>(object)) type = constant->type;
  const auto* described = Get<Class>(type);
  return described != nullptr ? std::string_view(described->name) : std::string_view();
}

std::optional<std::string> Graph::Text(Ref string) const {
  const auto* node = Get<String>(string);
  if (node == nullptr) return std::nullopt;
  return FromModifiedUtf8(node->bytes);
}

size_t Graph::FieldCount(Ref object) const {
  const auto* node = Get<Object>(object);
  size_t count = 0;
  if (node != nullptr) {
    for (const Level& level : node->levels) count += level.values.size();
  }
  return count;
}

std::optional<Slot> Graph::FieldOf(Ref object, std::string_view name, char type) const {
  const auto* node = Get<Object>(object);
  if (node == nullptr) return std::nullopt;
  for (size_t l = node->levels.size(); l-- > 0;) {
    const Level& level = node->levels[l];
    const std::vector<Field>& fields = Get<Class>(level.type)->fields;
    for (size_t f = 0; f < level.values.size(); ++f) {
      if (fields[f].type == type && fields[f].name == name) return level.values[f];
    }
  }
  return std::nullopt;
}

Ref Graph::RefOf(Ref object, std::string_view name) const {
  std::optional<Slot> slot = FieldOf(object, name, 'L');
  if (!slot) slot = FieldOf(object, name, '[');
  return static_cast<Ref>(slot.value_or(kNull));
}

std::span<const Item> Graph::Custom(Ref object, std::string_view level) const {
  const auto* node = Get<Object>(object);
  if (node == nullptr) return {};
  for (const Level& part : node->levels) {
    if (Get<Class>(part.type)->name == level) return part.custom;
  }
  return {};
}

void Graph::SetField(Ref object, std::string_view name, Slot value, bool is_ref) {
  auto* node = Get<Object>(object);
  FL_CHECK(node != nullptr, "a field of something that is no object");
  for (size_t l = node->levels.size(); l-- > 0;) {
    Level& level = node->levels[l];
    const std::vector<Field>& fields = Get<Class>(level.type)->fields;
    for (size_t f = 0; f < level.values.size(); ++f) {
      if (fields[f].name != name || HoldsRef(fields[f].type) != is_ref) continue;
      level.values[f] = value;
      return;
    }
  }
}

// ---- making --------------------------------------------------------------------------------------------------------

Ref Builder::NewString(std::string_view utf8) { return graph_.Add(String{ToModifiedUtf8(utf8)}); }

Ref Builder::Signature(std::string_view text) {
  const auto found = signatures_.find(text);
  if (found != signatures_.end()) return found->second;
  return signatures_[std::string(text)] = graph_.Add(String{std::string(text)});
}

const ClassShape* Builder::ShapeOf(std::string_view name) const {
  for (const ClassCatalog* catalog : {&catalog_, &JavaLibrary()}) {
    if (const auto shape = catalog->find(name); shape != catalog->end()) return &shape->second;
  }
  return nullptr;
}

Ref Builder::ClassOf(std::string_view name) {
  const auto found = classes_.find(name);
  if (found != classes_.end()) return found->second;
  const ClassShape* shape = ShapeOf(name);
  FL_CHECK(shape != nullptr, "a class that the catalog does not have");
  Class made;
  made.name = shape->name;
  made.suid = shape->suid;
  made.flags = shape->flags;
  for (const auto& [field, signature] : shape->fields) {
    const char type = signature.front();
    made.fields.push_back({type, field, HoldsRef(type) ? Signature(signature) : kNull});
  }
  if (!shape->super.empty()) made.super = ClassOf(shape->super);
  return classes_[std::string(name)] = graph_.Add(std::move(made));
}

Ref Builder::NewObject(std::string_view class_name) {
  Object object;
  object.type = ClassOf(class_name);
  for (Ref type = object.type; type != kNull; type = graph_.Get<Class>(type)->super) {
    object.levels.insert(object.levels.begin(), {type, std::vector<Slot>(graph_.Get<Class>(type)->fields.size()), {}});
  }
  return graph_.Add(std::move(object));
}

Ref Builder::NewArray(std::string_view class_name, std::vector<Slot> items) {
  const Ref type = ClassOf(class_name);
  return graph_.Add(Array{type, std::move(items)});
}

Ref Builder::NewEnum(std::string_view class_name, std::string_view constant) {
  const Ref type = ClassOf(class_name);
  const Ref name = NewString(constant);
  return graph_.Add(Enum{type, name});
}

Ref Builder::NewClassObject(std::string_view class_name) {
  const Ref type = ClassOf(class_name);
  return graph_.Add(ClassObject{type});
}

void Builder::SetCustom(Ref object, std::string_view level, std::vector<Item> items) {
  for (Level& part : graph_.Get<Object>(object)->levels) {
    if (graph_.Get<Class>(part.type)->name != level) continue;
    part.custom = std::move(items);
    return;
  }
}

// ---- text ----------------------------------------------------------------------------------------------------------

namespace {

constexpr uint32_t kReplacement = 0xFFFD;

bool IsTail(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80;
}
uint32_t Tail(std::string_view text, size_t at) { return static_cast<uint8_t>(text[at]) & 0x3F; }

/// The next code point of UTF-8 or, with surrogates as such, of modified UTF-8; moves `at` behind it.
uint32_t NextCodePoint(std::string_view text, size_t& at) {
  const auto lead = static_cast<uint8_t>(text[at]);
  if (lead < 0x80) return ++at, lead;
  if ((lead & 0xE0) == 0xC0 && IsTail(text, at + 1)) {
    at += 2;
    return (lead & 0x1Fu) << 6 | Tail(text, at - 1);
  }
  if ((lead & 0xF0) == 0xE0 && IsTail(text, at + 1) && IsTail(text, at + 2)) {
    at += 3;
    return (lead & 0x0Fu) << 12 | Tail(text, at - 2) << 6 | Tail(text, at - 1);
  }
  if ((lead & 0xF8) == 0xF0 && IsTail(text, at + 1) && IsTail(text, at + 2) && IsTail(text, at + 3)) {
    at += 4;
    return (lead & 0x07u) << 18 | Tail(text, at - 3) << 12 | Tail(text, at - 2) << 6 | Tail(text, at - 1);
  }
  ++at;
  return kReplacement;
}

void Append(std::string& out, uint32_t code) {
  const auto put = [&out](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

constexpr bool IsHigh(uint32_t code) { return code >= 0xD800 && code < 0xDC00; }
constexpr bool IsLow(uint32_t code) { return code >= 0xDC00 && code < 0xE000; }

}  // namespace

std::string FromModifiedUtf8(std::string_view modified) {
  // What is ASCII is the same in both: nearly all texts, and the long ones.
  const auto is_ascii = [](char c) { return static_cast<uint8_t>(c) < 0x80; };
  if (std::all_of(modified.begin(), modified.end(), is_ascii)) return std::string(modified);
  std::string out;
  for (size_t at = 0; at < modified.size();) {
    uint32_t code = NextCodePoint(modified, at);
    if (IsHigh(code) && at < modified.size()) {
      size_t after = at;
      const uint32_t low = NextCodePoint(modified, after);
      if (IsLow(low)) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        at = after;
      }
    }
    if (code > 0x10FFFF || IsHigh(code) || IsLow(code)) code = kReplacement;
    Append(out, code);
  }
  return out;
}

std::string ToModifiedUtf8(std::string_view utf8) {
  std::string out;
  for (size_t at = 0; at < utf8.size();) {
    uint32_t code = NextCodePoint(utf8, at);
    if (code > 0x10FFFF || IsHigh(code) || IsLow(code)) code = kReplacement;
    if (code == 0) {
      out += "\xC0\x80";
    } else if (code >= 0x10000) {
      Append(out, 0xD800 + ((code - 0x10000) >> 10));
      Append(out, 0xDC00 + ((code - 0x10000) & 0x3FF));
    } else {
      Append(out, code);
    }
  }
  return out;
}

}  // namespace fairlead::wire::java_stream
