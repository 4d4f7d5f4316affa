#include "wire/yaml/yaml.h"

#include <yaml-cpp/eventhandler.h>

#include <deque>
#include <map>
#include <sstream>
#include <utility>

namespace fairlead::wire::yaml {
namespace {

/// What yaml-cpp keeps of a node, its place among its siblings included.
constexpr size_t kNodeBytes = 512;

/// Ends yaml-cpp's walk; caught below.
struct Refused {
  YAML::Mark mark;
  const char* why = nullptr;  // else the budget says it
};

/// Charges a budget for what the parser tells, and throws Refused.
class Charging : public YAML::EventHandler {
 public:
  explicit Charging(base::Budget& budget) : budget_(budget) {}

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { Leaf(mark, anchor, 0); }
  void OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                const std::string& value) override {
    Leaf(mark, anchor, value.size());
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) throw Refused{mark, "an alias stands inside of what it stands for"};
    Charge(mark, found->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(mark, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(mark, anchor);
  }
  void OnMapEnd() override { Close(); }

 private:
  /// What a value is with all aliases in it written out.
  struct Size {
    size_t nodes = 0;
    size_t bytes = 0;
    size_t depth = 0;  // values within it
  };
  struct Container {
    Container(base::Budget& budget, YAML::anchor_t at) : level(budget), anchor(at) {}
    const base::Budget::Level level;
    const YAML::anchor_t anchor;
    Size size{1, kNodeBytes, 1};
  };

  void Leaf(const YAML::Mark& mark, YAML::anchor_t anchor, size_t bytes) {
    const Size size{1, kNodeBytes + bytes, 0};
    if (anchor != YAML::NullAnchor) anchored_[anchor] = size;
    Charge(mark, size);
  }
  void Charge(const YAML::Mark& mark, const Size& size) {
    bool within = budget_.Memory(size.bytes);
    for (size_t i = 0; within && i < size.nodes; ++i) within = budget_.Node();
    std::deque<base::Budget::Level> below;
    for (size_t i = 0; within && i < size.depth; ++i) within = below.emplace_back(budget_).ok();
    if (!within) throw Refused{mark};
    AddToOpen(size);
  }
  void Open(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (!budget_.Node() || !budget_.Memory(kNodeBytes)) throw Refused{mark};
    if (!open_.emplace_back(budget_, anchor).level.ok()) throw Refused{mark};
  }
  void Close() {
    const Size size = open_.back().size;
    const YAML::anchor_t anchor = open_.back().anchor;
    open_.pop_back();
    if (anchor != YAML::NullAnchor) anchored_[anchor] = size;
    AddToOpen(size);
  }
  void AddToOpen(const Size& size) {
    if (open_.empty()) return;
    Size& whole = open_.back().size;
    whole.nodes += size.nodes;
    whole.bytes += size.bytes;
    whole.depth = std::max(whole.depth, size.depth + 1);
  }

  base::Budget& budget_;
  std::deque<Container> open_;               // the outermost first
  std::map<YAML::anchor_t, Size> anchored_;  // that have ended
};

}  // namespace

base::Result<YAML::Node, Fault> Load(std::string_view text, const base::BudgetKind& kind) {
  base::Budget budget(kind, text.size());
  const auto too_large = [&](const YAML::Mark& mark) { return Fault{budget.error().message, mark, true}; };
  if (!budget.ok()) return too_large({});
  try {  // yaml-cpp reports by exception; it ends here
    std::istringstream in{std::string(text)};
    Charging charging(budget);
    YAML::Parser(in).HandleNextDocument(charging);
    return YAML::Load(std::string(text));
  } catch (const Refused& refused) {
    if (refused.why == nullptr) return too_large(refused.mark);
    return Fault{refused.why, refused.mark, false};
  } catch (const YAML::Exception& wrong) {
    return Fault{"not well-formed YAML: " + wrong.msg, wrong.mark, false};
  }
}

}  // namespace fairlead::wire::yaml
