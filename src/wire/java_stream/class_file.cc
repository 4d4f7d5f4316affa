#include "wire/java_stream/class_file.h"

#include <openssl/evp.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/bytes.h"
#include "wire/java_stream/java_library.h"

namespace fairlead::wire::java_stream {
namespace {

enum Access : uint16_t {
  kPublic = 0x0001,
  kPrivate = 0x0002,
  kProtected = 0x0004,
  kStatic = 0x0008,
  kFinal = 0x0010,
  kSynchronized = 0x0020,
  kVolatile = 0x0040,
  kTransient = 0x0080,
  kNative = 0x0100,
  kInterface = 0x0200,
  kAbstract = 0x0400,
  kStrict = 0x0800,
};

std::string Dotted(std::string name) {
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

// ---- parsing -------------------------------------------------------------------------------------------------------

/// Of an installed Spark: constants are text that many members may refer to.
constexpr base::BudgetKind kClassFile{
    "a class file", 16 << 20, 1, {.floor = 1 << 20, .per_byte = 64, .most = 64 << 20}, {}, {}};

class Parser {
 public:
  explicit Parser(std::string_view bytes) : budget_(kClassFile, bytes.size()), in_(bytes, budget_) {}

  base::Result<ClassFile> Run() {
    if (in_.U32() != 0xCAFEBABE) return base::Error{"not a class file"};
    in_.Skip(4);  // version
    if (!ReadConstants()) return base::Error{"a class file with an unknown constant"};
    ClassFile file;
    file.modifiers = in_.U16();
    this_class_ = in_.U16();
    file.name = ClassAt(this_class_);
    file.super = ClassAt(in_.U16());
    if (file.super == "java.lang.Object") file.super.clear();
    const uint16_t interfaces = in_.U16();
    for (uint16_t i = 0; i < interfaces && !in_.failed(); ++i) file.interfaces.push_back(ClassAt(in_.U16()));
    ReadMembers(file.fields);
    ReadMembers(file.methods);
    ReadAttributes([&](const std::string& name, std::string_view content) {
      if (name == "InnerClasses") TakeOwnModifiers(content, file.modifiers);
    });
    if (in_.failed() || file.name.empty()) return base::Error{"a class file that ends early"};
    return file;
  }

 private:
  enum Tag : uint8_t {
    kUtf8 = 1,
    kInteger = 3,
    kFloat = 4,
    kLong = 5,
    kDouble = 6,
    kClass = 7,
    kString = 8,
    kFieldRef = 9,
    kMethodRef = 10,
    kInterfaceMethodRef = 11,
    kNameAndType = 12,
    kMethodHandle = 15,
    kMethodType = 16,
    kDynamic = 17,
    kInvokeDynamic = 18,
    kModule = 19,
    kPackage = 20,
  };

  bool ReadConstants() {
    const uint16_t count = in_.U16();
    for (uint16_t i = 1; i < count && !in_.failed(); ++i) {
      const uint8_t tag = in_.U8();
      switch (tag) {
        case kUtf8: {
          const uint16_t length = in_.U16();
          texts_[i] = std::string(in_.Take(length));
          break;
        }
        case kClass:
          classes_[i] = in_.U16();
          break;
        case kLong:
        case kDouble:
          longs_[i] = in_.I64();
          ++i;  // it takes two places
          break;
        case kString:
        case kMethodType:
        case kModule:
        case kPackage:
          in_.Skip(2);
          break;
        case kMethodHandle:
          in_.Skip(3);
          break;
        case kInteger:
        case kFloat:
        case kFieldRef:
        case kMethodRef:
        case kInterfaceMethodRef:
        case kNameAndType:
        case kDynamic:
        case kInvokeDynamic:
          in_.Skip(4);
          break;
        default:
          return false;
      }
    }
    return true;
  }

  std::string TextAt(uint16_t index) {
    const auto found = texts_.find(index);
    const bool there = found != texts_.end() && in_.Charge(sizeof(std::string) + found->second.size());
    return there ? found->second : std::string();
  }
  std::string ClassAt(uint16_t index) {
    const auto found = classes_.find(index);
    return found != classes_.end() ? Dotted(TextAt(found->second)) : std::string();
  }

  void ReadMembers(std::vector<ClassMember>& members) {
    const uint16_t count = in_.U16();
    for (uint16_t i = 0; i < count && !in_.failed(); ++i) {
      ClassMember member;
      member.modifiers = in_.U16();
      member.name = TextAt(in_.U16());
      member.descriptor = TextAt(in_.U16());
      ReadAttributes([&](const std::string& name, std::string_view content) {
        if (name != "ConstantValue" || member.descriptor != "J") return;
        const auto found = longs_.find(base::BigEndian<uint16_t>(content));
        if (found != longs_.end()) member.constant = found->second;
      });
      members.push_back(std::move(member));
    }
  }

  template <class Take>
  void ReadAttributes(Take take) {
    const uint16_t count = in_.U16();
    for (uint16_t i = 0; i < count && !in_.failed(); ++i) {
      const std::string name = TextAt(in_.U16());
      const uint32_t length = in_.U32();
      const std::string_view content = in_.Take(length);
      if (!in_.failed()) take(name, content);
    }
  }

  void TakeOwnModifiers(std::string_view content, uint16_t& modifiers) {
    base::ByteReader in(content, budget_);
    const uint16_t count = in.U16();
    for (uint16_t i = 0; i < count && !in.failed(); ++i) {
      const uint16_t inner = in.U16();
      in.Skip(4);  // outer class, simple name
      const uint16_t flags = in.U16();
      if (!in.failed() && ClassAt(inner) == ClassAt(this_class_)) modifiers = flags;
    }
  }

  base::Budget budget_;
  base::ByteReader in_;
  uint16_t this_class_ = 0;
  std::map<uint16_t, std::string> texts_;
  std::map<uint16_t, uint16_t> classes_;
  std::map<uint16_t, int64_t> longs_;
};

// ---- the default serialVersionUID ----------------------------------------------------------------------------------

void AppendUtf(base::ByteWriter& out, std::string_view text) {
  out.U16(static_cast<uint16_t>(text.size()));
  out.Bytes(text);
}

void AppendMember(base::ByteWriter& out, const ClassMember& member, uint16_t mask, bool dotted) {
  AppendUtf(out, member.name);
  out.U32(member.modifiers & mask);
  AppendUtf(out, dotted ? Dotted(member.descriptor) : member.descriptor);
}

uint32_t ClassModifiers(const ClassFile& file) {
  uint16_t modifiers = file.modifiers & (kPublic | kFinal | kInterface | kAbstract);
  if ((modifiers & kInterface) != 0) {
    const bool has_methods = std::any_of(file.methods.begin(), file.methods.end(),
                                         [](const ClassMember& method) { return !method.name.starts_with('<'); });
    modifiers = static_cast<uint16_t>(has_methods ? modifiers | kAbstract : modifiers & ~kAbstract);
  }
  return modifiers;
}

/// The bytes whose SHA-1 gives the number.
std::string Fingerprint(const ClassFile& file) {
  std::string bytes;
  base::ByteWriter out(bytes);
  AppendUtf(out, file.name);
  out.U32(ClassModifiers(file));
  std::vector<std::string> interfaces = file.interfaces;
  std::sort(interfaces.begin(), interfaces.end());
  for (const std::string& name : interfaces) AppendUtf(out, name);

  std::vector<ClassMember> fields = file.fields;
  std::stable_sort(fields.begin(), fields.end(),
                   [](const ClassMember& a, const ClassMember& b) { return a.name < b.name; });
  for (const ClassMember& field : fields) {
    if ((field.modifiers & kPrivate) != 0 && (field.modifiers & (kStatic | kTransient)) != 0) continue;
    constexpr uint16_t kMask = kPublic | kPrivate | kProtected | kStatic | kFinal | kVolatile | kTransient;
    AppendMember(out, field, kMask, false);
  }

  constexpr uint16_t kMask =
      kPublic | kPrivate | kProtected | kStatic | kFinal | kSynchronized | kNative | kAbstract | kStrict;
  std::vector<ClassMember> methods = file.methods;
  std::stable_sort(methods.begin(), methods.end(), [](const ClassMember& a, const ClassMember& b) {
    return std::tie(a.name, a.descriptor) < std::tie(b.name, b.descriptor);
  });
  const auto append = [&](auto which) {
    for (const ClassMember& method : methods) {
      if (which(method) && (method.modifiers & kPrivate) == 0) AppendMember(out, method, kMask, true);
    }
  };
  if (std::any_of(methods.begin(), methods.end(), [](const ClassMember& m) { return m.name == "<clinit>"; })) {
    AppendMember(out, {"<clinit>", "()V", kStatic, {}}, kMask, false);
  }
  append([](const ClassMember& method) { return method.name == "<init>"; });
  append([](const ClassMember& method) { return !method.name.starts_with('<'); });
  return bytes;
}

// ---- the description -----------------------------------------------------------------------------------------------

base::Result<ClassFile> Find(std::string_view name, const ClassSource& source) {
  const auto bytes = source(name);
  if (!bytes) return base::Error{"there is no class " + std::string(name)};
  auto file = ParseClassFile(*bytes);
  if (!file) return base::Error{std::string(name) + ": " + file.error().message};
  return file;
}

/// Whether a class or interface is a java.io.Serializable, by itself or by what it extends. Interfaces of the Java
/// library (Comparable, Function, ...) are none.
bool IsSerializable(const std::string& name, const ClassSource& source, std::set<std::string>& visited) {
  if (name == "java.io.Serializable" || name == "java.io.Externalizable") return true;
  if (JavaLibrary().count(name) != 0) return true;
  if (name.empty() || !visited.insert(name).second) return false;
  const auto file = Find(name, source);
  if (!file) return false;
  if (IsSerializable(file->super, source, visited)) return true;
  return std::any_of(file->interfaces.begin(), file->interfaces.end(),
                     [&](const std::string& above) { return IsSerializable(above, source, visited); });
}

ClassShape ShapeOf(const ClassFile& file) {
  ClassShape shape;
  shape.name = file.name;
  shape.suid = SerialVersionUid(file);
  for (const ClassMember& method : file.methods) {
    if (method.name == "writeObject" && method.descriptor == "(Ljava/io/ObjectOutputStream;)V" &&
        (method.modifiers & (kPrivate | kStatic)) == kPrivate) {
      shape.flags |= kWriteMethod;
    }
  }
  for (const ClassMember& field : file.fields) {
    if ((field.modifiers & (kStatic | kTransient)) == 0) shape.fields.emplace_back(field.name, field.descriptor);
  }
  // Primitives first, each kind by name (java.io.ObjectStreamField.compareTo).
  std::sort(shape.fields.begin(), shape.fields.end(), [](const auto& a, const auto& b) {
    return std::make_pair(HoldsRef(a.second.front()), a.first) < std::make_pair(HoldsRef(b.second.front()), b.first);
  });
  return shape;
}

}  // namespace

base::Result<ClassFile> ParseClassFile(std::string_view bytes) {
  auto file = Parser(bytes).Run();
  if (!file) return file;
  for (const ClassMember& field : file->fields) {
    if (field.descriptor.empty()) return base::Error{"a class file with a field of no type"};
  }
  return file;
}

int64_t SerialVersionUid(const ClassFile& file) {
  for (const ClassMember& field : file.fields) {
    constexpr uint16_t kDeclared = kStatic | kFinal;
    if (field.name == "serialVersionUID" && (field.modifiers & kDeclared) == kDeclared && field.constant) {
      return *field.constant;
    }
  }
  const std::string bytes = Fingerprint(file);
  uint8_t digest[EVP_MAX_MD_SIZE] = {};
  EVP_Digest(bytes.data(), bytes.size(), digest, nullptr, EVP_sha1(), nullptr);
  uint64_t number = 0;
  for (int i = 7; i >= 0; --i) number = number << 8 | digest[i];
  return static_cast<int64_t>(number);
}

base::Status AddClass(std::string_view name, const ClassSource& source, ClassCatalog& catalog) {
  std::string next(name);
  std::set<std::string> below;
  while (!next.empty() && catalog.count(next) == 0) {
    below.insert(next);
    ClassShape shape;
    if (const auto known = JavaLibrary().find(next); known != JavaLibrary().end()) {
      shape = known->second;
    } else {
      const auto file = Find(next, source);
      if (!file) return file.error();
      shape = ShapeOf(*file);
      std::set<std::string> visited;
      if (IsSerializable(file->super, source, visited)) shape.super = file->super;
      if (below.count(shape.super) != 0) return base::Error{next + " is its own parent"};
    }
    std::string super = shape.super;
    catalog[next] = std::move(shape);
    next = std::move(super);
  }
  return {};
}

}  // namespace fairlead::wire::java_stream
