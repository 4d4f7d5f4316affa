#include <set>
#include <utility>

#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// /ws/v1/cluster/get-node-labels, get-node-to-labels, label-mappings and nodes/NODE/get-labels (dao/NodeLabelsInfo,
// NodeToLabelsInfo, LabelsToNodesInfo). JAXB's older form: every value is a text, and a list of one is bare.

namespace fairlead::process::rm {

using endpoints::rest::Document;

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

}  // namespace

void Web::ClusterLabels(const http::Request& request, const Segments& path, const Reply& reply) {
  LabelFacts facts{manager_.core().labels().known(), {}, http::PrefersXml(request)};
  const std::string& what = path[0];
  if (what == "nodes") {  // nodes/NODE/get-labels
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
