#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "endpoints/spark/rpc_message.h"
#include "endpoints/spark/spark_build.h"
#include "wire/java_stream/graph.h"

// Making messages: values of Scala and Java as a build of Spark writes them.

namespace fairlead::endpoints::spark {

/// A scala.Enumeration: its module's class and the names of its values, by their ids.
struct Enumeration {
  const char* module;
  std::vector<std::string_view> values;
  std::vector<int32_t> hashed;    // the ids in the order in which a mutable.HashMap of Scala 2.12 holds them
  std::vector<int32_t> finished;  // of the field finishedStates, where the module has one
};

/// One message to be written, and the values in it.
class MessageWriter {
 public:
  using Ref = wire::java_stream::Ref;

  /// A message of org.apache.spark.deploy.DeployMessages, or of another class by its whole name.
  MessageWriter(const SparkBuild& build, std::string_view name);

  wire::java_stream::Builder& builder() { return builder_; }
  std::string Written();

  MessageWriter& Set(const char* field, Ref value);
  MessageWriter& Set(const char* field, const std::string& text) { return Set(field, Text(text)); }
  MessageWriter& Set(const char* field, const char* text) { return Set(field, Text(text)); }
  MessageWriter& SetNumber(const char* field, int64_t value);

  Ref Text(std::string_view text) { return builder_.NewString(text); }
  /// Small integers are one object each in a Java virtual machine, others (as java.lang.Integer.valueOf makes them)
  /// new.
  Ref Integer(int32_t value);
  Ref None();
  Ref Some(Ref value);
  Ref Option(const std::optional<std::string>& text) { return text ? Some(Text(*text)) : None(); }
  Ref Option(const std::optional<int32_t>& number) { return number ? Some(Integer(*number)) : None(); }
  /// A java.lang.Exception without a stack trace.
  Ref Exception(const std::string& message);
  Ref State(const Enumeration& enumeration, int32_t id);
  /// An immutable.List.
  Ref List(const std::vector<Ref>& elements);
  Ref Texts(const std::vector<std::string>& texts);
  /// A mutable.HashMap of strings.
  Ref Variables(const std::map<std::string, std::string>& entries);
  Ref MutableMap(const std::vector<std::pair<Ref, Ref>>& entries);
  /// An immutable.HashMap, for more entries than four. The build may lack what it is written with.
  Ref ImmutableMap(const std::vector<std::pair<Ref, Ref>>& entries);
  bool HasImmutableMaps() const;
  /// An immutable Map of at most four entries.
  Ref SmallMap(const std::vector<std::pair<Ref, Ref>>& entries);
  static constexpr size_t kSmallMapMax = 4;
  Ref Address(const RpcAddress& address);
  /// A reference to an endpoint, with Spark's default for how long its answers are waited for.
  Ref Reference(const RpcAddress& address, const std::string& name);

 private:
  Ref Module(const char* name);
  Ref StateOf(Ref module, int32_t id);
  std::vector<Ref> StatesOfWholeModule(const Enumeration& enumeration);
  Ref HashMap(const std::vector<std::pair<Ref, Ref>>& entries);
  Ref Proxied(Ref factory, const std::vector<std::pair<Ref, Ref>>& entries);

  const SparkBuild& build_;
  wire::java_stream::Builder builder_;
  Ref message_ = wire::java_stream::kNull;
  std::map<int32_t, Ref> integers_;
  std::map<std::string, Ref> modules_;
  Ref empty_list_ = wire::java_stream::kNull;
};

}  // namespace fairlead::endpoints::spark
