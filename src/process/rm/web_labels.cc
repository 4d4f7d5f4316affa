#include <functional>
#include <set>
#include <utility>
#include <variant>

#include "config/java_numbers.h"
#include "endpoints/rest/request_body.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// /ws/v1/cluster/get-node-labels, get-node-to-labels, label-mappings and nodes/NODE/get-labels (dao/NodeLabelsInfo,
// NodeToLabelsInfo, LabelsToNodesInfo). JAXB's older form: every value is a text, and a list of one is bare.
// add-node-labels, remove-node-labels, replace-node-to-labels and nodes/NODE/replace-labels change them
// (RMWebServices.addToClusterNodeLabels and its like).

namespace fairlead::process::rm {

namespace m = model::rm;
namespace rest = endpoints::rest;
using nlohmann::json;
using rest::Document;

namespace {

Document Bare(Document::List list) {
  if (list.size() != 1) return {std::move(list)};
  return std::move(list.front());
}

Document Null(bool xml) { return xml ? Document("") : Document(Document::Number{"null"}); }

Document Amount(const model::Resources& amount, bool xml) {
  Document::List types;
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    types.push_back(Document::Object()
                        .Add("attributes", Null(xml))
                        .Add("maximumAllocation", std::to_string(INT64_MAX))
                        .Add("minimumAllocation", "0")
                        .Add("name", model::ResourceTypes::Name(type))
                        .Add("resourceType", "COUNTABLE")
                        .Add("units", type == 0 ? "Mi" : "")
                        .Add("value", std::to_string(amount[type])));
  }
  return Document::Object()
      .Add("memory", std::to_string(amount.memory_mib()))
      .Add("vCores", std::to_string(amount.vcores()))
      .Add("resourceInformations", Document::Object().Add("resourceInformation", Bare(std::move(types))));
}

/// Labels and the nodes that have them.
struct LabelFacts {
  std::map<std::string, bool> known;  // whether it is exclusive
  std::vector<NodeRow> nodes;
  bool xml = false;

