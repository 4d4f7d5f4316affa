#include "wire/java_stream/reader.h"

#include <set>

#include "base/bytes.h"
#include "wire/java_stream/stream_format.h"

namespace fairlead::wire::java_stream {
namespace {

// Far beyond what any class has that Spark sends: 25 fields, three classes above one another. Whoever looks for a field
// looks through all of an object's.
constexpr uint16_t kFieldsMax = 256;
constexpr size_t kAncestorsMax = 32;
constexpr int32_t kInterfacesMax = 256;

class Reader {
 public:
  Reader(std::string_view bytes, const base::BudgetKind& kind) : budget_(kind, bytes.size()), in_(bytes, budget_) {}

  base::Result<Graph> Run() {
    if (!budget_.ok()) return budget_.error();
    if (in_.U16() != kStreamMagic || in_.U16() != kStreamVersion) return base::Error{"not a Java object stream"};
    while (error_.empty() && in_.remaining() > 0) {
      Item item;
      if (ReadItem(in_.U8(), item)) graph_.contents.push_back(std::move(item));
    }
    if (!error_.empty()) return base::Error{error_ + " at byte " + std::to_string(in_.position())};
    graph_.SetStreamBytes(in_.position());
    return std::move(graph_);
  }

 private:
  // Every method gives false (or kNull) once something is wrong; error_ says what.
  bool Fail(std::string why) {
    if (error_.empty()) error_ = std::move(why);
    in_.Fail();
    return false;
  }
  bool Good() { return !in_.failed() || Fail("the stream ends early"); }
  bool Within(bool charged) { return charged || Fail(budget_.error().message); }
  /// For `bytes` of what is made.
  bool Charge(size_t bytes) { return Within(budget_.Memory(bytes)); }
  bool ChargeNode(size_t bytes) { return Within(budget_.Node() && budget_.Memory(bytes)); }

  Ref NewHandle(Node node) {
    const Ref ref = graph_.Add(std::move(node));
    handles_.push_back(ref);
    return ref;
  }
  bool ReadReference(Ref& ref) {
    const uint32_t handle = in_.U32();
    if (!Good()) return false;
    if (handle < kBaseHandle || handle - kBaseHandle >= handles_.size()) return Fail("a reference to nothing");
    ref = handles_[handle - kBaseHandle];
    return true;
  }

  std::string Utf() {
    const uint16_t length = in_.U16();
    if (!Charge(length)) return {};
    return std::string(in_.Take(length));
  }

  /// A block of bytes, or an object.
  bool ReadItem(uint8_t mark, Item& item) {
    if (!ChargeNode(sizeof(Item))) return false;
    if (mark == kMarkBlock || mark == kMarkLongBlock) {
      const int64_t length = mark == kMarkBlock ? in_.U8() : in_.I32();
      if (length < 0) return Fail("a block of negative length");
      if (static_cast<size_t>(length) > in_.remaining()) return Fail("a block longer than the stream");
      if (!Charge(static_cast<size_t>(length))) return false;
      item = std::string(in_.Take(static_cast<size_t>(length)));
      return Good();
    }
    Ref ref = kNull;
    if (!ReadMarked(mark, ref)) return false;
    item = ref;
    return true;
  }

  bool ReadObject(Ref& ref) {
    const uint8_t mark = in_.U8();
    return Good() && ReadMarked(mark, ref);
  }

  bool ReadMarked(uint8_t mark, Ref& ref) {
    ref = kNull;
    if (mark == kMarkNull) return true;
    if (mark == kMarkReference) return ReadReference(ref);
    const base::Budget::Level level(budget_);
    if (!Within(level.ok()) || !ChargeNode(sizeof(Node) + sizeof(Ref))) return false;
    switch (mark) {
      case kMarkString:
      case kMarkLongString:
        return ReadString(mark, ref);
      case kMarkClassDescription:
      case kMarkProxyDescription:
        return ReadDescription(mark, ref);
      case kMarkObject:
        return ReadPlainObject(ref);
      case kMarkArray:
        return ReadArray(ref);
      case kMarkEnum:
        return ReadEnum(ref);
      case kMarkClass: {
        Ref type = kNull;
        if (!ReadClass(type)) return false;
        ref = NewHandle(ClassObject{type});
        return true;
      }
      default:
        return Fail("unknown mark " + std::to_string(mark));
    }
  }

  bool ReadString(uint8_t mark, Ref& ref) {
    String string;
    if (mark == kMarkString) {
      string.bytes = Utf();
    } else {
      const uint64_t length = in_.U64();
      if (length > in_.remaining()) return Fail("a string longer than the stream");
      if (!Charge(static_cast<size_t>(length))) return false;
      string.bytes = std::string(in_.Take(static_cast<size_t>(length)));
    }
    if (!Good()) return false;
    ref = NewHandle(std::move(string));
    return true;
  }

  bool IsClass(Ref ref) const { return complete_classes_.count(ref) != 0; }

  /// Reads the description of an object's class: there must be one, and it must not be in the middle of being read.
  bool ReadClass(Ref& ref) { return ReadObject(ref) && (IsClass(ref) || Fail("an object without a class")); }

  bool ReadDescription(uint8_t mark, Ref& ref) {
    if (!Charge(sizeof(Class))) return false;
    Class type;
    type.proxy = mark == kMarkProxyDescription;
    if (!type.proxy) {
      type.name = Utf();
      type.suid = in_.I64();
      if (!Good()) return false;
    }
    ref = NewHandle(Class{});
    if (!(type.proxy ? ReadInterfaces(type) : ReadFields(type))) return false;
    if (!ReadItems(type.annotation) || !ReadObject(type.super)) return false;
    if (type.super != kNull && !IsClass(type.super)) return Fail("a class whose parent is none");
    graph_.Replace(ref, std::move(type));
    complete_classes_.insert(ref);
    return true;
  }

