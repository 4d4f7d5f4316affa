// protoc-gen-wire: a protoc plugin that turns proto2 messages into plain C++ structs with their own encoder and decoder
// (src/wire/hadoop_rpc/proto_runtime.h), so that no daemon and no header needs protobuf.
//
//   message FooProto { optional int32 max_apps = 1; }   struct FooProto { std::optional<int32_t> max_apps; ... };
//   package fairlead_proto.yarn                         namespace fairlead::wire::yarn
//   wire/yarn/proto/records.proto                       wire/yarn/records.h, wire/yarn/records.cc
//
// optional -> std::optional<T> plus a getter MaxApps() with the message's default; required -> T, checked when parsing
// (Box<T> when it contains itself); repeated -> std::vector<T>; a message that contains itself -> proto::Box<T>; enum
// -> enum class without its common prefix, unknown values kept. Not supported, because YARN uses none: groups, oneofs,
// maps, extensions, fixed integers.
#include <google/protobuf/compiler/code_generator.h>
#include <google/protobuf/compiler/plugin.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/printer.h>
#include <google/protobuf/io/zero_copy_stream.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fairlead::tools {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::io::Printer;
using Vars = std::map<std::string, std::string>;

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string Namespace(const FileDescriptor* file) {
  return Replace(Replace(file->package(), "fairlead_proto.", "fairlead.wire."), ".", "::");
}

/// "wire/yarn/proto/records.proto" -> "wire/yarn/records"
std::string OutputStem(const FileDescriptor* file) {
  const std::string stem = Replace(file->name(), "/proto/", "/");
  return stem.substr(0, stem.size() - std::string(".proto").size());
}

std::string Pascal(const std::string& snake) {
  std::string out;
  bool upper = true;
  for (const char c : snake) {
    if (c == '_') {
      upper = true;
      continue;
    }
    out.push_back(upper ? static_cast<char>(std::toupper(c)) : static_cast<char>(std::tolower(c)));
    upper = false;
  }
  return out;
}

std::string WithoutProto(const std::string& name) {
  return name.size() > 5 && name.ends_with("Proto") ? name.substr(0, name.size() - 5) : name;
}

/// "HAServiceState" -> "HA_SERVICE_STATE"
std::string UpperSnake(const std::string& name) {
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool upper = std::isupper(name[i]);
    const bool after_lower = i > 0 && std::islower(name[i - 1]);
    const bool before_lower = i > 0 && i + 1 < name.size() && std::isupper(name[i - 1]) && std::islower(name[i + 1]);
    if (upper && (after_lower || before_lower)) out.push_back('_');
    out.push_back(static_cast<char>(std::toupper(name[i])));
  }
  return out;
}

/// Value names without the enum's own name in front.
std::string ShortValueName(const google::protobuf::EnumValueDescriptor* value) {
  const std::string prefix = UpperSnake(WithoutProto(value->type()->name())) + "_";
  return value->name().starts_with(prefix) ? value->name().substr(prefix.size()) : value->name();
}

bool Reaches(const Descriptor* from, const Descriptor* to, std::set<const Descriptor*>& seen) {
  if (!seen.insert(from).second) return false;
  for (int i = 0; i < from->field_count(); ++i) {
    const Descriptor* next = from->field(i)->message_type();
    if (next && (next == to || Reaches(next, to, seen))) return true;
  }
  return false;
}

bool IsRecursive(const FieldDescriptor* field) {
  std::set<const Descriptor*> seen;
  const Descriptor* type = field->message_type();
  return type && (type == field->containing_type() || Reaches(type, field->containing_type(), seen));
}

std::string TypeName(const std::string& name, const FileDescriptor* of, const FileDescriptor* in) {
  return of->package() == in->package() ? name : "::" + Namespace(of) + "::" + name;
}

bool IsText(const FieldDescriptor* field) {
  return field->type() == FieldDescriptor::TYPE_STRING || field->type() == FieldDescriptor::TYPE_BYTES;
}

/// C++ type, reader function, writer function and JSON function of a field's element.
struct ElementKind {
  const char* type;
  const char* reader;
  const char* writer;
  const char* json;
  int wire_type;
};

