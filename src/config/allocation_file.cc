#include "config/allocation_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <pugixml.hpp>
#include <set>

#include "base/did_you_mean.h"
#include "base/text.h"
#include "config/hadoop_conf.h"
#include "config/line_counter.h"
#include "model/resources.h"
#include "wire/xml/xml.h"

namespace fairlead::config {
namespace {

using model::PlacementRule;
using model::QueueConfig;

constexpr int kMostDepth = 100;

bool SameIgnoringCase(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

bool IsElement(const pugi::xml_node& node) { return node.type() == pugi::node_element; }

// What may have been meant by an element that is not known; older names of the same are left out.
const std::vector<std::string> kTopElements = {"queue",
                                               "user",
                                               "group",
                                               "queuePlacementPolicy",
                                               "defaultQueueSchedulingPolicy",
                                               "userMaxAppsDefault",
                                               "userMaxResourcesDefault",
                                               "queueMaxAppsDefault",
                                               "queueMaxResourcesDefault",
                                               "queueMaxAMShareDefault",
                                               "defaultFairSharePreemptionTimeout",
                                               "defaultMinSharePreemptionTimeout",
                                               "defaultFairSharePreemptionThreshold"};
const std::vector<std::string> kLimitElements = {"maxRunningApps", "maxResources"};
const std::vector<std::string> kQueueElements = {"queue",
                                                 "minResources",
                                                 "maxResources",
                                                 "maxChildResources",
                                                 "maxContainerAllocation",
                                                 "maxRunningApps",
                                                 "maxAMShare",
                                                 "weight",
                                                 "minSharePreemptionTimeout",
                                                 "fairSharePreemptionTimeout",
                                                 "fairSharePreemptionThreshold",
                                                 "schedulingPolicy",
                                                 "priority",
                                                 "startTime",
                                                 "reservation",
                                                 "allowPreemptionFrom",
                                                 "aclSubmitApps",
                                                 "aclAdministerApps"};

/// What else is wrong with the file is left out, of warnings and of errors.
constexpr size_t kWarningsMax = 200;

/// Reads all elements, also after an error: whoever mends the file learns of everything at once.
class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : text_(text), file_(file), lines_(text) {}

  base::Result<AllocationFile> Parse();

 private:
  using Node = pugi::xml_node;

  bool failed() const { return !errors_.empty(); }
  base::Error Errors();
  void Fail(size_t offset, const std::string& what, AllocationFault fault = AllocationFault::kConfiguration);
  void Fail(const Node& node, const std::string& what, AllocationFault fault = AllocationFault::kConfiguration) {
    Fail(OffsetOf(node), what, fault);
  }
  void Warn(const Node& node, const std::string& what);
  void WarnOfUnknown(const Node& node, const std::string& where, const std::vector<std::string>& known);
  std::string Place(size_t offset);
  static size_t OffsetOf(const Node& node) { return static_cast<size_t>(std::max<ptrdiff_t>(node.offset_debug(), 0)); }

  std::optional<std::string> RawText(const Node& node);
  std::optional<std::string> Text(const Node& node);
  std::optional<int32_t> Int(const Node& node);
  std::optional<base::Duration> Seconds(const Node& node);
  std::optional<double> Float(const Node& node, double least, double most);
  std::optional<double> Weight(const Node& node);
  template <class T>
  std::optional<T> Number(const Node& node, const char* example);
  std::optional<model::ConfiguredResources> Amount(const Node& node, int64_t unnamed);
  std::optional<std::string> Policy(const Node& node);

  void Top(const Node& node);
  void UserLimits(const Node& node, std::map<std::string, int32_t>& applications,
                  std::map<std::string, model::ConfiguredResources>& resources);
  void Queues();
  void Queue(const std::string& parent, const Node& node, int depth);
  bool Setting(QueueConfig& queue, const Node& field);
  bool AccessSetting(QueueConfig& queue, const Node& field);
  std::optional<std::string> QueueName(const std::string& parent, const Node& node);
  QueueConfig& Entry(const std::string& name);

  std::optional<model::AccessList> Access(const Node& node);

  void Placement(const Node& node);
  std::optional<PlacementRule> Rule(const Node& node);
  std::optional<PlacementRule> WholeRule(const Node& node);
  static Node InnerRule(const Node& rule);
  std::optional<PlacementRule> ParentRule(const Node& parent);
  bool CheckRule(const Node& node, const PlacementRule& rule);
  static bool Terminal(const PlacementRule& rule);

  std::string_view text_;
  std::string_view file_;
  LineCounter lines_;
  AllocationFile result_;
  std::map<size_t, std::string> errors_;  // by their offsets in the file
  AllocationFault first_fault_ = AllocationFault::kXml;
  std::vector<Node> queue_nodes_;
  std::map<std::string, size_t> index_;
  std::optional<base::Duration> old_fair_share_timeout_;
};

void Parser::Warn(const Node& node, const std::string& what) {
  if (result_.warnings.size() > kWarningsMax) return;
  const bool last = result_.warnings.size() == kWarningsMax;
  result_.warnings.push_back(Place(OffsetOf(node)) + (last ? "and more like these" : what));
}

void Parser::WarnOfUnknown(const Node& node, const std::string& where, const std::vector<std::string>& known) {
  if (result_.warnings.size() > kWarningsMax) return;  // before anything is looked for
  Warn(node, "<" + std::string(node.name()) + "> is not known" + where + " and ignored" +
                 base::DidYouMean(node.name(), known));
}

std::string Parser::Place(size_t offset) {
  const auto [line, column] = lines_.At(offset);
  return std::string(file_) + ":" + std::to_string(line) + ":" + std::to_string(column) + ": ";
}

void Parser::Fail(size_t offset, const std::string& what, AllocationFault fault) {
  if (errors_.empty()) first_fault_ = fault;
  if (errors_.size() > kWarningsMax) return;
  const bool last = errors_.size() == kWarningsMax;
  errors_.emplace(offset, Place(offset) + (last ? "and more like these" : what));
}

/// A line each; what Hadoop would throw is what it comes to first.
base::Error Parser::Errors() {
  std::string text;
  for (const auto& [offset, line] : errors_) text += (text.empty() ? "" : "\n") + line;
  return {text, static_cast<int>(first_fault_)};
}

/// ((Text) element.getFirstChild()).getData().
std::optional<std::string> Parser::RawText(const Node& node) {
  for (const Node& child : node.children()) {
    if (child.type() == pugi::node_comment) continue;
    if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) return child.value();
    break;
  }
  Fail(node, std::string("<") + node.name() + "> has no text; write a value or leave the element out",
       AllocationFault::kEmptyElement);
  return std::nullopt;
}

std::optional<std::string> Parser::Text(const Node& node) {
  const std::optional<std::string> raw = RawText(node);
  if (!raw) return std::nullopt;
  return std::string(base::Trimmed(*raw));
}

template <class T>
std::optional<T> Parser::Number(const Node& node, const char* example) {
  const std::optional<std::string> text = Text(node);
  if (!text) return std::nullopt;
  std::string_view digits = *text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  if constexpr (std::is_floating_point_v<T>) {
    if (!digits.empty() && std::string_view("fFdD").find(digits.back()) != std::string_view::npos)
      digits.remove_suffix(1);
  }
  T value{};
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size() || digits.empty()) {
    Fail(node, std::string("<") + node.name() + "> is '" + *text + "'; write a number such as " + example,
         AllocationFault::kNumber);
    return std::nullopt;
  }
  return value;
}

