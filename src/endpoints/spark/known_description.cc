#include "endpoints/spark/known_description.h"

#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "endpoints/spark/message_bounds.h"
#include "endpoints/spark/object_fields.h"
#include "wire/java_stream/reader.h"
#include "wire/java_stream/writer.h"

namespace fairlead::endpoints::spark {

namespace js = wire::java_stream;
using js::Ref;

namespace {

constexpr std::string_view kApplication = "org.apache.spark.deploy.ApplicationDescription";
constexpr std::string_view kDriver = "org.apache.spark.deploy.DriverDescription";

/// Reads an object of one graph and writes it into a message. What stands at several places is one object again, as
/// Java's writer has it. Each method goes by the type of the field, so that no depth but that of Spark's classes is
/// possible.
class Known {
 public:
  Known(MessageWriter& out, const SparkBuild& build, const js::Graph& from)
      : out_(out), build_(build), from_(from), in_(from) {}

  Ref Description(Ref object) {
    if (from_.ClassName(object) == kDriver) return Driver(object);
    in_.ExpectClass(object, {kApplication});
    return Application(object);
  }
  const std::string& error() const { return in_.error(); }

 private:
  using Make = std::function<Ref(Ref)>;

  /// A node that was met before is the one that was made then.
  Ref Once(Ref object, const Make& make) {
    if (object == js::kNull || !in_.ok()) return js::kNull;
    const auto found = made_.find(object);
    if (found != made_.end()) return found->second;
    const Ref made = make(object);
    return made_[object] = made;
  }
  Ref New(std::string_view name) {
    if (build_.classes.find(name) != build_.classes.end()) return out_.builder().NewObject(name);
    in_.Fail(name, "this build of Spark has no such class");
    return out_.None();
  }
  void Put(Ref made, const char* field, Ref value) { out_.builder().SetRef(made, field, value); }
  void PutNumber(Ref object, Ref made, const char* field, char type) {
    out_.builder().SetNumber(made, field, in_.Bits(object, field, type));
  }
  void PutText(Ref object, Ref made, const char* field, size_t most = kNameBytesMax) {
    Put(made, field, TextOf(in_.Object(object, field), field, most));
  }

  Ref Application(Ref object);
  Ref Driver(Ref object);
  Ref CommandOf(Ref object);
  Ref Profile(Ref object);
  Ref Request(Ref object);
  Ref TaskRequest(Ref object);
  Ref Requirement(Ref object);

  Ref TextOf(Ref string, const char* field, size_t most);
  Ref Option(Ref object, const char* field, const Make& value);
  /// A Seq in its own shape, where Spark's drivers have it so; else a List.
  Ref Sequence(Ref object, const char* field, const Make& element);
  Ref TextsOf(Ref object, const char* field);
  /// A Map with texts as keys. `grows`: where it may be a mutable one.
  Ref Map(Ref object, const char* field, const Make& value, bool grows);
  Ref Url(Ref object);