  bool ReadInterfaces(Class& type) {
    type.flags = kSerializable;
    const int32_t count = in_.I32();
    if (!Good()) return false;
    if (count < 0 || count > kInterfacesMax) return Fail("a proxy with " + std::to_string(count) + " interfaces");
    for (int32_t i = 0; i < count && Good() && Charge(sizeof(std::string)); ++i) type.interfaces.push_back(Utf());
    return Good();
  }

  bool ReadFields(Class& type) {
    type.flags = in_.U8();
    const uint16_t count = in_.U16();
    if (count > kFieldsMax) return Fail("a class of " + std::to_string(count) + " fields");
    for (uint16_t i = 0; i < count; ++i) {
      if (!Charge(sizeof(Field))) return false;
      Field field;
      field.type = static_cast<char>(in_.U8());
      field.name = Utf();
      if (!Good()) return false;
      if (kFieldTypes.find(field.type) == std::string_view::npos) return Fail("a field of an unknown type");
      if (HoldsRef(field.type)) {
        if (!ReadObject(field.signature)) return false;
        if (graph_.Get<String>(field.signature) == nullptr) return Fail("a field whose type is no string");
      }
      type.fields.push_back(std::move(field));
    }
    return Good();
  }

  /// Up to the mark that ends what a writeObject or annotateClass method wrote.
  bool ReadItems(std::vector<Item>& items) {
    while (Good()) {
      const uint8_t mark = in_.U8();
      if (mark == kMarkEndBlock) return true;
      Item item;
      if (!Good() || !ReadItem(mark, item)) return false;
      items.push_back(std::move(item));
    }
    return false;
  }

  bool ReadPlainObject(Ref& ref) {
    Object object;
    if (!ReadClass(object.type)) return false;
    ref = NewHandle(Object{});
    std::vector<Ref> chain;
    for (Ref type = object.type; type != kNull; type = graph_.Get<Class>(type)->super) {
      if (chain.size() == kAncestorsMax) return Fail("a class with too many above it");
      chain.push_back(type);
    }
    for (auto type = chain.rbegin(); type != chain.rend(); ++type) {
      Level level{*type, {}, {}};
      if (!ChargeNode(sizeof(Level)) || !ReadLevel(level)) return false;
      object.levels.push_back(std::move(level));
    }
    graph_.Replace(ref, std::move(object));
    return true;
  }

  bool ReadLevel(Level& level) {
    const uint8_t flags = graph_.Get<Class>(level.type)->flags;
    if ((flags & kExternalizable) != 0) {
      return (flags & kBlockData) != 0 ? ReadItems(level.custom)
                                       : Fail("an externalizable object of protocol version 1");
    }
    if ((flags & kSerializable) == 0) return true;
    const size_t count = graph_.Get<Class>(level.type)->fields.size();
    if (!Charge(count * sizeof(Slot))) return false;
    for (size_t f = 0; f < count; ++f) {
      Slot value = 0;
      if (!ReadSlot(graph_.Get<Class>(level.type)->fields[f].type, value)) return false;
      level.values.push_back(value);
    }
    return !HasCustom(flags) || ReadItems(level.custom);
  }

  bool ReadSlot(char type, Slot& value) {
    switch (type) {
      case 'B':
      case 'Z':
        value = Slot{static_cast<int8_t>(in_.U8())};
        break;
      case 'C':
        value = in_.U16();
        break;
      case 'S':
        value = static_cast<int16_t>(in_.U16());
        break;
      case 'F':
        value = in_.U32();
        break;
      case 'I':
        value = in_.I32();
        break;
      case 'D':
      case 'J':
        value = in_.I64();
        break;
      default: {
        Ref ref = kNull;
        if (!ReadObject(ref)) return false;
        value = ref;
      }
    }
    return Good();
  }

  bool ReadArray(Ref& ref) {
    Array array;
    if (!ReadClass(array.type)) return false;
    const std::string& name = graph_.Get<Class>(array.type)->name;
    if (name.size() < 2 || name[0] != '[' || kFieldTypes.find(name[1]) == std::string_view::npos) {
      return Fail("an array whose class is none of arrays");
    }
    const char element = name[1];
    ref = NewHandle(Array{});
    const int32_t count = in_.I32();
    // Every element takes a byte at least.
    if (count < 0 || static_cast<size_t>(count) > in_.remaining()) return Fail("an array longer than the stream");
    if (!Charge(static_cast<size_t>(count) * sizeof(Slot))) return false;
    for (int32_t i = 0; i < count; ++i) {
      Slot value = 0;
      if (!ReadSlot(element, value)) return false;
      array.items.push_back(value);
    }
    graph_.Replace(ref, std::move(array));
    return true;
  }

  bool ReadEnum(Ref& ref) {
    Enum constant;
    if (!ReadClass(constant.type)) return false;
    ref = NewHandle(Enum{});
    if (!ReadObject(constant.constant)) return false;
    if (graph_.Get<String>(constant.constant) == nullptr) return Fail("an enum constant without a name");
    graph_.Replace(ref, constant);
    return true;
  }

  static constexpr std::string_view kFieldTypes = "BCDFIJSZL[";

  base::Budget budget_;
  base::ByteReader in_;
  Graph graph_;
  std::vector<Ref> handles_;
  std::set<Ref> complete_classes_;
  std::string error_;
};

}  // namespace

base::Result<Graph> ReadStream(std::string_view bytes, const base::BudgetKind& kind) {
  return Reader(bytes, kind).Run();
}

}  // namespace fairlead::wire::java_stream