std::optional<int32_t> Parser::Int(const Node& node) { return Number<int32_t>(node, "50"); }

std::optional<base::Duration> Parser::Seconds(const Node& node) {
  const std::optional<int64_t> seconds = Number<int64_t>(node, "60 (seconds)");
  if (!seconds) return std::nullopt;
  constexpr int64_t kMost = INT64_MAX / 1'000'000'000;
  return base::Duration::Seconds(std::clamp<int64_t>(*seconds, -kMost, kMost));
}

std::optional<double> Parser::Float(const Node& node, double least, double most) {
  const std::optional<float> value = Number<float>(node, "0.5");
  if (!value) return std::nullopt;
  if (*value != *value) {
    Fail(node, std::string("<") + node.name() + "> is not a number; write a number such as 0.5",
         AllocationFault::kNumber);
    return std::nullopt;
  }
  return std::max(std::min<double>(*value, most), least);
}

std::optional<double> Parser::Weight(const Node& node) {
  const std::optional<double> weight = Number<double>(node, "2.0");
  if (weight && !std::isfinite(*weight)) {
    Fail(node, "<weight> is not finite; write a number such as 2.0", AllocationFault::kNumber);
    return std::nullopt;
  }
  if (weight && *weight < 0) Warn(node, "<weight> is negative: the queue is served last");
  return weight;
}