bool KindOf(const FieldDescriptor* field, ElementKind* out) {
  switch (field->type()) {
    case FieldDescriptor::TYPE_INT32:
      *out = {"int32_t", "Int32", "PutInt", "Int", 0};
      return true;
    case FieldDescriptor::TYPE_INT64:
      *out = {"int64_t", "Int64", "PutInt", "Int", 0};
      return true;
    case FieldDescriptor::TYPE_UINT32:
      *out = {"uint32_t", "UInt32", "PutUInt", "UInt", 0};
      return true;
    case FieldDescriptor::TYPE_UINT64:
      *out = {"uint64_t", "UInt64", "PutUInt", "UInt", 0};
      return true;
    case FieldDescriptor::TYPE_SINT32:
      *out = {"int32_t", "SInt32", "PutSInt32", "Int", 0};
      return true;
    case FieldDescriptor::TYPE_BOOL:
      *out = {"bool", "Bool", "PutInt", "Bool", 0};
      return true;
    case FieldDescriptor::TYPE_FLOAT:
      *out = {"float", "Float", "PutFloat", "Real", 5};
      return true;
    case FieldDescriptor::TYPE_DOUBLE:
      *out = {"double", "Double", "PutDouble", "Real", 1};
      return true;
    case FieldDescriptor::TYPE_STRING:
      *out = {"std::string", "String", "PutString", "String", 2};
      return true;
    case FieldDescriptor::TYPE_BYTES:
      *out = {"std::string", "String", "PutString", "Bytes", 2};
      return true;
    case FieldDescriptor::TYPE_ENUM:
      *out = {"", "Enum", "PutInt", "Enum", 0};
      return true;
    case FieldDescriptor::TYPE_MESSAGE:
      *out = {"", "", "PutMessage", "Message", 2};
      return true;
    default:
      return false;
  }
}

std::string Quote(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + "\"";
}

class FieldWriter {
 public:
  explicit FieldWriter(const FieldDescriptor* field) : field_(field) { KindOf(field, &kind_); }

  std::string element() const {
    const FileDescriptor* in = field_->file();
    if (field_->enum_type()) return TypeName(field_->enum_type()->name(), field_->enum_type()->file(), in);
    if (field_->message_type()) return TypeName(field_->message_type()->name(), field_->message_type()->file(), in);
    return kind_.type;
  }
  std::string name() const { return field_->name(); }
  /// Held as a bare T: always there.
  bool bare() const { return field_->is_required() && !IsRecursive(field_); }

  void Member(Printer& out) const {
    const Vars vars = {{"t", element()}, {"n", name()}, {"i", Initial()}};
    if (field_->is_repeated()) {
      // No initializer where the element's type is incomplete here: clang would need its size.
      out.Print(vars, IsRecursive(field_) ? "std::vector<$t$> $n$;\n" : "std::vector<$t$> $n$ = {};\n");
    } else if (bare()) {
      out.Print(vars, "$t$ $n$$i$;\n");
    } else {
      out.Print(vars, IsRecursive(field_) ? "proto::Box<$t$> $n$;\n" : "std::optional<$t$> $n$ = {};\n");
    }
  }

  void Getter(Printer& out) const {
    if (field_->is_repeated() || bare()) return;
    const Vars vars = {{"t", element()}, {"n", name()}, {"g", Pascal(name())}, {"d", Default()}};
    if (field_->message_type()) {
      out.Print(vars, "const $t$& $g$() const;\n");
    } else if (IsText(field_)) {
      out.Print(vars,
                "std::string_view $g$() const { return $n$ ? std::string_view(*$n$) : std::string_view($d$); }\n");
    } else {
      out.Print(vars, "$t$ $g$() const { return $n$.value_or($d$); }\n");
    }
  }

  void GetterBody(Printer& out) const {
    if (field_->is_repeated() || bare() || !field_->message_type()) return;
    const Vars vars = {
        {"t", element()}, {"n", name()}, {"g", Pascal(name())}, {"c", field_->containing_type()->name()}};
    out.Print(vars,
              "const $t$& $c$::$g$() const {\n"
              "  static const $t$ kAbsent;\n"
              "  return $n$ ? *$n$ : kAbsent;\n"
              "}\n");
  }

