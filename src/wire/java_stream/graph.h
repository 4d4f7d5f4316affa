#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

// What a Java object stream says (Java Object Serialization Specification, chapter 6), as a graph of nodes: objects may
// be shared and may point in circles, so nodes name each other by number.

namespace fairlead::wire::java_stream {

/// A node of a Graph; 0 is Java's null.
using Ref = uint32_t;
inline constexpr Ref kNull = 0;

/// A field or an array's element: an integer or boolean sign-extended, the bits of a float or double, or a Ref; the
/// field's or array's type says which.
using Slot = int64_t;

/// What a writeObject method wrote: raw bytes, or an object.
using Item = std::variant<std::string, Ref>;

/// Flags of a class description (java.io.ObjectStreamConstants).
inline constexpr uint8_t kWriteMethod = 1;
inline constexpr uint8_t kSerializable = 2;
inline constexpr uint8_t kExternalizable = 4;
inline constexpr uint8_t kBlockData = 8;
inline constexpr uint8_t kEnum = 16;

/// Whether an object's part of a class with these flags has what a method of the class wrote.
constexpr bool HasCustom(uint8_t flags) {
  return (flags & kExternalizable) != 0 || (flags & (kSerializable | kWriteMethod)) == (kSerializable | kWriteMethod);
}

struct String {
  std::string bytes;  // modified UTF-8, as in the stream
};
struct Field {
  char type = 'I';  // BCDFIJSZ, L for objects, [ for arrays
  std::string name;
  Ref signature = kNull;  // String: the declared type of L and [
};
struct Class {
  std::string name;
  int64_t suid = 0;
  uint8_t flags = 0;
  std::vector<Field> fields;
  std::vector<Item> annotation;
  Ref super = kNull;
  bool proxy = false;  // a dynamic proxy: no name, suid and fields, but interfaces
  std::vector<std::string> interfaces;
};
/// One class' part of an object.
struct Level {
  Ref type = kNull;
  std::vector<Slot> values;  // as the class' fields
  std::vector<Item> custom;  // of a writeObject or writeExternal method
};
struct Object {
  Ref type = kNull;
  std::vector<Level> levels;  // from the uppermost serializable class down
};
struct Array {
  Ref type = kNull;
  std::vector<Slot> items;
};
struct Enum {
  Ref type = kNull;
  Ref constant = kNull;  // String
};
/// A java.lang.Class.
struct ClassObject {
  Ref type = kNull;
};
/// A Class apart from the other nodes, which are many more and much smaller.
class BoxedClass {
 public:
  // Implicit, so that a Class becomes a Node as all other nodes do.
  BoxedClass(Class its) : class_(std::make_unique<Class>(std::move(its))) {}  // NOLINT(google-explicit-constructor)
  BoxedClass(const BoxedClass& other) : class_(std::make_unique<Class>(*other.class_)) {}
  BoxedClass(BoxedClass&&) noexcept = default;
  BoxedClass& operator=(const BoxedClass& other) { return *this = BoxedClass(other); }
  BoxedClass& operator=(BoxedClass&&) noexcept = default;
  ~BoxedClass() = default;
  Class* get() const { return class_.get(); }

 private:
  std::unique_ptr<Class> class_;
};
using Node = std::variant<std::monostate, String, BoxedClass, Object, Array, Enum, ClassObject>;

/// A class as its class file describes it, from which its description in a stream is made.
struct ClassShape {
  std::string name;
  int64_t suid = 0;
  uint8_t flags = kSerializable;
  std::vector<std::pair<std::string, std::string>> fields;  // name, signature ("I", "Lscala/Option;"); in stream order
  std::string super;                                        // empty: none that is serializable
};
/// Classes by name.
using ClassCatalog = std::map<std::string, ClassShape, std::less<>>;

class Graph {
 public:
  Graph() : nodes_(1) {}

  /// The objects and raw bytes of the stream itself.
  std::vector<Item> contents;