std::optional<model::ConfiguredResources> Parser::Amount(const Node& node, int64_t unnamed) {
  const std::optional<std::string> text = Text(node);
  if (!text) return std::nullopt;
  base::Result<model::ConfiguredResources> amount = ParseConfiguredResources(*text, unnamed);
  if (amount) return *amount;
  Fail(node, std::string("<") + node.name() + "> is '" + *text + "': " + amount.error().message +
                 "; write '1024 mb, 1 vcores', '50%', '50% memory, 30% cpu', 'memory-mb=1024, vcores=1' or "
                 "'memory-mb=50%, vcores=30%'");
  return std::nullopt;
}

/// SchedulingPolicy.parse, the class names of Hadoop's own three included.
std::optional<std::string> Parser::Policy(const Node& node) {
  const std::optional<std::string> text = Text(node);
  if (!text) return std::nullopt;
  const std::string package = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fair.policies.";
  for (const auto& [name, type] : {std::pair{"fair", "FairSharePolicy"}, std::pair{"fifo", "FifoPolicy"},
                                   std::pair{"drf", "DominantResourceFairnessPolicy"}}) {
    if (SameIgnoringCase(*text, name) || *text == package + type) return name;
  }
  Fail(node, "no scheduling policy '" + *text + "'; write fair, drf or fifo");
  return std::nullopt;
}

base::Result<AllocationFile> Parser::Parse() {
  pugi::xml_document document;
  const auto loaded =
      wire::xml::Load(document, text_, wire::xml::kFile,
                      pugi::parse_default | pugi::parse_ws_pcdata | pugi::parse_comments, pugi::encoding_utf8);
  if (!loaded) {
    const wire::xml::Fault& fault = loaded.error();
    if (fault.too_large) {
      Fail(0, fault.message + "; split it or check what was written");
    } else {
      Fail(fault.at, "not well-formed XML (" + fault.message + "); correct the element at this place",
           AllocationFault::kXml);
    }
    return Errors();
  }
  const Node root = document.document_element();
  if (std::string_view(root.name()) != "allocations") {
    Fail(root, std::string("the top element is <") + root.name() + ">; write <allocations>");
    return Errors();
  }
  for (const Node& node : root.children()) {
    if (IsElement(node)) Top(node);
  }
  if (old_fair_share_timeout_ && !result_.tree.default_fair_share_preemption_timeout) {
    result_.tree.default_fair_share_preemption_timeout = old_fair_share_timeout_;
  }
  Queues();
  if (failed()) return Errors();
  return std::move(result_);
}