  Document Label(const std::string& name) const {
    const auto label = known.find(name);
    const bool exclusive = label == known.end() || label->second;
    return Document::Object().Add("name", name).Add("exclusivity", exclusive ? "true" : "false");
  }
  /// What the nodes of a label offer.
  Document Partition(const std::string& label) const {
    model::Resources sum;
    for (const NodeRow& node : nodes) {
      if (node.in_scheduler && Has(node, label)) sum += node.capacity;
    }
    return Document::Object().Add("resourceAvailable", Amount(sum, xml));
  }
  static bool Has(const NodeRow& node, const std::string& label) {
    return std::find(node.labels.begin(), node.labels.end(), label) != node.labels.end();
  }
};

Document AllLabels(const LabelFacts& facts) {
  Document::List labels;
  for (const auto& [name, exclusive] : facts.known) {
    labels.push_back(facts.Label(name).Add("partitionInfo", facts.Partition(name)));
  }
  return labels.empty() ? Document() : Document::Object().Add("nodeLabelInfo", Bare(std::move(labels)));
}

Document LabelsOf(const LabelFacts& facts, const NodeRow& node) {
  Document::List labels;
  for (const std::string& name : node.labels) labels.push_back(facts.Label(name));
  return labels.empty() ? Document() : Document::Object().Add("nodeLabelInfo", Bare(std::move(labels)));
}

/// A map as JAXB writes it.
Document Map(const char* name, Document::List entries, bool xml) {
  if (entries.empty()) return Document::Object().Add(name, Null(xml));
  return Document::Object().Add(name, Document::Object().Add("entry", Bare(std::move(entries))));
}

Document NodesToLabels(const LabelFacts& facts) {
  Document::List entries;
  for (const NodeRow& node : facts.nodes) {
    if (node.labels.empty()) continue;
    entries.push_back(Document::Object().Add("key", ToString(node.address)).Add("value", LabelsOf(facts, node)));
  }
  return Map("nodeToLabels", std::move(entries), facts.xml);
}

/// `asked`: these alone; empty: all.
Document LabelsToNodes(const LabelFacts& facts, const std::set<std::string>& asked) {
  Document::List entries;
  for (const auto& [name, exclusive] : facts.known) {
    if (!asked.empty() && !asked.contains(name)) continue;
    Document::List nodes;
    for (const NodeRow& node : facts.nodes) {
      if (LabelFacts::Has(node, name)) nodes.push_back(ToString(node.address));
    }
    if (nodes.empty()) continue;
    entries.push_back(
        Document::Object()
            .Add("key", facts.Label(name))
            .Add("value",
                 Document::Object().Add("nodes", Bare(std::move(nodes))).Add("partitionInfo", facts.Partition(name))));
  }
  return Map("labelsToNodes", std::move(entries), facts.xml);
}

/// Every "labels=NAME" of the query.
std::set<std::string> AskedLabels(const std::string& target) {
  constexpr std::string_view kKey = "labels=";
  std::set<std::string> asked;
  for (size_t at = target.find_first_of("?&"); at != std::string::npos; at = target.find('&', at + 1)) {
    const std::string_view pair = std::string_view(target).substr(at + 1, target.find('&', at + 1) - at - 1);
    if (pair.starts_with(kKey)) asked.insert(http::PercentDecode(pair.substr(kKey.size()), true));
  }
  return asked;
}

using LabelChange = std::variant<m::AddLabels, m::RemoveLabels, m::ReplaceLabels>;

/// ConverterUtils.toNodeIdWithDefaultPort: without a port it is every node of the host.
base::Result<m::NodeAddress> AddressOf(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return m::NodeAddress{text, 0};
  const auto port = config::java::ParseInteger<int32_t>(text.substr(colon + 1));
  if (!port) return base::Error{"Invalid port: " + text.substr(colon + 1)};
  return m::NodeAddress{text.substr(0, colon), *port};
}

/// Adds a node with its labels; it may have one (CommonNodeLabelsManager.checkReplaceLabelsOnNode).
base::Status AddNode(const std::string& node, const std::vector<std::string>& labels, m::ReplaceLabels& change) {
  const base::Result<m::NodeAddress> address = AddressOf(node);
  if (!address.ok()) return address.error();
  if (labels.size() > 1) {
    return base::Error{"java.io.IOException: " + std::to_string(labels.size()) +
                       " labels specified on host=" + address->host +
                       ", please note that we do not support specifying multiple labels on a single host for now."};
  }
  change.nodes.push_back({*address, labels.empty() ? "" : labels.front()});
  return {};
}

base::Result<LabelChange> ReplacementOf(const json& body) {
  m::ReplaceLabels change;
  for (const json& entry : rest::Items(body, "nodeToLabels")) {
    std::vector<std::string> labels;
    for (const json& label : rest::Items(entry, "labels")) {
      if (label.is_string()) labels.push_back(label.get<std::string>());
    }
    if (const base::Status added = AddNode(rest::Text(entry, "nodeId"), labels, change); !added.ok())
      return added.error();
  }
  return LabelChange(std::move(change));
}

LabelChange AdditionOf(const json& body) {
  m::AddLabels change;
  // dao/NodeLabelInfo: what is not said to be exclusive is shared.
  for (const json& label : rest::Items(body, "nodeLabelInfo"))
    change.labels.push_back({rest::Text(label, "name"), rest::Text(label, "exclusivity") == "true"});
  return change;
}

/// `path`: below /ws/v1/cluster. An Error: why Hadoop takes it for a bad request.
base::Result<LabelChange> ChangeOf(const http::Request& request, const std::vector<std::string>& path) {
  const std::set<std::string> asked = AskedLabels(request.target);
  if (path[0] == "remove-node-labels") return LabelChange(m::RemoveLabels{0, {asked.begin(), asked.end()}});
  if (path[0] == "nodes") {
    m::ReplaceLabels change;
    const base::Status added = AddNode(path[1], {asked.begin(), asked.end()}, change);
    return added.ok() ? base::Result<LabelChange>(std::move(change)) : added.error();
  }
  const bool adds = path[0] == "add-node-labels";
  const base::Result<json> body = rest::ParseBody(http::FindHeader(request.headers, "Content-Type"), request.body,
                                                  adds ? "nodeLabelsInfo" : "nodeToLabelsName");
  if (!body.ok()) return base::Error{"java.lang.Exception: " + body.error().message};
  return adds ? AdditionOf(*body) : ReplacementOf(*body);
}

using Refuse = std::function<void(int status, const char* exception, const std::string& why)>;

void ChangeLabels(const http::Request& request, const std::vector<std::string>& path, ResourceManager& manager,
                  const http::Server::Reply& reply, const Refuse& refuse) {
  const std::string user = http::CallerOf(request);
  if (!manager.access().Of(user).IsAdministrator()) {
    const std::string where = path[0] == "nodes" ? "nodes/nodeid/replace-labels" : path[0];
    return refuse(401, "AuthorizationException", "User " + user + " not authorized for post to .../" + where);
  }
  const base::Result<LabelChange> change = ChangeOf(request, path);
  if (!change.ok()) return refuse(400, "BadRequestException", change.error().message);
  if (!manager.core().config().node_labels) {
    return refuse(
        400, "BadRequestException",
        "java.io.IOException: Node-label-based scheduling is disabled. Please check yarn.node-labels.enabled");
  }
  const auto done = [reply, refuse](const m::OuterEffect& effect) {
    if (const auto refused = RefusalOf(effect)) return refuse(400, "BadRequestException", refused->message);
    reply(http::Response{});
  };
  manager.NoteAction(http::ActorOf(request), request.peer, path.back(), {}, "", "");
  std::visit([&](const auto& event) { manager.batches().Ask(event, done); }, *change);
}

}  // namespace