  void ParseCase(Printer& out, int required_bit) const {
    Vars vars = {{"tag", Tag(kind_.wire_type)}, {"n", name()}, {"r", kind_.reader}, {"t", element()}};
    out.Print(vars, "case $tag$:\n");
    if (required_bit >= 0) out.Print("  seen |= $b$;\n", "b", std::to_string(1U << required_bit) + "U");
    if (field_->message_type()) {
      out.Print(vars, field_->is_repeated() ? "  ok = in.RepeatedMessage($n$);\n"
                      : bare()              ? "  ok = in.RequiredMessage($n$);\n"
                                            : "  ok = in.Message($n$);\n");
    } else if (field_->is_repeated() && IsText(field_)) {
      out.Print(vars, "  ok = in.RepeatedString($n$);\n");
    } else if (field_->is_repeated()) {
      out.Print(vars, "  ok = in.RepeatedScalar($n$, [](proto::Reader& r, $t$& v) { return r.$r$(v); });\n");
      vars["tag"] = Tag(2);
      out.Print(vars,
                "  break;\ncase $tag$:\n"
                "  ok = in.PackedScalar($n$, [](proto::Reader& r, $t$& v) { return r.$r$(v); });\n");
    } else {
      out.Print(vars, bare() ? "  ok = in.$r$($n$);\n" : "  ok = in.$r$($n$.emplace());\n");
    }
    out.Print("  break;\n");
  }

  void Append(Printer& out) const {
    const Vars vars = {{"tag", Tag(kind_.wire_type)}, {"n", name()}, {"w", kind_.writer}, {"v", Raw("*" + name())}};
    if (field_->is_repeated()) {
      out.Print({{"tag", Tag(kind_.wire_type)}, {"n", name()}, {"w", kind_.writer}, {"v", Raw("element")}},
                "for (const auto& element : $n$) proto::$w$(out, $tag$, $v$);\n");
    } else if (bare()) {
      out.Print({{"tag", Tag(kind_.wire_type)}, {"w", kind_.writer}, {"v", Raw(name())}},
                "proto::$w$(out, $tag$, $v$);\n");
    } else {
      out.Print(vars, "if ($n$) proto::$w$(out, $tag$, $v$);\n");
    }
  }

  void Json(Printer& out) const {
    Vars vars = {{"n", name()}};
    if (field_->is_repeated()) {
      vars["call"] = JsonCall("to", "element");
      out.Print(vars,
                "if (!$n$.empty()) {\n"
                "  json.Key(\"$n$\");\n"
                "  json.Array($n$, [](proto::JsonObject& to, const auto& element) { $call$; });\n"
                "}\n");
      return;
    }
    if (!bare()) out.Print(vars, "if ($n$) {\n");
    vars["call"] = JsonCall("json", bare() ? name() : "*" + name());
    out.Print(vars, "  json.Key(\"$n$\");\n  $call$;\n");
    if (!bare()) out.Print("}\n");
  }

 private:
  std::string Tag(int wire_type) const { return std::to_string(field_->number() << 3 | wire_type); }

  /// `expression` as the writer takes it.
  std::string Raw(const std::string& expression) const {
    return field_->enum_type() ? "static_cast<int32_t>(" + expression + ")" : expression;
  }

  std::string JsonCall(const std::string& writer, const std::string& value) const {
    if (field_->enum_type()) {
      return writer + ".Enum(::" + Namespace(field_->enum_type()->file()) + "::Name(" + value +
             "), static_cast<int32_t>(" + value + "))";
    }
    return writer + "." + kind_.json + "(" + value + ")";
  }

  std::string Initial() const {
    if (IsText(field_) || field_->message_type()) return " = {}";
    if (field_->enum_type()) return " = " + Default();
    return field_->type() == FieldDescriptor::TYPE_BOOL ? " = false" : " = 0";
  }

