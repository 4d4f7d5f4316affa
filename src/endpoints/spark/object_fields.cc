#include "endpoints/spark/object_fields.h"

#include <algorithm>

#include "endpoints/spark/scala_values.h"

namespace fairlead::endpoints::spark {

namespace js = wire::java_stream;
using js::Ref;

std::string_view MessageName(const js::Graph& graph) {
  constexpr std::string_view kDeployMessages = "org.apache.spark.deploy.DeployMessages$";
  std::string_view type = ModuleOf(graph, graph.Root());
  if (type.empty()) type = graph.ClassName(graph.Root());
  return type.starts_with(kDeployMessages) ? type.substr(kDeployMessages.size()) : std::string_view();
}

std::string Fields::Text(Ref object, const char* name) { return TextAt(graph_.RefOf(object, name), name); }
int32_t Fields::Int(Ref object, const char* name) { return Number<int32_t>(object, name, 'I'); }
int64_t Fields::Long(Ref object, const char* name) { return Number<int64_t>(object, name, 'J'); }
bool Fields::Flag(Ref object, const char* name) { return Number<int64_t>(object, name, 'Z') != 0; }

std::optional<Ref> Fields::Optional(Ref object, const char* name) {
  return Take(OptionOf(graph_, graph_.RefOf(object, name)), name, std::optional<Ref>());
}
std::optional<int32_t> Fields::OptionalInt(Ref object, const char* name) {
  const auto held = Optional(object, name);
  return held ? std::optional(IntAt(*held, name)) : std::nullopt;
}
std::optional<std::string> Fields::OptionalText(Ref object, const char* name) {
  const auto held = Optional(object, name);
  return held ? std::optional(TextAt(*held, name)) : std::nullopt;
}

std::vector<Ref> Fields::Elements(Ref object, const char* name) {
  return Take(ElementsOf(graph_, graph_.RefOf(object, name)), name, std::vector<Ref>());
}
std::vector<std::string> Fields::Texts(Ref object, const char* name) {
  std::vector<std::string> texts;
  for (const Ref element : Elements(object, name)) texts.push_back(TextAt(element, name));
  return texts;
}
std::vector<std::pair<Ref, Ref>> Fields::Entries(Ref object, const char* name) {
  return Take(EntriesOf(graph_, graph_.RefOf(object, name)), name, std::vector<std::pair<Ref, Ref>>());
}

int32_t Fields::Enumerated(Ref object, const char* name, int32_t count) {
  const Ref value = graph_.RefOf(object, name);
  ExpectClass(value, {"scala.Enumeration$Val"});
  const int32_t id = Int(value, "i");
  if (id >= 0 && id < count) return id;
  Fail(name, "there is no value " + std::to_string(id));
  return 0;
}

RpcAddress Fields::Address(Ref object, const char* name) {
  const Ref address = graph_.RefOf(object, name);
  return {Text(address, "host"), Int(address, "port")};
}

EndpointReference Fields::Reference(Ref object, const char* name) {
  const Ref reference = graph_.RefOf(object, name);
  ExpectClass(reference, {"org.apache.spark.rpc.netty.NettyRpcEndpointRef"});
  const Ref endpoint = graph_.RefOf(reference, "endpointAddress");
  return {Address(endpoint, "rpcAddress"), Text(endpoint, "name")};
}

std::string Fields::TextAt(Ref string, const char* name) { return Take(TextOf(graph_, string), name, std::string()); }
int32_t Fields::IntAt(Ref boxed, const char* name) { return Take(IntOf(graph_, boxed), name, 0); }

std::vector<std::string> Fields::TextArray(Ref object, const char* name) {
  const Ref array = graph_.RefOf(object, name);
  ExpectClass(array, {"[Ljava.lang.String;"});
  std::vector<std::string> texts;
  if (const auto* items = graph_.Get<js::Array>(array); items != nullptr && error_.empty()) {
    for (const js::Slot item : items->items) texts.push_back(TextAt(static_cast<Ref>(item), name));
  }
  return texts;
}

void Fields::ExpectClass(Ref object, std::initializer_list<std::string_view> names) {
  if (std::ranges::find(names, graph_.ClassName(object)) != names.end()) return;
  Fail(*names.begin(), "an object of this class expected");
}

void Fields::Fail(std::string_view where, const std::string& why) {
  if (error_.empty()) error_ = std::string(where) + ": " + why;
}

}  // namespace fairlead::endpoints::spark