void Web::ClusterLabels(const http::Request& request, const Segments& path, const Reply& reply) {
  const bool of_node = path[0] == "nodes";
  const bool changes =
      of_node ? path[2] == "replace-labels" : !path[0].starts_with("get-") && path[0] != "label-mappings";
  const bool fits = changes ? request.method == "POST" : request.method == "GET" || request.method == "HEAD";
  if (!fits) return reply(Error(request, 405, "WebApplicationException", "The method is not allowed here."));
  if (changes) {
    return ChangeLabels(request, path, manager_, reply,
                        [request, reply](int status, const char* exception, const std::string& why) {
                          reply(Error(request, status, exception, why));
                        });
  }
  LabelFacts facts{manager_.core().labels().known(), {}, http::PrefersXml(request)};
  const std::string& what = path[0];
  if (of_node) {  // nodes/NODE/get-labels
    const Node* node = FindNamed(path[1]);
    const Document labels = node ? LabelsOf(facts, NodeRowOf(*node)) : Document();
    return reply(http::Rendered(request, labels, BareRoot(request, "nodeLabelsInfo")));
  }
  facts.nodes = NodeRows(manager_.core());
  if (what == "get-node-labels") {
    return RenderAside(request, BareRoot(request, "nodeLabelsInfo"), reply,
                       [facts = std::move(facts)] { return AllLabels(facts); });
  }
  if (what == "get-node-to-labels") {
    return RenderAside(request, BareRoot(request, "nodeToLabelsInfo"), reply,
                       [facts = std::move(facts)] { return NodesToLabels(facts); });
  }
  RenderAside(request, BareRoot(request, "labelsToNodesInfo"), reply,
              [facts = std::move(facts), asked = AskedLabels(request.target)] { return LabelsToNodes(facts, asked); });
}

}  // namespace fairlead::process::rm
