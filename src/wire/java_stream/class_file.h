#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/java_stream/graph.h"

// What a compiled class (Java Virtual Machine Specification, chapter 4) says of its serialized form.

namespace fairlead::wire::java_stream {

/// A field or method.
struct ClassMember {
  std::string name;
  std::string descriptor;           // "I", "Lscala/Option;", "(I)V"
  uint16_t modifiers = 0;           // ACC_ flags
  std::optional<int64_t> constant;  // of a static final long with a constant value
};

struct ClassFile {
  std::string name;        // "scala.None$"
  uint16_t modifiers = 0;  // as the source has them: of a nested class those that its outer class states
  std::string super;       // empty: of java.lang.Object
  std::vector<std::string> interfaces;
  std::vector<ClassMember> fields;
  std::vector<ClassMember> methods;  // <init> and <clinit> too
};

base::Result<ClassFile> ParseClassFile(std::string_view bytes);

/// The serialVersionUID: the one that the class declares, else the default (Java Object Serialization Specification,
/// 4.6; java.io.ObjectStreamClass).
int64_t SerialVersionUid(const ClassFile& file);

/// The bytes of a class file by the class' name; nothing when it is not there.
using ClassSource = std::function<std::optional<std::string_view>(std::string_view name)>;

/// Describes a class of `source`, and the serializable classes above it, in `catalog`. Fails for a class that is not
/// there or does not parse. Of the Java library's own classes those that messages hold are known.
base::Status AddClass(std::string_view name, const ClassSource& source, ClassCatalog& catalog);

}  // namespace fairlead::wire::java_stream