void Parser::Top(const Node& node) {
  const std::string_view tag = node.name();
  model::QueueTree& tree = result_.tree;
  if (tag == "queue" || tag == "pool") {
    queue_nodes_.push_back(node);
  } else if (tag == "user") {
    UserLimits(node, tree.user_max_apps, tree.user_max_resources);
  } else if (tag == "group") {
    UserLimits(node, tree.group_max_apps, tree.group_max_resources);
  } else if (tag == "queuePlacementPolicy") {
    Placement(node);
  } else if (tag == "defaultQueueSchedulingPolicy" || tag == "defaultQueueSchedulingMode") {
    tree.default_policy = Policy(node);
    if (tree.default_policy == "fifo")
      Fail(node, std::string("<") + node.name() + "> can't be fifo; write fair or drf");
  } else if (tag == "userMaxAppsDefault") {
    tree.user_max_apps_default = Int(node);
  } else if (tag == "userMaxResourcesDefault") {
    tree.user_max_resources_default = Amount(node, INT64_MAX);
  } else if (tag == "queueMaxAppsDefault") {
    tree.queue_max_apps_default = Int(node);
  } else if (tag == "queueMaxResourcesDefault") {
    tree.queue_max_resources_default = Amount(node, INT64_MAX);
  } else if (tag == "queueMaxAMShareDefault") {
    tree.queue_max_am_share_default = Float(node, -1e300, 1.0);
  } else if (tag == "defaultFairSharePreemptionTimeout") {
    tree.default_fair_share_preemption_timeout = Seconds(node);
  } else if (tag == "fairSharePreemptionTimeout") {
    old_fair_share_timeout_ = Seconds(node);
  } else if (tag == "defaultMinSharePreemptionTimeout") {
    tree.default_min_share_preemption_timeout = Seconds(node);
  } else if (tag == "defaultFairSharePreemptionThreshold") {
    tree.default_fair_share_preemption_threshold = Float(node, 0.0, 1.0);
  } else if (tag.starts_with("reservation-")) {
    Warn(node, "<" + std::string(tag) + "> has no effect: nothing is planned ahead");
  } else {
    WarnOfUnknown(node, "", kTopElements);
  }
}

void Parser::UserLimits(const Node& node, std::map<std::string, int32_t>& applications,
                        std::map<std::string, model::ConfiguredResources>& resources) {
  const std::string name = node.attribute("name").value();
  for (const Node& field : node.children()) {
    if (!IsElement(field)) continue;
    const std::string_view tag = field.name();
    if (tag == "maxRunningApps") {
      if (const std::optional<int32_t> most = Int(field)) applications[name] = *most;
    } else if (tag == "maxResources") {
      if (const std::optional<model::ConfiguredResources> most = Amount(field, INT64_MAX)) resources[name] = *most;
    } else {
      WarnOfUnknown(field, std::string(" in a ") + node.name(), kLimitElements);
    }
  }
}

void Parser::Queues() {
  for (const Node& node : queue_nodes_) {
    const bool is_root = SameIgnoringCase(node.attribute("name").value(), "root");
    if (is_root && queue_nodes_.size() > 1) {
      Fail(node, "queues stand beside the root queue; write them inside <queue name=\"root\">");
    }
    Queue(is_root ? "" : "root", node, 0);
  }
}

std::optional<std::string> Parser::QueueName(const std::string& parent, const Node& node) {
  const std::string name(base::Trimmed(node.attribute("name").value()));
  if (name.find('.') != std::string::npos) {
    Fail(node, "queue name '" + name + "' has a period; write nested <queue> elements instead");
    return std::nullopt;
  }
  if (name.empty()) {
    Fail(node, "a queue has no name; write <queue name=\"...\">");
    return std::nullopt;
  }
  return parent.empty() ? name : parent + "." + name;
}

QueueConfig& Parser::Entry(const std::string& name) {
  const auto [it, added] = index_.try_emplace(name, result_.tree.queues.size());
  if (added) {
    result_.tree.queues.emplace_back();
    result_.tree.queues.back().name = name;
  }
  return result_.tree.queues[it->second];
}

