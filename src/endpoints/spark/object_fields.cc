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

Ref Fields::Object(Ref object, const char* name) {
  if (!ok() || !Within(budget_.Work(1 + graph_.FieldCount(object)))) return js::kNull;
  return graph_.RefOf(object, name);
}

// ---- texts ---------------------------------------------------------------------------------------------------------

std::string Fields::TextAt(Ref string, const char* name, size_t most) {
  if (!ok()) return {};
  const auto* node = graph_.Get<js::String>(string);
  if (node == nullptr) return Fail(name, "a string expected"), std::string();
  if (node->bytes.size() > most) {
    Fail(name, "a text of " + std::to_string(node->bytes.size()) + " bytes, of which " + std::to_string(most) +
                   " are possible");
    return {};
  }
  if (!Within(budget_.Node())) return {};
  std::string text = js::FromModifiedUtf8(node->bytes);
  return Charge(sizeof(text) + text.size()) ? text : std::string();
}
std::string Fields::Text(Ref object, const char* name, size_t most) { return TextAt(Object(object, name), name, most); }

std::string Fields::SaidAt(Ref string) {
  const auto* node = graph_.Get<js::String>(string);
  if (node == nullptr) return {};
  std::string text = js::FromModifiedUtf8(std::string_view(node->bytes).substr(0, kSaidBytesMax));
  return Charge(sizeof(text) + text.size()) ? text : std::string();
}
std::optional<std::string> Fields::Said(Ref object, const char* name) {
  const Ref string = Object(object, name);
  if (!ok() || graph_.Get<js::String>(string) == nullptr) return std::nullopt;
  return SaidAt(string);
}
std::optional<std::string> Fields::OptionalSaid(Ref object, const char* name) {
  const auto held = Optional(object, name);
  if (!held) return std::nullopt;
  if (graph_.Get<js::String>(*held) == nullptr) Fail(name, "a string expected");
  return SaidAt(*held);
}

std::vector<std::string> Fields::Texts(Ref object, const char* name, size_t most) {
  std::vector<std::string> texts;
  for (const Ref element : Elements(object, name)) {
    texts.push_back(TextAt(element, name, most));
    if (!ok()) return {};
  }
  return texts;
}

std::vector<std::string> Fields::TextArray(Ref object, const char* name) {
  const Ref array = Object(object, name);
  ExpectClass(array, {"[Ljava.lang.String;"});
  std::vector<std::string> texts;
  const auto* items = graph_.Get<js::Array>(array);
  if (items != nullptr && items->items.size() > kResourceAddressesMax) Fail(name, "too many addresses");
  if (items == nullptr || !ok()) return texts;
  for (const js::Slot item : items->items) {
    texts.push_back(TextAt(static_cast<Ref>(item), name));
    if (!ok()) return {};
  }
  return texts;
}

// ---- numbers and collections ---------------------------------------------------------------------------------------

int32_t Fields::Int(Ref object, const char* name) { return Number<int32_t>(object, name, 'I'); }
int64_t Fields::Long(Ref object, const char* name) { return Number<int64_t>(object, name, 'J'); }
bool Fields::Flag(Ref object, const char* name) { return Number<int64_t>(object, name, 'Z') != 0; }
js::Slot Fields::Bits(Ref object, const char* name, char type) {
  if (!ok() || !Within(budget_.Work(1 + graph_.FieldCount(object)))) return 0;
  return graph_.FieldOf(object, name, type).value_or(0);
}
int32_t Fields::IntAt(Ref boxed, const char* name) { return ok() ? Take(IntOf(graph_, budget_, boxed), name, 0) : 0; }

std::optional<Ref> Fields::Optional(Ref object, const char* name) {
  const Ref option = Object(object, name);
  return ok() ? Take(OptionOf(graph_, budget_, option), name, std::optional<Ref>()) : std::nullopt;
}
std::optional<int32_t> Fields::OptionalInt(Ref object, const char* name) {
  const auto held = Optional(object, name);
  return held ? std::optional(IntAt(*held, name)) : std::nullopt;
}

std::vector<Ref> Fields::Elements(Ref object, const char* name) {
  const Ref sequence = Object(object, name);
  return ok() ? Take(ElementsOf(graph_, budget_, sequence), name, std::vector<Ref>()) : std::vector<Ref>();
}
std::vector<std::pair<Ref, Ref>> Fields::Entries(Ref object, const char* name) {
  using Pairs = std::vector<std::pair<Ref, Ref>>;
  const Ref map = Object(object, name);
  return ok() ? Take(EntriesOf(graph_, budget_, map), name, Pairs()) : Pairs();
}

int32_t Fields::Enumerated(Ref object, const char* name, int32_t count) {
  const Ref value = Object(object, name);
  ExpectClass(value, {"scala.Enumeration$Val"});
  const int32_t id = Int(value, "i");
  if (id >= 0 && id < count) return id;
  Fail(name, "there is no value " + std::to_string(id));
  return 0;
}

RpcAddress Fields::Address(Ref object, const char* name) {
  const Ref address = Object(object, name);
  return {Text(address, "host"), Int(address, "port")};
}

EndpointReference Fields::Reference(Ref object, const char* name) {
  const Ref reference = Object(object, name);
  ExpectClass(reference, {"org.apache.spark.rpc.netty.NettyRpcEndpointRef"});
  const Ref endpoint = Object(reference, "endpointAddress");
  return {Address(endpoint, "rpcAddress"), Text(endpoint, "name")};
}

void Fields::ExpectClass(Ref object, std::initializer_list<std::string_view> names) {
  if (std::ranges::find(names, graph_.ClassName(object)) != names.end()) return;
  Fail(*names.begin(), "an object of this class expected");
}

void Fields::Fail(std::string_view where, const std::string& why) {
  if (error_.empty()) error_ = where.empty() ? why : std::string(where) + ": " + why;
}

}  // namespace fairlead::endpoints::spark
