#include "engine/parquet/columns.h"

#include <parquet/types.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/records/errors.h"

namespace fairlead::engine {

namespace {

using parquet::LogicalType;
using parquet::schema::Node;
using parquet::schema::NodePtr;

/// What a column's stored values are.
struct StoredType {
  enum class Kind : uint8_t { kBool, kInteger, kFloat, kDouble, kText, kUnread };
  Kind kind = Kind::kUnread;
  int bits = 64;  // of integers
  bool is_signed = true;
  bool microseconds = false;  // a time: no other number takes it than one of 64 bits
  ParquetScale scale = ParquetScale::kAsStored;
};

/// Text and bytes, with what they are said to hold.
bool IsText(const LogicalType& type) {
  return type.is_none() || type.is_string() || type.is_enum() || type.is_JSON() || type.is_BSON() || type.is_UUID();
}

template <class Type>
ParquetScale ScaleOf(const LogicalType& type) {
  switch (static_cast<const Type&>(type).time_unit()) {
    case LogicalType::TimeUnit::MILLIS:
      return ParquetScale::kFromMillis;
    case LogicalType::TimeUnit::NANOS:
      return ParquetScale::kFromNanos;
    default:
      return ParquetScale::kAsStored;
  }
}

StoredType IntegerOf(const LogicalType& type, int bits) {
  using Kind = StoredType::Kind;
  if (type.is_none() || type.is_date()) return {Kind::kInteger, bits, true, false, ParquetScale::kAsStored};
  if (type.is_int()) {
    const auto& integer = static_cast<const parquet::IntLogicalType&>(type);
    const ParquetScale scale = integer.is_signed() ? ParquetScale::kAsStored : ParquetScale::kUnsigned;
    return {Kind::kInteger, integer.bit_width(), integer.is_signed(), false, scale};
  }
  if (type.is_time()) return {Kind::kInteger, 64, true, true, ScaleOf<parquet::TimeLogicalType>(type)};
  if (type.is_timestamp()) return {Kind::kInteger, 64, true, true, ScaleOf<parquet::TimestampLogicalType>(type)};
  return {};
}

StoredType StoredTypeOf(const parquet::ColumnDescriptor& column) {
  using Kind = StoredType::Kind;
  const LogicalType& type = *column.logical_type();
  switch (column.physical_type()) {
    case parquet::Type::BOOLEAN:
      return {Kind::kBool};
    case parquet::Type::INT32:
      return IntegerOf(type, 32);
    case parquet::Type::INT64:
      return IntegerOf(type, 64);
    case parquet::Type::INT96:
      return {Kind::kInteger, 64, true, true, ParquetScale::kAsStored};
    case parquet::Type::FLOAT:
      return {Kind::kFloat};
    case parquet::Type::DOUBLE:
      return {Kind::kDouble};
    case parquet::Type::BYTE_ARRAY:
    case parquet::Type::FIXED_LEN_BYTE_ARRAY:
      return {IsText(type) ? Kind::kText : Kind::kUnread};
    default:
      return {};
  }
}

struct IntegerType {
  int bits;
  bool is_signed;
};
std::optional<IntegerType> IntegerTypeOf(ParquetValue value) {
  switch (value) {
    case ParquetValue::kInt8:
      return IntegerType{8, true};
    case ParquetValue::kInt16:
      return IntegerType{16, true};
    case ParquetValue::kInt32:
      return IntegerType{32, true};
    case ParquetValue::kInt64:
      return IntegerType{64, true};
    case ParquetValue::kUint8:
      return IntegerType{8, false};
    case ParquetValue::kUint16:
      return IntegerType{16, false};
    case ParquetValue::kUint32:
      return IntegerType{32, false};
    case ParquetValue::kUint64:
      return IntegerType{64, false};
    default:
      return std::nullopt;
  }
}

bool IntegersFit(const StoredType& stored, ParquetValue value) {
  if (stored.microseconds) return value == ParquetValue::kInt64;
  // What the mantissa holds exactly.
  if (value == ParquetValue::kFloat) return stored.bits <= 16;
  if (value == ParquetValue::kDouble) return stored.bits <= 32;
  const std::optional<IntegerType> field = IntegerTypeOf(value);
  if (!field) return false;
  if (stored.is_signed == field->is_signed) return stored.bits <= field->bits;
  return !stored.is_signed && stored.bits < field->bits;
}

/// True when each value of the one type is a value of the other.
bool Fits(const StoredType& stored, ParquetValue value) {
  switch (stored.kind) {
    case StoredType::Kind::kBool:
      return value == ParquetValue::kBool;
    case StoredType::Kind::kFloat:
      return value == ParquetValue::kFloat || value == ParquetValue::kDouble;
    case StoredType::Kind::kDouble:
      return value == ParquetValue::kDouble;
    case StoredType::Kind::kText:
      return value == ParquetValue::kText;
    case StoredType::Kind::kInteger:
      return IntegersFit(stored, value);
    default:
      return false;
  }
}

/// A leaf as a user names it: without the nodes that only make a list.
struct NamedLeaf {
  std::string name;
  int index = 0;
  size_t below_list = 0;   // nodes from the list to the leaf; 0: it is no list
  int16_t item_level = 0;  // of a list
  bool unread = false;     // a map, or a list of lists
};

bool IsRepeated(const Node& node) { return node.is_repeated(); }
bool MakesList(const Node& node) {
  return node.logical_type()->is_list() || node.converted_type() == parquet::ConvertedType::LIST || IsRepeated(node);
}
bool MakesMap(const Node& node) {
  return node.logical_type()->is_map() || node.converted_type() == parquet::ConvertedType::MAP ||
         node.converted_type() == parquet::ConvertedType::MAP_KEY_VALUE;
}

NamedLeaf NameLeaf(const parquet::ColumnDescriptor& column, int index) {
  std::vector<const Node*> nodes;  // from the leaf up to below the root
  for (const Node* node = column.schema_node().get(); node->parent() != nullptr; node = node->parent()) {
    nodes.push_back(node);
  }
  NamedLeaf leaf;
  leaf.index = index;
  int16_t level = 0;
  bool in_list = false;
  for (size_t i = nodes.size(); i-- > 0;) {
    const Node& node = *nodes[i];
    level = static_cast<int16_t>(level + (node.is_required() ? 0 : 1));
    if (!in_list) leaf.name += (leaf.name.empty() ? "" : ".") + node.name();
    if (!in_list && (MakesList(node) || MakesMap(node))) {
      in_list = true;
      leaf.below_list = i + (IsRepeated(node) ? 1 : 0);
      leaf.unread = leaf.unread || MakesMap(node);
    }
    if (node.is_repeated()) leaf.item_level = level;
  }
  leaf.unread = leaf.unread || column.max_repetition_level() > 1;
  return leaf;
}

/// Of a file with very many columns some.
std::string NamesOf(const std::vector<NamedLeaf>& leaves) {
  constexpr size_t kNamesBytes = 1000;
  std::string names;
  const NamedLeaf* last = nullptr;  // a list of structs has several leaves of one name
  for (const NamedLeaf& leaf : leaves) {
    if (names.size() > kNamesBytes) return names.substr(0, kNamesBytes) + " ...";
    if (last == nullptr || last->name != leaf.name) names += (last == nullptr ? "" : ", ") + leaf.name;
    last = &leaf;
  }
  return names;
}

std::string StoredTypeText(const parquet::ColumnDescriptor& column) {
  const std::string physical = parquet::TypeToString(column.physical_type());
  const LogicalType& type = *column.logical_type();
  return type.is_none() ? physical : type.ToString() + " in " + physical;
}

[[noreturn]] void RefuseType(const parquet::ColumnDescriptor& column, const ParquetField& field, bool list) {
  throw TaskError("column " + field.name + " is " + (list ? "a list of " : "") + StoredTypeText(column) +
                  ", which does not fit a field of type " + ParquetTypeOf(field));
}

}  // namespace

ParquetLeaf FindParquetLeaf(const parquet::SchemaDescriptor& schema, const ParquetField& field) {
  std::vector<NamedLeaf> leaves;
  leaves.reserve(static_cast<size_t>(schema.num_columns()));
  for (int i = 0; i < schema.num_columns(); ++i) leaves.push_back(NameLeaf(*schema.Column(i), i));
  const auto is_named = [&](const NamedLeaf& leaf) { return leaf.name == field.name; };
  const auto found = std::find_if(leaves.begin(), leaves.end(), is_named);
  if (found == leaves.end()) throw TaskError("there is no column " + field.name + "; there are: " + NamesOf(leaves));
  const NamedLeaf& named = *found;
  const parquet::ColumnDescriptor& column = *schema.Column(named.index);
  const bool list = column.max_repetition_level() > 0;
  if (named.unread || named.below_list > 2 || std::count_if(leaves.begin(), leaves.end(), is_named) != 1) {
    throw TaskError("column " + field.name + " is a map, or a list of structs or lists, which are not read");
  }
  const StoredType stored = StoredTypeOf(column);
  if (list != field.list || !Fits(stored, field.value)) RefuseType(column, field, list);
  return {named.index, column.max_definition_level(), named.item_level, stored.scale};
}

std::string ParquetTypeOf(const ParquetField& field) {
  static constexpr const char* kNames[] = {"bool",     "int8_t",   "int16_t",  "int32_t", "int64_t", "uint8_t",
                                           "uint16_t", "uint32_t", "uint64_t", "float",   "double",  "std::string"};
  std::string name = kNames[static_cast<size_t>(field.value)];
  if (field.optional_items) name = "std::optional<" + name + ">";
  if (field.list) name = "std::vector<" + name + ">";
  return field.optional ? "std::optional<" + name + ">" : name;
}

namespace {

bool IsAmong(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::shared_ptr<const LogicalType> IntegersMeaning(const ParquetField& field, const IntegerType& integer,
                                                   const ParquetOptions& options) {
  if (IsAmong(options.timestamps, field.name)) return LogicalType::Timestamp(true, LogicalType::TimeUnit::MICROS);
  if (IsAmong(options.dates, field.name)) return LogicalType::Date();
  if (integer.is_signed && integer.bits >= 32) return LogicalType::None();
  return LogicalType::Int(integer.bits, integer.is_signed);
}

NodePtr ValueNode(const std::string& name, bool optional, const ParquetField& field, const ParquetOptions& options) {
  const auto node = [&](std::shared_ptr<const LogicalType> logical, parquet::Type::type physical) {
    const auto repetition = optional ? parquet::Repetition::OPTIONAL : parquet::Repetition::REQUIRED;
    return parquet::schema::PrimitiveNode::Make(name, repetition, std::move(logical), physical);
  };
  if (const std::optional<IntegerType> integer = IntegerTypeOf(field.value)) {
    const auto physical = integer->bits == 64 ? parquet::Type::INT64 : parquet::Type::INT32;
    return node(IntegersMeaning(field, *integer, options), physical);
  }
  switch (field.value) {
    case ParquetValue::kBool:
      return node(LogicalType::None(), parquet::Type::BOOLEAN);
    case ParquetValue::kFloat:
      return node(LogicalType::None(), parquet::Type::FLOAT);
    case ParquetValue::kDouble:
      return node(LogicalType::None(), parquet::Type::DOUBLE);
    default:
      return node(LogicalType::String(), parquet::Type::BYTE_ARRAY);
  }
}

}  // namespace

std::shared_ptr<parquet::schema::GroupNode> ParquetSchemaOf(std::span<const ParquetField> fields,
                                                            const ParquetOptions& options) {
  using parquet::Repetition;
  using parquet::schema::GroupNode;
  parquet::schema::NodeVector columns;
  for (const ParquetField& field : fields) {
    if (!field.list) {
      columns.push_back(ValueNode(field.name, field.optional, field, options));
      continue;
    }
    // The three levels of parquet-format's LogicalTypes.md, "Lists".
    const NodePtr item = ValueNode("element", field.optional_items, field, options);
    const NodePtr items = GroupNode::Make("list", Repetition::REPEATED, {item});
    const auto repetition = field.optional ? Repetition::OPTIONAL : Repetition::REQUIRED;
    columns.push_back(GroupNode::Make(field.name, repetition, {items}, LogicalType::List()));
  }
  return std::static_pointer_cast<GroupNode>(GroupNode::Make("schema", Repetition::REQUIRED, columns));
}

}  // namespace fairlead::engine
