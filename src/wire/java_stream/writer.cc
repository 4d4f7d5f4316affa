#include "wire/java_stream/writer.h"

#include <algorithm>
#include <cstddef>
#include <vector>

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
    for (const Item& item : graph_.contents) {
      steps_.push_back(StepOf(item));
      while (!steps_.empty()) {
        const Step step = steps_.back();
        steps_.pop_back();
        Do(step);
      }
    }
    return std::move(bytes_);
  }

 private:
  /// What is left to write, the next at the back: a chain of references may be as long as the stream, a stack of calls
  /// may not.
  struct Step {
    enum class Kind : uint8_t { kSlot, kBlock, kMark, kParts, kItems, kConstant, kTaken };
    Kind kind = Kind::kSlot;
    char type = 'L';  // of a slot
    Slot value = 0;   // the slot, the mark or the node
    const std::string* block = nullptr;
  };
  using Kind = Step::Kind;

  static Step StepOf(const Item& item) {
    if (const Ref* ref = std::get_if<Ref>(&item)) return {Kind::kSlot, 'L', *ref};
    return {Kind::kBlock, 'L', 0, &std::get<std::string>(item)};
  }
  static Step NodeStep(Ref ref) { return {Kind::kSlot, 'L', ref}; }

  void Do(const Step& step) {
    const auto ref = static_cast<Ref>(step.value);
    switch (step.kind) {
      case Kind::kSlot:
        return WriteSlot(step.type, step.value);
      case Kind::kBlock:
        return WriteBlock(*step.block);
      case Kind::kMark:
        return out_.U8(static_cast<uint8_t>(step.value));
      case Kind::kParts:
        return WriteParts(ref, *graph_.Get<Object>(ref));
      case Kind::kItems:
        return WriteArrayItems(ref, *graph_.Get<Array>(ref));
      case Kind::kConstant:
        TakeHandle(ref);
        return WriteSlot('L', graph_.Get<Enum>(ref)->constant);
      case Kind::kTaken:
        return TakeHandle(ref);
    }
  }

  /// The last step that was pushed is the first that is done: so what is written in turn is turned around.
  template <class Push>
  void InTurn(Push push) {
    const size_t from = steps_.size();
    push();
    std::reverse(steps_.begin() + static_cast<std::ptrdiff_t>(from), steps_.end());
  }

  void TakeHandle(Ref ref) { handles_[ref] = next_handle_++; }

  void Utf(const std::string& text) {
    out_.U16(static_cast<uint16_t>(text.size()));
    out_.Bytes(text);
  }

  void PushItems(const std::vector<Item>& items) {
    for (const Item& item : items) steps_.push_back(StepOf(item));
    steps_.push_back({Kind::kMark, 'L', kMarkEndBlock});
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
    if (ref == kNull || ref >= handles_.size()) return out_.U8(kMarkNull);
    if (handles_[ref] != 0) {
      out_.U8(kMarkReference);
      return out_.U32(handles_[ref]);
    }
    if (const auto* string = graph_.Get<String>(ref)) return WriteString(ref, *string);
    if (const auto* type = graph_.Get<Class>(ref)) return WriteDescription(ref, *type);
    if (const auto* object = graph_.Get<Object>(ref)) return Begin(kMarkObject, object->type, Kind::kParts, ref);
    if (const auto* array = graph_.Get<Array>(ref)) return Begin(kMarkArray, array->type, Kind::kItems, ref);
    if (const auto* constant = graph_.Get<Enum>(ref)) return Begin(kMarkEnum, constant->type, Kind::kConstant, ref);
    if (const auto* held = graph_.Get<ClassObject>(ref)) return Begin(kMarkClass, held->type, Kind::kTaken, ref);
    out_.U8(kMarkNull);
  }

  /// The mark of a node, then its class, then the rest.
  void Begin(Mark mark, Ref type, Kind rest, Ref ref) {
    out_.U8(mark);
    steps_.push_back({rest, 'L', ref});
    steps_.push_back(NodeStep(type));
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
        if (HoldsRef(field.type)) WriteSignature(field.signature);
      }
    }
    InTurn([&] {
      PushItems(type.annotation);
      steps_.push_back(NodeStep(type.super));
    });
  }

  void WriteSignature(Ref ref) { WriteNode(graph_.Get<String>(ref) != nullptr ? ref : kNull); }

  void WriteParts(Ref ref, const Object& object) {
    TakeHandle(ref);
    InTurn([&] {
      for (const Level& level : object.levels) {
        const auto* type = graph_.Get<Class>(level.type);
        if (type == nullptr) continue;
        const bool own_form = (type->flags & kExternalizable) != 0 || (type->flags & kSerializable) == 0;
        for (size_t f = 0; !own_form && f < type->fields.size(); ++f) {
          const Slot value = f < level.values.size() ? level.values[f] : 0;
          steps_.push_back({Kind::kSlot, type->fields[f].type, value});
        }
        if (HasCustom(type->flags)) PushItems(level.custom);
      }
    });
  }

  void WriteArrayItems(Ref ref, const Array& array) {
    TakeHandle(ref);
    const auto* type = graph_.Get<Class>(array.type);
    const char element = type != nullptr && type->name.size() > 1 ? type->name[1] : 'L';
    out_.U32(static_cast<uint32_t>(array.items.size()));
    InTurn([&] {
      for (const Slot item : array.items) steps_.push_back({Kind::kSlot, element, item});
    });
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
  std::vector<Step> steps_;
  std::vector<uint32_t> handles_;  // of nodes already written; 0: not yet
  uint32_t next_handle_ = kBaseHandle;
  std::string bytes_;
  base::ByteWriter out_{bytes_};
};

}  // namespace

std::string WriteStream(const Graph& graph) { return Writer(graph).Run(); }

}  // namespace fairlead::wire::java_stream
