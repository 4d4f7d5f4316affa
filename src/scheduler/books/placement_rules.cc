#include "scheduler/books/placement_rules.h"

#include "scheduler/books/queue_names.h"

namespace fairlead::scheduler::native {
namespace {

using Rules = std::vector<model::PlacementRule>;

/// A rule's answer: a queue, "go on", or a refusal.
struct Answer {
  std::string queue;
  model::Refused refused;
};

Answer BadName(const std::string& queue, const base::Error& why) {
  return {{}, {model::Refusal::kBadQueueName, {queue, why.message}, {}, {}}};
}

class Placer {
 public:
  Placer(const PlacementRequest& request, const QueueLookup& lookup) : request_(request), lookup_(lookup) {}

  Answer Ask(const model::PlacementRule& rule) const {
    if (rule.name == "specified") return Specified(rule);
    if (rule.name == "user" || rule.name == "nestedUserQueue") return Under(rule, AsQueuePart(request_.user));
    if (rule.name == "primaryGroup") {
      return request_.groups.empty() ? WithoutGroups() : Under(rule, AsQueuePart(request_.groups.front()));
    }
    if (rule.name == "secondaryGroupExistingQueue") return ByGroup(rule);
    if (rule.name == "default") {
      const std::string name = rule.queue.empty() ? "root.default" : rule.queue;
      const auto full = FullQueueName(name);
      return full ? Allow(rule, full.value()) : BadName(name, full.error());
    }
    return Answer{{}, {model::Refusal::kNotPlaced, {}, {}, {}}};
  }

 private:
  Answer Allow(const model::PlacementRule& rule, const std::string& name) const {
    return rule.create || lookup_.exists(name) ? Answer{name, {}} : Answer{};
  }

  Answer Specified(const model::PlacementRule& rule) const {
    if (request_.queue.empty() || request_.queue == "default") return {};
    const auto full = FullQueueName(request_.queue);
    return full ? Allow(rule, full.value()) : BadName(request_.queue, full.error());
  }

  /// `part` under root, or under the queue that the parent rule gives.
  Answer Under(const model::PlacementRule& rule, const std::string& part) const {
    std::string parent = "root";
    if (!rule.parent.empty()) {
      const Answer above = Ask(rule.parent.front());
      if (above.queue.empty()) return above;
      if (lookup_.leaf(above.queue)) return {};  // a leaf holds no queues
      parent = above.queue;
    }
    const std::string name = parent + "." + part;
    const auto full = FullQueueName(name);
    return full ? Allow(rule, full.value()) : BadName(name, full.error());
  }

  /// Nobody is without a group: they could not be looked up, and another queue than the meant one would be a guess.
  Answer WithoutGroups() const { return {{}, {model::Refusal::kNoGroups, {request_.user}, {}, {}}}; }

  Answer ByGroup(const model::PlacementRule& rule) const {
    if (request_.groups.empty()) return WithoutGroups();
    for (const std::string& group : request_.groups) {
      const Answer answer = Under(rule, AsQueuePart(group));
      if (!answer.queue.empty() && lookup_.configured(answer.queue)) return answer;
    }
    return {};
  }

  const PlacementRequest& request_;
  const QueueLookup& lookup_;
};

Rules DefaultRules(const PlacementDefaults& defaults) {
  Rules rules(1);
  rules[0].name = "specified";
  rules[0].create = defaults.undeclared_queues;
  if (defaults.user_as_default_queue) {
    rules.emplace_back();
    rules.back().name = "user";
    rules.back().create = defaults.undeclared_queues;
  }
  if (!defaults.undeclared_queues || !defaults.user_as_default_queue) {
    rules.emplace_back();
    rules.back().name = "default";
  }
  return rules;
}

}  // namespace

base::Result<std::string, model::Refused> PlaceByRules(const std::optional<Rules>& rules,
                                                       const PlacementDefaults& defaults,
                                                       const PlacementRequest& request, const QueueLookup& lookup) {
  const Placer placer(request, lookup);
  for (const model::PlacementRule& rule : rules ? *rules : DefaultRules(defaults)) {
    const Answer answer = placer.Ask(rule);
    if (answer.refused) return answer.refused;
    if (!answer.queue.empty()) return answer.queue;
  }
  return model::Refused{model::Refusal::kNotPlaced, {}, {}, {}};
}

}  // namespace fairlead::scheduler::native