  std::string Default() const {
    switch (field_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return std::to_string(field_->default_value_int32());
      case FieldDescriptor::CPPTYPE_INT64:
        return std::to_string(field_->default_value_int64());
      case FieldDescriptor::CPPTYPE_UINT32:
        return std::to_string(field_->default_value_uint32());
      case FieldDescriptor::CPPTYPE_UINT64:
        return std::to_string(field_->default_value_uint64());
      case FieldDescriptor::CPPTYPE_BOOL:
        return field_->default_value_bool() ? "true" : "false";
      case FieldDescriptor::CPPTYPE_STRING:
        return field_->default_value_string().empty() ? "" : Quote(field_->default_value_string());
      case FieldDescriptor::CPPTYPE_ENUM:
        return element() + "::k" + Pascal(ShortValueName(field_->default_value_enum()));
      default:
        return "0";
    }
  }

  const FieldDescriptor* field_;
  ElementKind kind_{};
};

std::vector<const FieldDescriptor*> FieldsByNumber(const Descriptor* message) {
  std::map<int, const FieldDescriptor*> ordered;
  for (int i = 0; i < message->field_count(); ++i) ordered[message->field(i)->number()] = message->field(i);
  std::vector<const FieldDescriptor*> out;
  for (const auto& [number, field] : ordered) out.push_back(field);
  return out;
}

void WriteStruct(const Descriptor* message, Printer& out) {
  out.Print("struct $n$ {\n", "n", message->name());
  out.Indent();
  for (const FieldDescriptor* field : FieldsByNumber(message)) FieldWriter(field).Member(out);
  if (message->field_count() > 0) out.Print("\n");
  for (const FieldDescriptor* field : FieldsByNumber(message)) FieldWriter(field).Getter(out);
  out.Print(
      "void AppendTo(std::string& out) const;\n"
      "std::string Encode() const;\n"
      "base::Status ParseFrom(std::string_view encoded, const base::BudgetKind& budget_kind);\n"
      "bool ParseFields(proto::Reader& in);\n"
      "void AppendJson(std::string& out) const;\n"
      "std::string DebugString() const;\n"
      "bool operator==(const $n$& other) const;\n",
      "n", message->name());
  out.Outdent();
  out.Print("};\n\n");
}

void WriteParse(const Descriptor* message, Printer& out) {
  std::vector<std::string> required;
  for (const FieldDescriptor* field : FieldsByNumber(message)) {
    if (field->is_required()) required.push_back(field->name());
  }
  out.Print("bool $n$::ParseFields(proto::Reader& in) {\n", "n", message->name());
  out.Indent();
  if (!required.empty()) out.Print("uint32_t seen = 0;\n");
  out.Print("while (const uint32_t tag = in.NextTag()) {\n  bool ok = true;\n  switch (tag) {\n");
  out.Indent();
  out.Indent();
  int bit = 0;
  for (const FieldDescriptor* field : FieldsByNumber(message)) {
    FieldWriter(field).ParseCase(out, field->is_required() ? bit++ : -1);
  }
  out.Print("default:\n  ok = in.Skip(tag);\n");
  out.Outdent();
  out.Outdent();
  out.Print("  }\n  if (!ok) return false;\n}\nif (in.failed()) return false;\n");
  if (!required.empty()) {
    std::string names;
    for (const std::string& name : required) names += (names.empty() ? "" : ", ") + Quote(name);
    out.Print({{"names", names}, {"all", std::to_string((1ULL << required.size()) - 1) + "U"}, {"n", message->name()}},
              "static constexpr std::string_view kRequired[] = {$names$};\n"
              "if (seen != $all$) return in.MissingRequired(\"$n$\", kRequired, seen);\n");
  }
  out.Print("return true;\n");
  out.Outdent();
  out.Print("}\n\n");
}

