#include "scenario/script.h"

// Lines that begin with "expect".

namespace fairlead::scenario {
namespace {

base::Status Unmet(const std::string& got) { return base::Error{got, kUnmet}; }

/// "4", "at least 4" or "at most 4".
struct Bound {
  int64_t low = 0;
  int64_t high = 0;

  static Bound Read(Words& words) {
    const bool at = words.Take("at");
    const bool least = at && words.Take("least");
    if (at && !least) words.Need("most");
    const int64_t count = words.Count("a number");
    return {at && !least ? 0 : count, least ? INT64_MAX : count};
  }
  base::Status Check(int64_t got) const {
    if (got >= low && got <= high) return {};
    return Unmet(std::to_string(got));
  }
};

base::Status ExpectAmount(Words& words, const model::Resources& got) {
  const model::Resources wanted = words.Amount();
  if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
  if (wanted == got) return {};
  return Unmet(TextOf(got));
}

base::Status ExpectText(Words& words, const std::string& got) {
  const std::string wanted = words.Next("a name");
  if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
  if (wanted == got) return {};
  return Unmet(got);
}

}  // namespace

base::Status Script::Expect(Words& words) {
  const std::string name = words.Next("a node, an application or a queue");
  if (cluster_->HasApp(name)) return ExpectOfApp(name, words);
  if (cluster_->HasNode(name)) return ExpectOfNode(name, words);
  return ExpectOfQueue(name, words);
}

base::Status Script::ExpectOfApp(const std::string& name, Words& words) {
  if (words.Take("waits")) return ExpectWaits(name, words);
  if (words.Take("uses")) return ExpectAmount(words, cluster_->ViewOf(name).used);
  if (words.Take("is")) {
    if (words.Take("in")) return ExpectText(words, cluster_->ViewOf(name).queue);
    words.Need("refused");
    if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
    return cluster_->refused(name) ? base::Status() : Unmet("it was not");
  }
  const bool runs = words.Take("runs");
  const bool lost = !runs && words.Take("lost");
  if (!runs && !lost) {
    for (const char* word : {"was", "warned", "of"}) words.Need(word);
  }
  const Bound bound = Bound::Read(words);
  const std::string node = words.Take("on") ? NodeName(words) : "";
  int64_t priority = -1;
  if (words.Take("at")) {
    words.Need("priority");
    priority = words.Count("a priority");
  }
  if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
  int64_t got = 0;
  for (const Cluster::Container& one : cluster_->containers()) {
    if (one.app != name || (!node.empty() && one.node != node)) continue;
    if (priority >= 0 && one.priority != priority) continue;
    const bool counts = runs ? !one.ended && !one.master : lost ? one.taken_back : one.warned;
    if (counts) ++got;
  }
  return bound.Check(got);
}

base::Status Script::ExpectWaits(const std::string& name, Words& words) {
  if (words.Take("for")) {
    const Bound bound = words.Take("nothing") ? Bound{} : Bound::Read(words);
    if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
    return bound.Check(cluster_->waiting(name));
  }
  words.Need("because");
  const std::string reason = words.Next("a reason (docs/scheduler.md)");
  if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
  const std::set<std::string> reasons = cluster_->reasons(name);
  if (reasons.contains(reason)) return {};
  std::string all;
  for (const std::string& one : reasons) all += (all.empty() ? "" : ", ") + one;
  return Unmet(all.empty() ? "nothing waits" : all);
}

base::Status Script::ExpectOfNode(const std::string& name, Words& words) {
  if (words.Take("runs")) {
    const Bound bound = Bound::Read(words);
    if (const base::Status wrong = Wrong(words); !wrong.ok()) return wrong;
    int64_t got = 0;
    for (const Cluster::Container& one : cluster_->containers()) {
      if (one.node == name && !one.ended) ++got;
    }
    return bound.Check(got);
  }
  words.Need("is");
  words.Need("reserved");
  words.Need("for");
  const std::string got = cluster_->reserved(name);
  return ExpectText(words, got.empty() ? "nobody" : got);
}

base::Status Script::ExpectOfQueue(const std::string& name, Words& words) {
  for (const scheduler::QueueView& queue : cluster_->scheduler().GetView().queues) {
    if (queue.name != name) continue;
    if (words.Take("uses")) return ExpectAmount(words, queue.used);
    words.Need("share");
    return ExpectAmount(words, queue.fair_share);
  }
  return base::Error{"there is no node, application or queue " + name};
}

}  // namespace fairlead::scenario
