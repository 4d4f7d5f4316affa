#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
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
class Fields {
 public:
  explicit Fields(const wire::java_stream::Graph& graph) : graph_(graph) {}

  using Ref = wire::java_stream::Ref;
  Ref Object(Ref object, const char* name) { return graph_.RefOf(object, name); }
  std::string Text(Ref object, const char* name);
  int32_t Int(Ref object, const char* name);
  int64_t Long(Ref object, const char* name);
  bool Flag(Ref object, const char* name);
  std::optional<int32_t> OptionalInt(Ref object, const char* name);
  std::optional<std::string> OptionalText(Ref object, const char* name);
  /// What is in an Option; nothing when it is empty.
  std::optional<Ref> Optional(Ref object, const char* name);
  std::vector<std::string> Texts(Ref object, const char* name);
  std::vector<Ref> Elements(Ref object, const char* name);
  std::vector<std::pair<Ref, Ref>> Entries(Ref object, const char* name);
  /// A value of a scala.Enumeration, by its id, which must be below `count`.
  int32_t Enumerated(Ref object, const char* name, int32_t count);
  RpcAddress Address(Ref object, const char* name);
  EndpointReference Reference(Ref object, const char* name);
  std::string TextAt(Ref string, const char* name);
  int32_t IntAt(Ref boxed, const char* name);
  /// A String[].
  std::vector<std::string> TextArray(Ref object, const char* name);
  void ExpectClass(Ref object, std::initializer_list<std::string_view> names);
  void Fail(std::string_view where, const std::string& why);
  const std::string& error() const { return error_; }

 private:
  template <class T>
  T Take(base::Result<T> result, const char* name, T otherwise) {
    if (result.ok()) return std::move(*result);
    Fail(name, result.error().message);
    return otherwise;
  }
  template <class T>
  T Number(Ref object, const char* name, char type) {
    const auto value = graph_.FieldOf(object, name, type);
    if (!value) Fail(name, "a number expected");
    return static_cast<T>(value.value_or(0));
  }

  const wire::java_stream::Graph& graph_;
  std::string error_;
};

}  // namespace fairlead::endpoints::spark