void WriteBodies(const Descriptor* message, Printer& out) {
  const auto fields = FieldsByNumber(message);
  const bool empty = fields.empty();
  const Vars vars = {{"n", message->name()}, {"out", empty ? "" : " out"}, {"other", empty ? "" : " other"}};
  for (const FieldDescriptor* field : fields) FieldWriter(field).GetterBody(out);
  out.Print(vars, "void $n$::AppendTo(std::string&$out$) const {\n");
  out.Indent();
  for (const FieldDescriptor* field : fields) FieldWriter(field).Append(out);
  out.Outdent();
  out.Print(vars,
            "}\n"
            "std::string $n$::Encode() const {\n"
            "  std::string encoded;\n"
            "  AppendTo(encoded);\n"
            "  return encoded;\n"
            "}\n"
            "base::Status $n$::ParseFrom(std::string_view encoded, const base::BudgetKind& budget_kind) {\n"
            "  return proto::ParseMessage(*this, encoded, budget_kind, \"$n$\");\n"
            "}\n");
  WriteParse(message, out);
  out.Print(vars, "void $n$::AppendJson(std::string& out) const {\n  proto::JsonObject json(out);\n");
  out.Indent();
  for (const FieldDescriptor* field : fields) FieldWriter(field).Json(out);
  out.Outdent();
  out.Print(vars,
            "}\n"
            "std::string $n$::DebugString() const {\n"
            "  std::string text;\n"
            "  AppendJson(text);\n"
            "  return text;\n"
            "}\n"
            "bool $n$::operator==(const $n$&$other$) const {\n"
            "  return true");
  for (const FieldDescriptor* field : fields) out.Print(" &&\n         $f$ == other.$f$", "f", field->name());
  out.Print(";\n}\n\n");
}

void WriteEnum(const EnumDescriptor* type, Printer& out) {
  out.Print("enum class $n$ : int32_t {\n", "n", type->name());
  for (int i = 0; i < type->value_count(); ++i) {
    out.Print("  k$v$ = $i$,\n", "v", Pascal(ShortValueName(type->value(i))), "i",
              std::to_string(type->value(i)->number()));
  }
  out.Print(
      "};\n/// \"NAME\" as Hadoop prints it; empty for a number without a name.\nstd::string_view Name($n$ value);\n\n",
      "n", type->name());
}

void WriteEnumBody(const EnumDescriptor* type, Printer& out) {
  out.Print("std::string_view Name($n$ value) {\n  switch (value) {\n", "n", type->name());
  for (int i = 0; i < type->value_count(); ++i) {
    const std::string name = ShortValueName(type->value(i));
    out.Print("    case $n$::k$v$:\n      return \"$name$\";\n", "n", type->name(), "v", Pascal(name), "name", name);
  }
  out.Print("  }\n  return {};\n}\n\n");
}

/// Messages so that each comes after those it holds by value.
class Ordering {
 public:
  explicit Ordering(const FileDescriptor* file) : file_(file) {
    for (int i = 0; i < file->message_type_count(); ++i) Visit(file->message_type(i));
  }
  const std::vector<const Descriptor*>& messages() const { return messages_; }

 private:
  void Visit(const Descriptor* message) {
    if (message->file() != file_ || !seen_.insert(message).second) return;
    for (const FieldDescriptor* field : FieldsByNumber(message)) {
      if (field->message_type() && !IsRecursive(field)) Visit(field->message_type());
    }
    messages_.push_back(message);
  }
  const FileDescriptor* file_;
  std::set<const Descriptor*> seen_;
  std::vector<const Descriptor*> messages_;
};

/// The table of a service's methods, and their enum in the same order.
void WriteServices(const FileDescriptor* file, Printer& out) {
  for (int i = 0; i < file->service_count(); ++i) {
    out.Print("enum class $n$Method : uint8_t {\n", "n", file->service(i)->name());
    for (int m = 0; m < file->service(i)->method_count(); ++m) {
      std::string name = file->service(i)->method(m)->name();
      name[0] = static_cast<char>(std::toupper(name[0]));
      out.Print("  k$n$,\n", "n", name);
    }
    out.Print("};\n");
    out.Print("inline constexpr proto::MethodInfo k$n$Methods[] = {\n", "n", file->service(i)->name());
    for (int m = 0; m < file->service(i)->method_count(); ++m) {
      const auto* method = file->service(i)->method(m);
      out.Print("    {\"$n$\", \"$q$\", \"$r$\"},\n", "n", method->name(), "q", method->input_type()->name(), "r",
                method->output_type()->name());
    }
    out.Print("};\n\n");
  }
}

std::string RegistryName(const FileDescriptor* file) {
  const std::string stem = OutputStem(file);
  return Pascal(stem.substr(stem.rfind('/') + 1)) + "Messages";
}

