#include "wire/json/json.h"

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::wire::json {
namespace {

// What a value takes in memory, with the room that a growing array or object has in reserve, and the allocator's own.
constexpr size_t kValueBytes = 48;
constexpr size_t kTextBytes = 48;
constexpr size_t kContainerBytes = 192;
constexpr size_t kMemberBytes = 160;

template <class Json>
using Members = std::vector<std::pair<std::string, Json>>;

// An object is made of its members at its end: nlohmann's ordered one looks through all that it has before it adds one,
// and copies them where it grows.

nlohmann::json ObjectOf(Members<nlohmann::json>& members) {
  nlohmann::json::object_t object;
  for (auto& [name, value] : members) object[std::move(name)] = std::move(value);
  return object;
}

nlohmann::ordered_json ObjectOf(Members<nlohmann::ordered_json>& members) {
  std::vector<size_t> by_name(members.size());
  std::iota(by_name.begin(), by_name.end(), 0);
  std::ranges::stable_sort(by_name, {}, [&](size_t i) -> const std::string& { return members[i].first; });
  std::vector<bool> repeated(members.size());
  size_t first = 0;  // of those of one name
  for (size_t i = 1; i < by_name.size(); ++i) {
    if (members[by_name[i]].first != members[by_name[first]].first) {
      first = i;
      continue;
    }
    members[by_name[first]].second = std::move(members[by_name[i]].second);
    repeated[by_name[i]] = true;
  }
  nlohmann::ordered_json::object_t object;
  object.reserve(members.size());
  for (size_t i = 0; i < members.size(); ++i) {
    if (!repeated[i]) object.emplace_back(std::move(members[i].first), std::move(members[i].second));
  }
  return object;
}

/// Makes the value from the parser's calls.
template <class Json>
class Builder {
 public:
  explicit Builder(base::Budget& budget) : budget_(budget) {}

  bool null() { return Charge(kValueBytes) && Add(nullptr); }
  bool boolean(bool value) { return Charge(kValueBytes) && Add(value); }
  bool number_integer(int64_t value) { return Charge(kValueBytes) && Add(value); }
  bool number_unsigned(uint64_t value) { return Charge(kValueBytes) && Add(value); }
  bool number_float(double value, const std::string& /*text*/) { return Charge(kValueBytes) && Add(value); }
  bool string(std::string& value) { return Charge(kValueBytes + kTextBytes + value.size()) && Add(std::move(value)); }
  bool binary(typename Json::binary_t& /*value*/) { return false; }  // not in a text
  bool start_object(size_t /*size*/) { return Open(true); }
  bool start_array(size_t /*size*/) { return Open(false); }
  bool key(std::string& name) {
    open_.back().name = std::move(name);
    return budget_.Memory(kMemberBytes + open_.back().name.size());
  }
  bool end_object() { return Close(ObjectOf(open_.back().members)); }
  bool end_array() { return Close(std::move(open_.back().items)); }
  bool parse_error(size_t at, const std::string& /*last*/, const nlohmann::json::exception& /*why*/) {
    wrong_at_ = at;
    return false;
  }

  Json& root() { return root_; }
  /// Where the text is no JSON.
  size_t wrong_at() const { return wrong_at_; }

 private:
  /// An object or array that has not ended.
  struct Container {
    Container(base::Budget& budget, bool object) : level(budget), is_object(object) {}
    const base::Budget::Level level;
    const bool is_object;
    std::string name;  // of the member whose value comes next
    Members<Json> members;
    typename Json::array_t items;
  };

  bool Charge(size_t bytes) { return budget_.Node() && budget_.Memory(bytes); }
  bool Open(bool is_object) { return Charge(kContainerBytes) && open_.emplace_back(budget_, is_object).level.ok(); }
  bool Close(Json whole) {
    open_.pop_back();
    return Add(std::move(whole));
  }
  bool Add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Container& in = open_.back(); in.is_object) {
      in.members.emplace_back(std::move(in.name), std::move(value));
    } else {
      in.items.push_back(std::move(value));
    }
    return true;
  }

  base::Budget& budget_;
  Json root_;
  std::deque<Container> open_;  // the outermost first
  size_t wrong_at_ = 0;
};

template <class Json>
base::Result<Json> ParseAs(std::string_view text, const base::BudgetKind& kind) {
  base::Budget budget(kind, text.size());
  if (!budget.ok()) return budget.error();
  Builder<Json> builder(budget);
  if (Json::sax_parse(text.begin(), text.end(), &builder)) return std::move(builder.root());
  if (!budget.ok()) return budget.error();
  const auto wrong = text.begin() + static_cast<ptrdiff_t>(std::min(builder.wrong_at(), text.size()));
  return base::Error{"no JSON: wrong at byte " + std::to_string(builder.wrong_at()) + ", line " +
                     std::to_string(1 + std::count(text.begin(), wrong, '\n'))};
}

}  // namespace

base::Result<nlohmann::json> Parse(std::string_view text, const base::BudgetKind& kind) {
  return ParseAs<nlohmann::json>(text, kind);
}

base::Result<nlohmann::ordered_json> ParseOrdered(std::string_view text, const base::BudgetKind& kind) {
  return ParseAs<nlohmann::ordered_json>(text, kind);
}

}  // namespace fairlead::wire::json