  MessageWriter& out_;
  const SparkBuild& build_;
  const js::Graph& from_;
  Fields in_;
  std::unordered_map<Ref, Ref> made_;
};

// ---- values --------------------------------------------------------------------------------------------------------

Ref Known::TextOf(Ref string, const char* field, size_t most) {
  return Once(string, [&](Ref text) { return out_.Text(in_.TextAt(text, field, most)); });
}

Ref Known::Option(Ref object, const char* field, const Make& value) {
  return Once(in_.Object(object, field), [&](Ref) {
    const auto held = in_.Optional(object, field);
    return held ? out_.Some(Once(*held, value)) : out_.None();
  });
}

Ref Known::Sequence(Ref object, const char* field, const Make& element) {
  return Once(in_.Object(object, field), [&](Ref sequence) {
    std::vector<Ref> elements;
    for (const Ref each : in_.Elements(object, field)) {
      if (!in_.Charge(sizeof(Ref))) break;
      elements.push_back(Once(each, element));
    }
    const std::string_view shape = from_.ClassName(sequence);
    const bool of_212 = shape == "scala.collection.mutable.ArraySeq";
    const bool of_213 = shape == "scala.collection.immutable.ArraySeq$ofRef";
    if ((!of_212 && !of_213) || build_.classes.find(shape) == build_.classes.end()) return out_.List(elements);
    const Ref array = out_.builder().NewArray("[Ljava.lang.Object;", {elements.begin(), elements.end()});
    const Ref made = New(shape);
    Put(made, of_212 ? "array" : "unsafeArray", array);
    if (of_212) out_.builder().SetNumber(made, "length", static_cast<int64_t>(elements.size()));
    return made;
  });
}

Ref Known::TextsOf(Ref object, const char* field) {
  return Sequence(object, field, [&](Ref text) { return out_.Text(in_.TextAt(text, field, kWordBytesMax)); });
}

Ref Known::Map(Ref object, const char* field, const Make& value, bool grows) {
  return Once(in_.Object(object, field), [&](Ref map) {
    std::vector<std::pair<Ref, Ref>> entries;
    for (const auto& [key, held] : in_.Entries(object, field)) {
      if (!in_.Charge(2 * sizeof(Ref))) break;
      const Ref name = TextOf(key, field, kWordBytesMax);
      entries.emplace_back(name, Once(held, value));
    }
    const bool small = from_.ClassName(map).starts_with("scala.collection.immutable.Map$Map") || entries.empty();
    if (!grows || small) {
      if (entries.size() <= MessageWriter::kSmallMapMax) return out_.SmallMap(entries);
    }
    if (grows) return out_.MutableMap(entries);
    if (out_.HasImmutableMaps()) return out_.ImmutableMap(entries);
    in_.Fail(field, "a map of more than four entries, which this build of Spark cannot be told");
    return out_.None();
  });
}

/// A java.net.URI: where an application writes its events.
Ref Known::Url(Ref object) {
  in_.ExpectClass(object, {"java.net.URI"});
  const Ref made = out_.builder().NewObject("java.net.URI");
  PutText(object, made, "string", kWordBytesMax);
  return made;
}

// ---- descriptions --------------------------------------------------------------------------------------------------

Ref Known::CommandOf(Ref object) {
  const Ref made = New("org.apache.spark.deploy.Command");
  PutText(object, made, "mainClass", kWordBytesMax);
  for (const char* texts : {"arguments", "classPathEntries", "libraryPathEntries", "javaOpts"}) {
    Put(made, texts, TextsOf(object, texts));
  }
  const auto text = [&](Ref value) { return out_.Text(in_.TextAt(value, "environment", kWordBytesMax)); };
  Put(made, "environment", Map(object, "environment", text, true));
  return made;
}

Ref Known::Request(Ref object) {
  const Ref made = New("org.apache.spark.resource.ExecutorResourceRequest");
  PutNumber(object, made, "amount", 'J');
  for (const char* text : {"resourceName", "discoveryScript", "vendor"}) PutText(object, made, text, kWordBytesMax);
  return made;
}

Ref Known::TaskRequest(Ref object) {
  const Ref made = New("org.apache.spark.resource.TaskResourceRequest");
  PutNumber(object, made, "amount", 'D');
  PutText(object, made, "resourceName");
  return made;
}

Ref Known::Profile(Ref object) {
  const bool of_tasks = from_.ClassName(object) == kTaskResourceProfile &&
                        build_.classes.find(kTaskResourceProfile) != build_.classes.end();  // since Spark 3.4
  const Ref made = New(of_tasks ? kTaskResourceProfile : kResourceProfile);
  const auto number = [&](Ref boxed) { return out_.Integer(in_.IntAt(boxed, "slots")); };
  PutNumber(object, made, "_id", 'I');
  PutNumber(object, made, "_coresLimitKnown", 'Z');
  Put(made, "executorResources",
      Map(
          object, "executorResources", [&](Ref one) { return Request(one); }, false));
  Put(made, "taskResources",
      Map(
          object, "taskResources", [&](Ref one) { return TaskRequest(one); }, false));
  // What a driver has computed from these two.
  Put(made, "_executorResourceSlotsPerAddr", Option(object, "_executorResourceSlotsPerAddr", [&](Ref) {
        return Map(in_.Object(object, "_executorResourceSlotsPerAddr"), "value", number, false);
      }));
  Put(made, "_limitingResource",
      Option(object, "_limitingResource", [&](Ref text) { return out_.Text(in_.TextAt(text, "_limitingResource")); }));
  Put(made, "_maxTasksPerExecutor", Option(object, "_maxTasksPerExecutor", number));
  return made;
}

Ref Known::Application(Ref object) {
  const Ref made = New(kApplication);
  const auto number = [&](Ref boxed) { return out_.Integer(in_.IntAt(boxed, "maxCores")); };
  for (const char* text : {"name", "user", "appUiUrl"}) PutText(object, made, text);
  for (const char* limit : {"maxCores", "initialExecutorLimit"}) Put(made, limit, Option(object, limit, number));
  Put(made, "command", Once(in_.Object(object, "command"), [&](Ref command) { return CommandOf(command); }));
  Put(made, "defaultProfile", Once(in_.Object(object, "defaultProfile"), [&](Ref one) { return Profile(one); }));
  Put(made, "eventLogDir", Option(object, "eventLogDir", [&](Ref url) { return Url(url); }));
  Put(made, "eventLogCodec",
      Option(object, "eventLogCodec", [&](Ref text) { return out_.Text(in_.TextAt(text, "eventLogCodec")); }));
  return made;
}

Ref Known::Requirement(Ref object) {
  const Ref made = New("org.apache.spark.resource.ResourceRequirement");
  PutText(object, made, "resourceName");
  PutNumber(object, made, "amount", 'I');
  PutNumber(object, made, "numParts", 'I');
  return made;
}

Ref Known::Driver(Ref object) {
  const Ref made = New(kDriver);
  PutText(object, made, "jarUrl", kWordBytesMax);
  PutNumber(object, made, "mem", 'I');
  PutNumber(object, made, "cores", 'I');
  PutNumber(object, made, "supervise", 'Z');
  Put(made, "command", Once(in_.Object(object, "command"), [&](Ref command) { return CommandOf(command); }));
  Put(made, "resourceReqs", Sequence(object, "resourceReqs", [&](Ref one) { return Requirement(one); }));
  return made;
}

/// What was written is read as it will be when it is used: a stream without what was left out may cost less.
base::Result<std::string> Checked(const SparkBuild& build, std::string kept) {
  MessageWriter out(build, "RegisterApplication");
  if (PutKept(out, build, kept) == js::kNull) return base::Error{"a description that is too much for its size"};
  return kept;
}

}  // namespace

base::Result<std::string> KeptRegistration(const SparkBuild& build, const js::Graph& graph,
                                           const RegisterApplication& message) {
  MessageWriter out(build, "RegisterApplication");
  Known known(out, build, graph);
  out.Set("appDescription", known.Description(message.description));
  out.Set("driver", out.Reference(message.driver, message.driver_endpoint));
  if (!known.error().empty()) return base::Error{"appDescription: " + known.error()};
  return Checked(build, out.Written());
}

base::Result<std::string> KeptDescription(const SparkBuild& build, const js::Graph& graph, Ref description) {
  MessageWriter out(build, "RegisterApplication");
  Known known(out, build, graph);
  const Ref made = known.Description(description);
  if (!known.error().empty()) return base::Error{"description: " + known.error()};
  out.builder().graph().contents.emplace_back(made);
  return Checked(build, js::WriteStream(out.builder().graph()));
}

Ref PutKept(MessageWriter& out, const SparkBuild& build, std::string_view kept) {
  const auto graph = js::ReadStream(kept, kSparkMessage);
  if (!graph.ok()) return js::kNull;
  const Ref root = graph->Root();
  const bool registration = MessageName(*graph) == "RegisterApplication";
  Known known(out, build, *graph);
  const Ref made = known.Description(registration ? graph->RefOf(root, "appDescription") : root);
  return known.error().empty() ? made : js::kNull;
}

}  // namespace fairlead::endpoints::spark