void WriteHeader(const FileDescriptor* file, Printer& out) {
  out.Print("// Made by tools/protoc_gen_wire from $f$. Do not edit.\n#pragma once\n\n", "f", file->name());
  out.Print(
      "#include <cstdint>\n#include <optional>\n#include <span>\n#include <string>\n#include <string_view>\n"
      "#include <vector>\n\n#include \"base/result.h\"\n#include \"wire/hadoop_rpc/proto_runtime.h\"\n");
  for (int i = 0; i < file->dependency_count(); ++i) {
    out.Print("#include \"$h$.h\"\n", "h", OutputStem(file->dependency(i)));
  }
  out.Print("\nnamespace $n$ {\n\n", "n", Namespace(file));
  for (int i = 0; i < file->enum_type_count(); ++i) WriteEnum(file->enum_type(i), out);
  const Ordering ordering(file);
  for (const Descriptor* message : ordering.messages()) out.Print("struct $n$;\n", "n", message->name());
  out.Print("\n");
  for (const Descriptor* message : ordering.messages()) WriteStruct(message, out);
  WriteServices(file, out);
  out.Print("/// Every message of this file.\nstd::span<const proto::MessageEntry> $r$();\n\n}  // namespace $n$\n",
            "r", RegistryName(file), "n", Namespace(file));
}

void WriteSource(const FileDescriptor* file, Printer& out) {
  out.Print("// Made by tools/protoc_gen_wire from $f$. Do not edit.\n#include \"$h$.h\"\n\n", "f", file->name(), "h",
            OutputStem(file));
  out.Print("namespace $n$ {\n\n", "n", Namespace(file));
  for (int i = 0; i < file->enum_type_count(); ++i) WriteEnumBody(file->enum_type(i), out);
  const Ordering ordering(file);
  for (const Descriptor* message : ordering.messages()) WriteBodies(message, out);
  out.Print("std::span<const proto::MessageEntry> $r$() {\n", "r", RegistryName(file));
  out.Print("  static constexpr proto::MessageEntry kEntries[] = {\n");
  for (const Descriptor* message : ordering.messages()) {
    out.Print("      {\"$n$\", &proto::Recode<$n$>, &proto::RecodeJson<$n$>},\n", "n", message->name());
  }
  out.Print("  };\n  return kEntries;\n}\n\n}  // namespace $n$\n", "n", Namespace(file));
}

/// What this plugin cannot write, or nothing.
std::string Unsupported(const Descriptor* message) {
  int required = 0;
  for (int i = 0; i < message->field_count(); ++i) {
    const FieldDescriptor* field = message->field(i);
    ElementKind kind{};
    if (!KindOf(field, &kind)) return field->full_name() + ": type " + field->type_name() + " is not supported";
    if (field->is_packed()) return field->full_name() + ": packed fields are not supported";
    required += field->is_required();
  }
  if (message->nested_type_count() + message->enum_type_count() + message->oneof_decl_count() +
          message->extension_range_count() >
      0) {
    return message->full_name() + ": nested types, oneofs, maps and extensions are not supported";
  }
  return required > 31 ? message->full_name() + ": more than 31 required fields" : "";
}

class WireGenerator : public google::protobuf::compiler::CodeGenerator {
 public:
  bool Generate(const FileDescriptor* file, const std::string&, google::protobuf::compiler::GeneratorContext* context,
                std::string* error) const override {
    for (int i = 0; i < file->message_type_count() && error->empty(); ++i) *error = Unsupported(file->message_type(i));
    if (!error->empty()) return false;
    Write(context, OutputStem(file) + ".h", file, WriteHeader);
    Write(context, OutputStem(file) + ".cc", file, WriteSource);
    return true;
  }

 private:
  static void Write(google::protobuf::compiler::GeneratorContext* context, const std::string& name,
                    const FileDescriptor* file, void (*write)(const FileDescriptor*, Printer&)) {
    const std::unique_ptr<google::protobuf::io::ZeroCopyOutputStream> stream(context->Open(name));
    Printer printer(stream.get(), '$');
    write(file, printer);
  }
};

}  // namespace
}  // namespace fairlead::tools

int main(int argc, char** argv) {
  const fairlead::tools::WireGenerator generator;
  return google::protobuf::compiler::PluginMain(argc, argv, &generator);
}