  /// The node as `T`, or null when it is of another kind.
  template <class T>
  const T* Get(Ref ref) const {
    return const_cast<Graph*>(this)->Get<T>(ref);
  }
  template <class T>
  T* Get(Ref ref) {
    if (ref >= nodes_.size()) return nullptr;
    if constexpr (std::is_same_v<T, Class>) {
      BoxedClass* boxed = std::get_if<BoxedClass>(&nodes_[ref]);
      return boxed != nullptr ? boxed->get() : nullptr;
    } else {
      return std::get_if<T>(&nodes_[ref]);
    }
  }
  Ref Add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<Ref>(nodes_.size() - 1);
  }
  void Replace(Ref ref, Node node) { nodes_[ref] = std::move(node); }
  size_t size() const { return nodes_.size(); }
  /// Of the stream that it was read from; 0: it was made.
  size_t stream_bytes() const { return stream_bytes_; }
  void SetStreamBytes(size_t bytes) { stream_bytes_ = bytes; }

  // ---- reading -----------------------------------------------------------------------------------------------------

  /// The only object of the stream; kNull when it is not exactly one.
  Ref Root() const;
  /// Name of an object's, array's or enum's class; empty for anything else.
  std::string_view ClassName(Ref object) const;
  /// A String as UTF-8; nothing when the node is none.
  std::optional<std::string> Text(Ref string) const;
  /// How many fields an object has, with its classes' above: what looking for one costs at most.
  size_t FieldCount(Ref object) const;
  /// A field of an object, from its lowest class up, when it has the type `type`.
  std::optional<Slot> FieldOf(Ref object, std::string_view name, char type) const;
  /// An object's field of type L or [; kNull when it is null or not there.
  Ref RefOf(Ref object, std::string_view name) const;
  /// What the class `level` of an object wrote by its writeObject; nothing when there is no such part.
  std::span<const Item> Custom(Ref object, std::string_view level) const;

  // ---- changing ----------------------------------------------------------------------------------------------------

  /// Sets a field of an object, when its classes have one of this name that holds a number or a Ref as `is_ref` says.
  void SetField(Ref object, std::string_view name, Slot value, bool is_ref);

 private:
  std::vector<Node> nodes_;
  size_t stream_bytes_ = 0;
};

/// Makes objects to be written, of classes in a catalog or of Java's own. Nothing is taken over from a graph that was
/// read: its classes may have other fields than those of the same name here.
class Builder {
 public:
  explicit Builder(const ClassCatalog& catalog) : catalog_(catalog) {}

  Graph& graph() { return graph_; }

  Ref NewString(std::string_view utf8);
  /// The description of a class, made once; one that is nowhere is a programmer error.
  Ref ClassOf(std::string_view name);
  /// An object with all fields zero or null.
  Ref NewObject(std::string_view class_name);
  Ref NewArray(std::string_view class_name, std::vector<Slot> items);
  Ref NewEnum(std::string_view class_name, std::string_view constant);
  Ref NewClassObject(std::string_view class_name);
  /// Sets a field of an object made here, when its classes have such a field (other releases may lack it).
  void SetNumber(Ref object, std::string_view field, Slot value) { graph_.SetField(object, field, value, false); }
  void SetRef(Ref object, std::string_view field, Ref value) { graph_.SetField(object, field, value, true); }
  /// What the class `level` of `object` writes by its writeObject.
  void SetCustom(Ref object, std::string_view level, std::vector<Item> items);

 private:
  const ClassShape* ShapeOf(std::string_view name) const;
  Ref Signature(std::string_view text);

  const ClassCatalog& catalog_;
  Graph graph_;
  std::map<std::string, Ref, std::less<>> classes_;
  std::map<std::string, Ref, std::less<>> signatures_;  // Java interns them: equal ones are one object
};

/// Whether a field or element of this type holds a Ref.
constexpr bool HoldsRef(char type) { return type == 'L' || type == '['; }

/// Java's modified UTF-8 (zero as two bytes, surrogates one by one) and standard UTF-8. A byte sequence that is neither
/// becomes U+FFFD.
std::string FromModifiedUtf8(std::string_view modified);
std::string ToModifiedUtf8(std::string_view utf8);

}  // namespace fairlead::wire::java_stream