/// AllocationFileQueueParser.loadQueue.
void Parser::Queue(const std::string& parent, const Node& node, int depth) {
  if (depth > kMostDepth) return Fail(node, "queues are nested deeper than 100; write a flatter tree");
  // What is inside one without a name is read for what is wrong there: nothing comes of this file.
  const std::string name = QueueName(parent, node).value_or(parent + ".?");
  if (index_.contains(name)) Warn(node, "queue " + name + " is written twice; what is written last counts");
  Entry(name);
  bool has_children = false;
  for (const Node& field : node.children()) {
    if (!IsElement(field)) continue;
    const std::string_view tag = field.name();
    if (tag == "pool" || std::string_view("queue").ends_with(tag)) {
      has_children = true;
      Queue(name, field, depth + 1);
    } else if (!Setting(Entry(name), field)) {
      WarnOfUnknown(field, " in a queue", kQueueElements);
    }
  }
  QueueConfig& queue = Entry(name);
  if (!has_children && std::string_view(node.attribute("type").value()) != "parent") return;
  queue.parent_type = true;
  const std::string where =
      "queue " + name + " is a parent (it has queues inside or type=\"parent\") and cannot have <";
  if (queue.reservable) Fail(node, where + "reservation>; leave that out");
  if (queue.max_am_share) Fail(node, where + "maxAMShare>; write it in its leaf queues");
}

bool Parser::Setting(QueueConfig& queue, const Node& field) {
  const std::string_view tag = field.name();
  if (tag == "minResources") {
    queue.min_resources = Amount(field, 0);
  } else if (tag == "maxResources") {
    queue.max_resources = Amount(field, INT64_MAX);
  } else if (tag == "maxChildResources") {
    queue.max_child_resources = Amount(field, INT64_MAX);
  } else if (tag == "maxContainerAllocation") {
    queue.max_container_allocation = Amount(field, INT64_MAX);
  } else if (tag == "maxRunningApps") {
    queue.max_running_apps = Int(field);
  } else if (tag == "maxAMShare") {
    queue.max_am_share = Float(field, -1e300, 1.0);
  } else if (tag == "weight") {
    queue.weight = Weight(field);
  } else if (tag == "minSharePreemptionTimeout") {
    queue.min_share_preemption_timeout = Seconds(field);
  } else if (tag == "fairSharePreemptionTimeout") {
    queue.fair_share_preemption_timeout = Seconds(field);
  } else if (tag == "fairSharePreemptionThreshold") {
    queue.fair_share_preemption_threshold = Float(field, 0.0, 1.0);
  } else if (tag == "schedulingPolicy" || tag == "schedulingMode") {
    queue.policy = Policy(field);
  } else if (tag == "priority") {
    queue.priority = Int(field);
  } else if (tag == "startTime") {
    queue.start_time = Number<int64_t>(field, "1700000000000 (milliseconds since 1970)");
  } else if (tag == "reservation") {
    queue.reservable = true;
  } else if (tag == "allowPreemptionFrom") {
    if (!SameIgnoringCase(Text(field).value_or(""), "true")) queue.allow_preemption_from = false;
  } else {
    return AccessSetting(queue, field);
  }
  return true;
}

bool Parser::AccessSetting(QueueConfig& queue, const Node& field) {
  const std::string_view tag = field.name();
  if (tag == "aclSubmitApps") {
    queue.submit_acl = Access(field);
  } else if (tag == "aclAdministerApps") {
    queue.administer_acl = Access(field);
  } else if (tag == "aclAdministerReservations" || tag == "aclListReservations" || tag == "aclSubmitReservations") {
    queue.reservation_acl = Access(field);
  } else {
    return false;
  }
  return true;
}

std::optional<model::AccessList> Parser::Access(const Node& node) {
  const std::optional<std::string> text = RawText(node);
  if (!text) return std::nullopt;
  return ParseAccessList(*text);
}

/// QueuePlacementPolicy.fromXml and updateRuleSet.
void Parser::Placement(const Node& node) {
  if (node.first_child().empty()) return Fail(node, "<queuePlacementPolicy> is empty; write <rule> elements");
  std::vector<PlacementRule> rules;
  std::vector<Node> nodes;
  for (const Node& child : node.children()) {
    if (!IsElement(child)) continue;
    if (SameIgnoringCase(child.name(), "rule")) {
      nodes.push_back(child);
    } else {
      WarnOfUnknown(child, " in <queuePlacementPolicy>", {"rule"});
    }
  }
  for (const Node& child : nodes) {
    if (std::optional<PlacementRule> rule = WholeRule(child)) rules.push_back(std::move(*rule));
  }
  if (rules.empty() || rules.size() < nodes.size()) return;
  for (size_t i = 0; i + 1 < rules.size(); ++i) {
    if (Terminal(rules[i])) {
      return Fail(nodes[i + 1], "rules after rule " + std::to_string(i + 1) +
                                    " can never be reached; move that rule to the end or give it create=\"false\"");
    }
  }
  if (!Terminal(rules.back())) {
    return Fail(nodes.back(),
                "the last rule may pass an application on; end with <rule name=\"default\"/> or "
                "<rule name=\"reject\"/>");
  }
  result_.tree.placement = std::move(rules);
}

