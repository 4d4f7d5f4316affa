#include "endpoints/spark/scala_values.h"

#include <string_view>

namespace fairlead::endpoints::spark {

namespace js = wire::java_stream;
using js::Graph;
using js::Ref;

std::string_view ModuleOf(const Graph& graph, Ref ref) {
  if (graph.ClassName(ref) != "scala.runtime.ModuleSerializationProxy") return {};
  const auto* module = graph.Get<js::ClassObject>(graph.RefOf(ref, "moduleClass"));
  const auto* type = module != nullptr ? graph.Get<js::Class>(module->type) : nullptr;
  return type != nullptr ? std::string_view(type->name) : std::string_view();
}

namespace {

using Refs = std::vector<Ref>;
using Pairs = std::vector<std::pair<Ref, Ref>>;

/// More executors than any application has.
constexpr int64_t kVectorMax = 100'000;

/// A field of an object, which is looked for in all its fields.
std::optional<js::Slot> FieldIn(const Graph& graph, base::Budget& budget, Ref object, std::string_view name,
                                char type) {
  if (!budget.Work(1 + graph.FieldCount(object))) return std::nullopt;
  return graph.FieldOf(object, name, type);
}
Ref RefIn(const Graph& graph, base::Budget& budget, Ref object, std::string_view name) {
  return budget.Work(1 + graph.FieldCount(object)) ? graph.RefOf(object, name) : js::kNull;
}

/// One more of `values`; false once the budget is spent.
template <class T>
bool Take(base::Budget& budget, std::vector<T>& values, T value) {
  if (!budget.Node() || !budget.Memory(sizeof(T))) return false;
  values.push_back(value);
  return true;
}

base::Error Unknown(const char* wanted, const Graph& graph, Ref ref) {
  const std::string_view name = graph.ClassName(ref);
  return {std::string(wanted) + " expected, not " + (name.empty() ? "another kind of value" : std::string(name))};
}

/// The objects among what a writeObject method wrote; raw bytes (sizes) are left out.
Refs ObjectsOf(base::Budget& budget, std::span<const js::Item> items) {
  Refs objects;
  for (const js::Item& item : items) {
    const Ref* ref = std::get_if<Ref>(&item);
    if (ref != nullptr && !Take(budget, objects, *ref)) break;
  }
  return objects;
}

/// scala.collection.generic.DefaultSerializationProxy (2.13): a size or -1, the elements, after -1 an end mark.
Refs ProxiedElements(const Graph& graph, base::Budget& budget, Ref proxy) {
  constexpr std::string_view kProxy = "scala.collection.generic.DefaultSerializationProxy";
  Refs objects = ObjectsOf(budget, graph.Custom(proxy, kProxy));
  if (!objects.empty() && budget.Work(graph.FieldCount(objects.back())) &&
      ModuleOf(graph, objects.back()) == "scala.collection.generic.SerializeEnd$") {
    objects.pop_back();
  }
  return objects;
}

/// The first `count` items of the Object[] in field `name`.
base::Result<Refs> InArray(const Graph& graph, base::Budget& budget, Ref object, const char* name,
                           std::optional<int64_t> count) {
  const Ref array = RefIn(graph, budget, object, name);
  const auto* items = graph.Get<js::Array>(array);
  if (items == nullptr || !graph.ClassName(array).starts_with("[L"))
    return Unknown("an array of objects", graph, array);
  const auto held = static_cast<int64_t>(items->items.size());
  if (count.value_or(held) < 0 || count.value_or(held) > held) return base::Error{"a sequence longer than its array"};
  Refs refs;
  for (int64_t i = 0; i < count.value_or(held); ++i) {
    if (!Take(budget, refs, static_cast<Ref>(items->items[static_cast<size_t>(i)]))) break;
  }
  return refs;
}

/// immutable.Vector of 2.12: a tree of arrays with 32 places each; the way down to the element `focus` is in display0
/// (its leaf) to display5, and only there up to date.
base::Result<Refs> InVector(const Graph& graph, base::Budget& budget, Ref vector) {
  const auto number = [&](const char* name) { return FieldIn(graph, budget, vector, name, 'I').value_or(-1); };
  const int64_t begin = number("startIndex"), end = number("endIndex"), focus = number("focus");
  if (begin < 0 || focus < 0 || end < begin || end - begin > kVectorMax)
    return base::Error{"a vector of no valid size"};
  Refs refs;
  for (int64_t at = begin; at < end; ++at) {
    int level = 0;
    while (((at ^ focus) >> (5 * (level + 1))) != 0) ++level;
    Ref node = RefIn(graph, budget, vector, "display" + std::to_string(level));
    for (; level >= 0; --level) {
      const auto* places = graph.Get<js::Array>(node);
      const auto place = static_cast<size_t>((at >> (5 * level)) & 31);
      if (places == nullptr || graph.ClassName(node) != "[Ljava.lang.Object;" || place >= places->items.size()) {
        return Unknown("an array of a vector", graph, node);
      }
      node = static_cast<Ref>(places->items[place]);
    }
    if (!Take(budget, refs, node)) break;
  }
  return refs;
}

/// Keys and values one after the other.
base::Result<Pairs> Paired(const Refs& objects) {
  if (objects.size() % 2 != 0) return base::Error{"a map with a key that has no value"};
  Pairs pairs;
  for (size_t i = 0; i < objects.size(); i += 2) pairs.emplace_back(objects[i], objects[i + 1]);
  return pairs;
}

base::Result<Pairs> Tuples(const Graph& graph, base::Budget& budget, const Refs& tuples) {
  Pairs pairs;
  for (const Ref tuple : tuples) {
    if (graph.ClassName(tuple) != "scala.Tuple2") return Unknown("scala.Tuple2", graph, tuple);
    pairs.emplace_back(RefIn(graph, budget, tuple, "_1"), RefIn(graph, budget, tuple, "_2"));
  }
  return pairs;
}

/// immutable.Map$Map1 to Map4: fields key1, value1, ...; from Map2 on with mangled names in 2.13.
Pairs SmallMap(const Graph& graph, base::Budget& budget, Ref map) {
  const std::string type(graph.ClassName(map));
  std::string mangled = type + "$$";
  for (char& c : mangled) {
    if (c == '.') c = '$';
  }
  Pairs pairs;
  for (int i = 1; i <= type.back() - '0'; ++i) {
    const auto field = [&](const std::string& name) {
      const Ref plain = RefIn(graph, budget, map, name + std::to_string(i));
      return plain != js::kNull ? plain : RefIn(graph, budget, map, mangled + name + std::to_string(i));
    };
    pairs.emplace_back(field("key"), field("value"));
  }
  return pairs;
}

}  // namespace

base::Result<std::optional<Ref>> OptionOf(const Graph& graph, base::Budget& budget, Ref option) {
  const std::string_view type = graph.ClassName(option);
  if (!budget.Work(1 + graph.FieldCount(option))) return std::optional<Ref>();
  if (type == "scala.Some") return std::optional<Ref>(RefIn(graph, budget, option, "value"));
  if (type == "scala.None$" || ModuleOf(graph, option) == "scala.None$") return std::optional<Ref>();
  return Unknown("scala.Option", graph, option);
}

base::Result<Refs> ElementsOf(const Graph& graph, base::Budget& budget, Ref sequence) {
  if (!budget.Work(1 + graph.FieldCount(sequence))) return Refs();
  const std::string_view type = graph.ClassName(sequence);
  if (type == "scala.collection.generic.DefaultSerializationProxy") return ProxiedElements(graph, budget, sequence);
  if (type == "scala.collection.immutable.List$SerializationProxy") {
    Refs objects = ObjectsOf(budget, graph.Custom(sequence, type));
    if (!objects.empty() && graph.ClassName(objects.back()) == "scala.collection.immutable.ListSerializeEnd$") {
      objects.pop_back();
    }
    return objects;
  }
  if (type == "scala.collection.mutable.ArraySeq") {
    return InArray(graph, budget, sequence, "array", FieldIn(graph, budget, sequence, "length", 'I').value_or(-1));
  }
  if (type == "scala.collection.mutable.ArrayBuffer") {
    return InArray(graph, budget, sequence, "array", FieldIn(graph, budget, sequence, "size0", 'I').value_or(-1));
  }
  if (type == "scala.collection.mutable.WrappedArray$ofRef" || type == "scala.collection.mutable.ArraySeq$ofRef") {
    return InArray(graph, budget, sequence, "array", std::nullopt);
  }
  if (type == "scala.collection.immutable.ArraySeq$ofRef") {
    return InArray(graph, budget, sequence, "unsafeArray", std::nullopt);
  }
  if (type == "scala.collection.immutable.Vector") return InVector(graph, budget, sequence);
  if (ModuleOf(graph, sequence) == "scala.collection.immutable.Nil$") return Refs();
  return Unknown("a known kind of scala.collection.Seq", graph, sequence);
}

base::Result<Pairs> EntriesOf(const Graph& graph, base::Budget& budget, Ref map) {
  if (!budget.Work(1 + graph.FieldCount(map))) return Pairs();
  // What withDefaultValue makes, as of an environment; one around another is not known, so that there is no circle.
  if (graph.ClassName(map) == "scala.collection.immutable.Map$WithDefault") {
    map = RefIn(graph, budget, map, "underlying");
  }
  const std::string_view type = graph.ClassName(map);
  constexpr std::string_view kSmall = "scala.collection.immutable.Map$Map";
  if (type.size() == kSmall.size() + 1 && type.starts_with(kSmall) && type.back() >= '1' && type.back() <= '4') {
    return SmallMap(graph, budget, map);
  }
  if (type == "scala.collection.generic.DefaultSerializationProxy")
    return Tuples(graph, budget, ProxiedElements(graph, budget, map));
  if (type == "scala.collection.mutable.HashMap" || type == "scala.collection.immutable.HashMap$SerializationProxy") {
    return Paired(ObjectsOf(budget, graph.Custom(map, type)));
  }
  constexpr std::string_view kEmpty = "scala.collection.immutable.Map$EmptyMap$";
  if (type == kEmpty || ModuleOf(graph, map) == kEmpty) return Pairs();
  return Unknown("a known kind of scala.collection.Map", graph, map);
}

base::Result<int32_t> IntOf(const Graph& graph, base::Budget& budget, Ref boxed) {
  const auto value = FieldIn(graph, budget, boxed, "value", 'I');
  if (!value || graph.ClassName(boxed) != "java.lang.Integer") return Unknown("java.lang.Integer", graph, boxed);
  return static_cast<int32_t>(*value);
}

}  // namespace fairlead::endpoints::spark
