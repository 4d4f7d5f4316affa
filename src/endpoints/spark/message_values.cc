#include "endpoints/spark/message_values.h"

#include "base/bytes.h"
#include "wire/java_stream/writer.h"

namespace fairlead::endpoints::spark {

namespace js = wire::java_stream;
using js::Ref;

namespace {

constexpr const char* kListProxy = "scala.collection.immutable.List$SerializationProxy";          // 2.12
constexpr const char* kProxy = "scala.collection.generic.DefaultSerializationProxy";              // 2.13
constexpr const char* kMapFactory = "scala.collection.MapFactory$ToFactory";                      // 2.13
constexpr const char* kImmutableProxy = "scala.collection.immutable.HashMap$SerializationProxy";  // 2.12
constexpr const char* kHashMap = "scala.collection.mutable.HashMap";

std::string Int32(int32_t value) {
  std::string bytes;
  base::ByteWriter(bytes).I32(value);
  return bytes;
}

}  // namespace

MessageWriter::MessageWriter(const SparkBuild& build, std::string_view name) : build_(build), builder_(build.classes) {
  const bool whole = name.find('.') != std::string_view::npos;
  const std::string type = (whole ? "" : "org.apache.spark.deploy.DeployMessages$") + std::string(name);
  message_ = type.ends_with('$') ? Module(type.c_str()) : builder_.NewObject(type);
}

std::string MessageWriter::Written() {
  builder_.graph().contents.emplace_back(message_);
  return js::WriteStream(builder_.graph());
}

MessageWriter& MessageWriter::Set(const char* field, Ref value) {
  builder_.SetRef(message_, field, value);
  return *this;
}

MessageWriter& MessageWriter::SetNumber(const char* field, int64_t value) {
  builder_.SetNumber(message_, field, value);
  return *this;
}

// ---- options and numbers -------------------------------------------------------------------------------------------

Ref MessageWriter::Integer(int32_t value) {
  const bool cached = value >= -128 && value <= 127;
  if (cached && integers_.count(value) != 0) return integers_[value];
  const Ref boxed = builder_.NewObject("java.lang.Integer");
  builder_.SetNumber(boxed, "value", value);
  if (cached) integers_[value] = boxed;
  return boxed;
}

/// A module without state (a Scala object).
Ref MessageWriter::Module(const char* name) {
  Ref& made = modules_[name];
  if (made != js::kNull) return made;
  if (!build_.has_module_proxies()) return made = builder_.NewObject(name);
  made = builder_.NewObject("scala.runtime.ModuleSerializationProxy");
  builder_.SetRef(made, "moduleClass", builder_.NewClassObject(name));
  return made;
}

Ref MessageWriter::Exception(const std::string& message) {
  const Ref made = builder_.NewObject("java.lang.Exception");
  builder_.SetRef(made, "detailMessage", Text(message));
  builder_.SetCustom(made, "java.lang.Throwable", {});
  return made;
}

Ref MessageWriter::None() { return Module("scala.None$"); }

Ref MessageWriter::Some(Ref value) {
  const Ref some = builder_.NewObject("scala.Some");
  builder_.SetRef(some, "value", value);
  return some;
}

// ---- enumerations --------------------------------------------------------------------------------------------------

Ref MessageWriter::State(const Enumeration& enumeration, int32_t id) {
  if (!build_.has_module_proxies()) return StatesOfWholeModule(enumeration)[static_cast<size_t>(id)];
  return StateOf(Module(enumeration.module), id);
}

Ref MessageWriter::StateOf(Ref module, int32_t id) {
  const Ref value = builder_.NewObject("scala.Enumeration$Val");
  builder_.SetRef(value, "$outer", module);
  builder_.SetRef(value, "scala$Enumeration$$outerEnum", module);
  builder_.SetNumber(value, "i", id);
  return value;
}

/// The enumeration with all its values, as 2.12 writes it behind each of them.
std::vector<Ref> MessageWriter::StatesOfWholeModule(const Enumeration& enumeration) {
  const auto count = static_cast<int32_t>(enumeration.values.size());
  const Ref module = builder_.NewObject(enumeration.module);
  std::vector<Ref> states;
  for (int32_t id = 0; id < count; ++id) {
    states.push_back(StateOf(module, id));
    builder_.SetRef(module, enumeration.values[static_cast<size_t>(id)], states.back());
  }
  builder_.SetNumber(module, "nextId", count);
  builder_.SetNumber(module, "scala$Enumeration$$topId", count);
  builder_.SetRef(module, "nmap", HashMap({}));
  std::vector<std::pair<Ref, Ref>> entries;
  for (const int32_t id : enumeration.hashed) entries.emplace_back(Integer(id), states[static_cast<size_t>(id)]);
  builder_.SetRef(module, "scala$Enumeration$$vmap", HashMap(entries));
  std::vector<Ref> finished;
  for (const int32_t id : enumeration.finished) finished.push_back(states[static_cast<size_t>(id)]);
  if (!finished.empty()) builder_.SetRef(module, "finishedStates", List(finished));
  return states;
}

// ---- collections ---------------------------------------------------------------------------------------------------

Ref MessageWriter::List(const std::vector<Ref>& elements) {
  if (elements.empty() && empty_list_ != js::kNull) return empty_list_;
  const bool proxies = build_.has_module_proxies();
  const Ref list = builder_.NewObject(proxies ? kProxy : kListProxy);
  std::vector<js::Item> items;
  if (proxies) {
    const Ref factory = builder_.NewObject("scala.collection.IterableFactory$ToFactory");
    builder_.SetRef(factory, "factory", Module("scala.collection.immutable.List$"));
    builder_.SetRef(list, "factory", factory);
    items.emplace_back(Int32(elements.empty() ? 0 : -1));  // a List knows only the length of none
  }
  for (const Ref element : elements) items.emplace_back(element);
  if (!proxies) items.emplace_back(Module("scala.collection.immutable.ListSerializeEnd$"));
  if (proxies && !elements.empty()) items.emplace_back(Module("scala.collection.generic.SerializeEnd$"));
  builder_.SetCustom(list, proxies ? kProxy : kListProxy, std::move(items));
  if (elements.empty()) empty_list_ = list;
  return list;
}

Ref MessageWriter::Texts(const std::vector<std::string>& texts) {
  std::vector<Ref> elements;
  for (const std::string& text : texts) elements.push_back(Text(text));
  return List(elements);
}

/// scala.collection.mutable.HashMap of 2.12: load factor (in thousandths), size, seed of the hash and a flag, then keys
/// and values in turn.
Ref MessageWriter::HashMap(const std::vector<std::pair<Ref, Ref>>& entries) {
  constexpr int32_t kLoadFactor = 750;
  constexpr int32_t kSeed = 4;
  std::string head = Int32(kLoadFactor) + Int32(static_cast<int32_t>(entries.size())) + Int32(kSeed) + '\0';
  std::vector<js::Item> items = {std::move(head)};
  for (const auto& [key, value] : entries) {
    items.emplace_back(key);
    items.emplace_back(value);
  }
  const Ref map = builder_.NewObject(kHashMap);
  builder_.SetCustom(map, kHashMap, std::move(items));
  return map;
}

Ref MessageWriter::Variables(const std::map<std::string, std::string>& variables) {
  std::vector<std::pair<Ref, Ref>> entries;
  for (const auto& [name, value] : variables) entries.emplace_back(Text(name), Text(value));
  return MutableMap(entries);
}

Ref MessageWriter::MutableMap(const std::vector<std::pair<Ref, Ref>>& entries) {
  if (!build_.has_module_proxies()) return HashMap(entries);
  constexpr int64_t kThreeQuarters = 0x3FE8000000000000;  // 0.75, the load factor
  size_t table = 16;
  while (table * 3 <= entries.size() * 4) table *= 2;
  const Ref factory = builder_.NewObject("scala.collection.mutable.HashMap$DeserializationFactory");
  builder_.SetNumber(factory, "loadFactor", kThreeQuarters);
  builder_.SetNumber(factory, "tableLength", static_cast<int64_t>(table));
  return Proxied(factory, entries);
}

/// A map of 2.13: what makes it, how many entries, and the entries.
Ref MessageWriter::Proxied(Ref factory, const std::vector<std::pair<Ref, Ref>>& entries) {
  const Ref map = builder_.NewObject(kProxy);
  builder_.SetRef(map, "factory", factory);
  std::vector<js::Item> items = {Int32(static_cast<int32_t>(entries.size()))};
  for (const auto& [key, value] : entries) {
    const Ref pair = builder_.NewObject("scala.Tuple2");
    builder_.SetRef(pair, "_1", key);
    builder_.SetRef(pair, "_2", value);
    items.emplace_back(pair);
  }
  builder_.SetCustom(map, kProxy, std::move(items));
  return map;
}

bool MessageWriter::HasImmutableMaps() const {
  return build_.classes.count(build_.has_module_proxies() ? kMapFactory : kImmutableProxy) != 0;
}

Ref MessageWriter::ImmutableMap(const std::vector<std::pair<Ref, Ref>>& entries) {
  if (build_.has_module_proxies()) {
    const Ref factory = builder_.NewObject(kMapFactory);
    builder_.SetRef(factory, "factory", Module("scala.collection.immutable.HashMap$"));
    return Proxied(factory, entries);
  }
  std::vector<js::Item> items = {Int32(static_cast<int32_t>(entries.size()))};
  for (const auto& [key, value] : entries) {
    items.emplace_back(key);
    items.emplace_back(value);
  }
  const Ref map = builder_.NewObject(kImmutableProxy);
  builder_.SetCustom(map, kImmutableProxy, std::move(items));
  return map;
}

Ref MessageWriter::SmallMap(const std::vector<std::pair<Ref, Ref>>& entries) {
  if (entries.empty()) return Module("scala.collection.immutable.Map$EmptyMap$");
  const std::string name = "scala.collection.immutable.Map$Map" + std::to_string(entries.size());
  const Ref map = builder_.NewObject(name);
  // From two entries on 2.13's compiler widens the fields' names.
  std::string prefix;
  if (build_.has_module_proxies() && entries.size() > 1) {
    prefix = "scala$collection$immutable$Map$Map" + std::to_string(entries.size()) + "$$";
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    builder_.SetRef(map, prefix + "key" + std::to_string(i + 1), entries[i].first);
    builder_.SetRef(map, prefix + "value" + std::to_string(i + 1), entries[i].second);
  }
  return map;
}

// ---- addresses -----------------------------------------------------------------------------------------------------

Ref MessageWriter::Address(const RpcAddress& address) {
  const Ref made = builder_.NewObject("org.apache.spark.rpc.RpcAddress");
  builder_.SetRef(made, "host", Text(address.host));
  builder_.SetNumber(made, "port", address.port);
  return made;
}

Ref MessageWriter::Reference(const RpcAddress& address, const std::string& name) {
  constexpr int64_t kAskSeconds = 120;
  const Ref duration = builder_.NewObject("scala.concurrent.duration.FiniteDuration");
  builder_.SetNumber(duration, "length", kAskSeconds);
  builder_.SetRef(duration, "unit", builder_.NewEnum("java.util.concurrent.TimeUnit", "SECONDS"));
  const Ref timeout = builder_.NewObject("org.apache.spark.rpc.RpcTimeout");
  builder_.SetRef(timeout, "duration", duration);
  builder_.SetRef(timeout, "timeoutProp", Text("spark.rpc.askTimeout"));
  const Ref endpoint = builder_.NewObject("org.apache.spark.rpc.RpcEndpointAddress");
  builder_.SetRef(endpoint, "name", Text(name));
  builder_.SetRef(endpoint, "rpcAddress", Address(address));
  builder_.SetRef(endpoint, "toString", Text("spark://" + name + "@" + address.ToString()));
  const Ref reference = builder_.NewObject("org.apache.spark.rpc.netty.NettyRpcEndpointRef");
  builder_.SetRef(reference, "defaultAskTimeout", timeout);
  builder_.SetRef(reference, "endpointAddress", endpoint);
  return reference;
}

}  // namespace fairlead::endpoints::spark