/// With the rule inside it; nothing when one of them is wrong.
std::optional<PlacementRule> Parser::WholeRule(const Node& node) {
  std::optional<PlacementRule> rule = Rule(node);
  if (!rule) return std::nullopt;
  if (const Node inside = InnerRule(node)) {
    std::optional<PlacementRule> parent = ParentRule(inside);
    if (!parent) return std::nullopt;
    rule->parent.push_back(std::move(*parent));
  }
  if (!CheckRule(node, *rule)) return std::nullopt;
  return rule;
}

std::optional<PlacementRule> Parser::Rule(const Node& node) {
  static const std::set<std::string> kNames = {
      "user", "primaryGroup", "secondaryGroupExistingQueue", "specified", "nestedUserQueue", "default", "reject"};
  PlacementRule rule;
  rule.name = node.attribute("name").value();
  if (!kNames.contains(rule.name)) {
    Fail(node, "no placement rule '" + rule.name +
                   "'; write specified, user, primaryGroup, "
                   "secondaryGroupExistingQueue, nestedUserQueue, default or reject");
    return std::nullopt;
  }
  const std::string_view create = node.attribute("create").value();
  rule.create = create.empty() || SameIgnoringCase(create, "true");
  if (rule.name == "default") rule.queue = node.attribute("queue").value();
  return rule;
}

/// The last <rule> inside counts, as in Hadoop; empty: there is none.
pugi::xml_node Parser::InnerRule(const Node& rule) {
  Node parent;
  for (const Node& child : rule.children()) {
    if (IsElement(child) && SameIgnoringCase(child.name(), "rule")) parent = child;
  }
  return parent;
}

std::optional<PlacementRule> Parser::ParentRule(const Node& parent) {
  const std::string_view name = parent.attribute("name").value();
  if (name == "reject" || name == "nestedUserQueue") {
    Fail(parent, "rule '" + std::string(name) +
                     "' is not allowed inside another rule; write primaryGroup, specified "
                     "or default there");
    return std::nullopt;
  }
  return Rule(parent);
}

/// FSPlacementRule.initialize of the rules: which take a rule inside, and which.
bool Parser::CheckRule(const Node& node, const PlacementRule& rule) {
  const auto fail = [&](const std::string& what) { return Fail(node, "rule '" + rule.name + "' " + what), false; };
  if (rule.parent.empty()) {
    return rule.name != "nestedUserQueue" || fail("needs a rule inside; write <rule name=\"primaryGroup\"/> there");
  }
  if (rule.name == "specified" || rule.name == "default" || rule.name == "reject") {
    return fail("takes no rule inside; leave that out");
  }
  const bool user_in_user =
      rule.parent.front().name == "user" && (rule.name == "user" || rule.name == "nestedUserQueue");
  if (rule.parent.front().name != rule.name && !user_in_user) return true;
  return fail("stands inside a rule of its own kind; write another rule there");
}

bool Parser::Terminal(const PlacementRule& rule) {
  const auto own = [](const PlacementRule& r) {
    if (r.name == "reject") return true;
    if (r.name == "specified" || r.name == "secondaryGroupExistingQueue") return false;
    return r.create;
  };
  return own(rule) && (rule.parent.empty() || own(rule.parent.front()));
}

}  // namespace

base::Result<AllocationFile> ParseAllocationFile(std::string_view text, std::string_view file) {
  return Parser(text, file).Parse();
}

}  // namespace fairlead::config
