#include "wire/java_stream/writer.h"

#include "base/bytes.h"
#include "wire/java_stream/stream_format.h"

namespace fairlead::wire::java_stream {
namespace {

class Writer {
 public:
  explicit Writer(const Graph& graph) : graph_(graph), handles_(graph.size()) {}

  std::string Run() {
    out_.U16(kStreamMagic);
    out_.U16(kStreamVersion);
    WriteItems(graph_.contents);
    return std::move(bytes_);
  }

 private:
  void TakeHandle(Ref ref) { handles_[ref] = next_handle_++; }

  void Utf(const std::string& text) {
    out_.U16(static_cast<uint16_t>(text.size()));
    out_.Bytes(text);
  }

  void WriteItems(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (const Ref* ref = std::get_if<Ref>(&item)) {
        WriteNode(*ref);
      } else {
        WriteBlock(std::get<std::string>(item));
      }
    }
  }

  void WriteBlock(const std::string& block) {
    if (block.size() <= kShortBlockMax) {
      out_.U8(kMarkBlock);
      out_.U8(static_cast<uint8_t>(block.size()));
    } else {
      out_.U8(kMarkLongBlock);
      out_.U32(static_cast<uint32_t>(block.size()));
    }
    out_.Bytes(block);
  }

  void WriteNode(Ref ref) {
    if (ref == kNull) return out_.U8(kMarkNull);
    if (handles_[ref] != 0) {
      out_.U8(kMarkReference);
      return out_.U32(handles_[ref]);
    }
    if (const auto* string = graph_.Get<String>(ref)) return WriteString(ref, *string);
    if (const auto* type = graph_.Get<Class>(ref)) return WriteDescription(ref, *type);
    if (const auto* object = graph_.Get<Object>(ref)) return WriteObject(ref, *object);
    if (const auto* array = graph_.Get<Array>(ref)) return WriteArray(ref, *array);
    if (const auto* constant = graph_.Get<Enum>(ref)) {
      out_.U8(kMarkEnum);
      WriteNode(constant->type);
      TakeHandle(ref);
      return WriteNode(constant->constant);
    }
    if (const auto* class_object = graph_.Get<ClassObject>(ref)) {
      out_.U8(kMarkClass);
      WriteNode(class_object->type);
      TakeHandle(ref);
    }
  }

  void WriteString(Ref ref, const String& string) {
    TakeHandle(ref);
    if (string.bytes.size() <= kShortStringMax) {
      out_.U8(kMarkString);
      return Utf(string.bytes);
    }
    out_.U8(kMarkLongString);
    out_.U64(string.bytes.size());
    out_.Bytes(string.bytes);
  }

  void WriteDescription(Ref ref, const Class& type) {
    if (type.proxy) {
      out_.U8(kMarkProxyDescription);
      TakeHandle(ref);
      out_.U32(static_cast<uint32_t>(type.interfaces.size()));
      for (const std::string& name : type.interfaces) Utf(name);
    } else {
      out_.U8(kMarkClassDescription);
      Utf(type.name);
      out_.I64(type.suid);
      TakeHandle(ref);
      out_.U8(type.flags);
      out_.U16(static_cast<uint16_t>(type.fields.size()));
      for (const Field& field : type.fields) {
        out_.U8(static_cast<uint8_t>(field.type));
        Utf(field.name);
        if (HoldsRef(field.type)) WriteNode(field.signature);
      }
    }
    WriteItems(type.annotation);
    out_.U8(kMarkEndBlock);
    WriteNode(type.super);
  }

  void WriteObject(Ref ref, const Object& object) {
    out_.U8(kMarkObject);
    WriteNode(object.type);
    TakeHandle(ref);
    for (const Level& level : object.levels) {
      const auto* type = graph_.Get<Class>(level.type);
      for (size_t f = 0; f < level.values.size(); ++f) WriteSlot(type->fields[f].type, level.values[f]);
      if (!HasCustom(type->flags)) continue;
      WriteItems(level.custom);
      out_.U8(kMarkEndBlock);
    }
  }

  void WriteArray(Ref ref, const Array& array) {
    out_.U8(kMarkArray);
    WriteNode(array.type);
    TakeHandle(ref);
    out_.U32(static_cast<uint32_t>(array.items.size()));
    const char element = graph_.Get<Class>(array.type)->name[1];
    for (const Slot item : array.items) WriteSlot(element, item);
  }

  void WriteSlot(char type, Slot value) {
    switch (type) {
      case 'B':
      case 'Z':
        return out_.U8(static_cast<uint8_t>(value));
      case 'C':
      case 'S':
        return out_.U16(static_cast<uint16_t>(value));
      case 'F':
      case 'I':
        return out_.U32(static_cast<uint32_t>(value));
      case 'D':
      case 'J':
        return out_.I64(value);
      default:
        return WriteNode(static_cast<Ref>(value));
    }
  }

  const Graph& graph_;
  std::vector<uint32_t> handles_;  // of nodes already written; 0: not yet
  uint32_t next_handle_ = kBaseHandle;
  std::string bytes_;
  base::ByteWriter out_{bytes_};
};

}  // namespace

std::string WriteStream(const Graph& graph) { return Writer(graph).Run(); }

}  // namespace fairlead::wire::java_stream
