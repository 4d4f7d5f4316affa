#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "endpoints/spark/message_bounds.h"
#include "endpoints/spark/rpc_message.h"
#include "wire/java_stream/graph.h"

// Reading what a message's object holds.

namespace fairlead::endpoints::spark {

/// Where an endpoint of Spark's RPC is (org.apache.spark.rpc.netty.NettyRpcEndpointRef).
struct EndpointReference {
  RpcAddress address;
  std::string name;
};

/// The name of a message of org.apache.spark.deploy.DeployMessages, "KillDriver", of a Scala object with "$" behind it,
/// also where it is written as a module's proxy; empty: of another class.
std::string_view MessageName(const wire::java_stream::Graph& graph);

/// Reads fields of objects; after the first one that is not as it should be, error() says what and all else is empty.
/// Every text, element and look is charged each time, however often the graph refers to it: so a message may cost what
/// its kind allows, and not what its references lead to.
class Fields {
 public:
  explicit Fields(const wire::java_stream::Graph& graph)
      : graph_(graph), budget_(kSparkMessage, graph.stream_bytes()) {}

  using Ref = wire::java_stream::Ref;
  Ref Object(Ref object, const char* name);
  /// A longer text than `most` bytes is wrong.
  std::string Text(Ref object, const char* name, size_t most = kNameBytesMax);
  /// What was said to people, of which kSaidBytesMax are read; nothing when there is no text.
  std::optional<std::string> Said(Ref object, const char* name);
  int32_t Int(Ref object, const char* name);
  int64_t Long(Ref object, const char* name);
  /// The bits of a number of this type; 0 when there is none.
  wire::java_stream::Slot Bits(Ref object, const char* name, char type);
  bool Flag(Ref object, const char* name);
  std::optional<int32_t> OptionalInt(Ref object, const char* name);
  /// As Said, in an Option.
  std::optional<std::string> OptionalSaid(Ref object, const char* name);
  /// What is in an Option; nothing when it is empty.
  std::optional<Ref> Optional(Ref object, const char* name);
  std::vector<std::string> Texts(Ref object, const char* name, size_t most = kNameBytesMax);
  std::vector<Ref> Elements(Ref object, const char* name);
  std::vector<std::pair<Ref, Ref>> Entries(Ref object, const char* name);
  /// A value of a scala.Enumeration, by its id, which must be below `count`.
  int32_t Enumerated(Ref object, const char* name, int32_t count);
  RpcAddress Address(Ref object, const char* name);
  EndpointReference Reference(Ref object, const char* name);
  std::string TextAt(Ref string, const char* name, size_t most = kNameBytesMax);
  int32_t IntAt(Ref boxed, const char* name);
  /// A String[] of at most kResourceAddressesMax.
  std::vector<std::string> TextArray(Ref object, const char* name);
  void ExpectClass(Ref object, std::initializer_list<std::string_view> names);
  void Fail(std::string_view where, const std::string& why);
  /// For `bytes` of what the caller makes.
  bool Charge(size_t bytes) { return ok() && Within(budget_.Memory(bytes)); }
  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }

 private:
  bool Within(bool charged) {
    if (!charged) Fail("", budget_.error().message);
    return charged;
  }
  template <class T>
  T Take(base::Result<T> result, const char* name, T otherwise) {
    if (!Within(budget_.ok())) return otherwise;
    if (result.ok()) return std::move(*result);
    Fail(name, result.error().message);
    return otherwise;
  }
  template <class T>
  T Number(Ref object, const char* name, char type) {
    if (!ok() || !Within(budget_.Work(1 + graph_.FieldCount(object)))) return T();
    const auto value = graph_.FieldOf(object, name, type);
    if (!value) Fail(name, "a number expected");
    return static_cast<T>(value.value_or(0));
  }
  std::string SaidAt(Ref string);

  const wire::java_stream::Graph& graph_;
  base::Budget budget_;
  std::string error_;
};

}  // namespace fairlead::endpoints::spark
