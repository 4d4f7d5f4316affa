#include "env_zookeeper/row_copy.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/stored.h"
#include "base/text.h"

namespace fairlead::env_zookeeper {

namespace {
constexpr size_t kReadsMax = 256;  // at a time
// A writer that dies leaves the parts of one batch, which are a few.
constexpr size_t kLeftoversMax = 1000;
}  // namespace

// ---- Updating -----------------------------------------------------------------------------------------------------

void RowCopy::Update(Done done) {
  next_.push_back(std::move(done));
  if (current_.empty()) Begin();
}

void RowCopy::Begin() {
  std::swap(current_, next_);
  fetched_ = 0;
  rc_ = Rc::kOk;
  session_->Get(layout_.Head(), true, Guard([this](Rc rc, const Node& node) {
                  if (rc != Rc::kOk) return Fail(rc, layout_.Head() + " cannot be read");
                  const base::Result<Head> head = base::DecodeStored<Head>(node.value);
                  if (!head.ok()) return Fail(Rc::kOther, layout_.Head() + " is damaged: " + head.error().message);
                  if (head_times_.made != node.made) Clear();
                  head_ = *head;
                  head_times_ = {node.made, node.changed};
                  LookAtRows();
                }));
}

void RowCopy::Clear() {
  nodes_.clear();
  names_.clear();
  listed_ = 0;
}

void RowCopy::LookAtRows() {
  if (listed_ == 0) return List();
  session_->Get(layout_.Rows(), false, Guard([this](Rc rc, const Node& rows) {
                  if (rc != Rc::kOk) return Fail(rc, layout_.Rows() + " cannot be read");
                  rows.children_changed == listed_ ? End() : List();
                }));
}

void RowCopy::List() {
  session_->Children(layout_.Rows(), Guard([this](Rc rc, const std::vector<std::string>& names, int64_t changed) {
                       if (rc != Rc::kOk) return Fail(rc, layout_.Rows() + " cannot be listed");
                       listed_ = changed;
                       Know(names);
                       Choose();
                     }));
}

void RowCopy::Know(const std::vector<std::string>& names) {
  std::map<std::string, Listed> listed;
  for (const std::string& name : names) {
    const auto known = names_.find(name);
    Listed one = known != names_.end() ? std::move(known->second) : Listed{ParseRowName(name), 0};
    // Of a transaction since /head was read, or nobody's: which of them the next look at /head tells.
    if (one.IsRow() && one.row->version > head_.version) listed_ = 0;
    listed.emplace_hint(listed.end(), name, std::move(one));
  }
  names_ = std::move(listed);
}

// No more are read than were committed: what strangers have put there costs a look at each.
void RowCopy::Choose() {
  std::vector<RowNode> rows;
  missing_.clear();
  for (const auto& [name, listed] : names_) {
    if (!listed.IsRow() || listed.row->version > head_.version) continue;
    rows.push_back({name, listed.row->version, listed.made});
    if (listed.made == 0) missing_.push_back(name);
  }
  if (rows.size() <= head_.rows) return FetchRows(rows);
  if (!missing_.empty()) {
    const auto look = [this](const std::string& path, Answer done) { session_->Look(path, std::move(done)); };
    const auto know = [this](const std::string& name, Rc rc, const Node& node) {
      if (rc == Rc::kOk) names_[name].made = node.made;
      if (rc == Rc::kNoNode) names_.erase(name);  // strangers come and go
      return rc == Rc::kOk || rc == Rc::kNoNode;
    };
    return Each(look, know, [this] { Choose(); });
  }
  rows = MayBeOurs(std::move(rows), head_.rows, head_.version, head_times_);
  if (rows.size() <= head_.rows) return FetchRows(rows);
  Fail(Rc::kOther, layout_.Rows() + " has " + std::to_string(rows.size()) + " rows where " +
                       std::to_string(head_.rows) + " were committed, and nothing tells which these are");
}

void RowCopy::FetchRows(const std::vector<RowNode>& rows) {
  auto held = std::make_shared<Nodes>(std::exchange(nodes_, {}));
  missing_.clear();
  for (const RowNode& row : rows) {
    if (auto kept = held->extract(row.name)) {
      nodes_.insert(std::move(kept));
    } else {
      missing_.push_back(row.name);
    }
  }
  Fetch([this, held] { FetchParts(*held); });
}

// Those that a row says it has.
void RowCopy::FetchParts(Nodes& held) {
  missing_.clear();
  for (const auto& [name, listed] : names_) {
    if (!listed.row || !listed.row->part) continue;
    const RowName row{listed.row->table, listed.row->key, listed.row->version, std::nullopt};
    const auto whole = nodes_.find(ToString(row));
    if (whole == nodes_.end() || PartsOf(whole->second).value_or(0) <= *listed.row->part) continue;
    if (auto kept = held.extract(name)) {
      nodes_.insert(std::move(kept));
    } else {
      missing_.push_back(name);
    }
  }
  Fetch([this] { End(); });
}

void RowCopy::Fetch(std::function<void()> then) {
  const auto get = [this](const std::string& path, Answer done) { session_->Get(path, false, std::move(done)); };
  const auto take = [this](const std::string& name, Rc rc, const Node& node) {
    if (rc != Rc::kOk) return false;
    ++fetched_;
    names_[name].made = node.made;
    nodes_[name] = node.value;
    return true;
  };
  Each(get, take, std::move(then));
}

// ---- Of each name that is missing ---------------------------------------------------------------------------------

void RowCopy::Each(Ask ask, Use use, std::function<void()> then) {
  ask_ = std::move(ask);
  use_ = std::move(use);
  then_ = std::move(then);
  AskMore();
}

void RowCopy::AskMore() {
  while (under_way_ < kReadsMax && !missing_.empty()) {
    const std::string name = std::move(missing_.back());
    missing_.pop_back();
    ++under_way_;
    ask_(layout_.Row(name), Guard([this, name](Rc rc, const Node& node) { Answered(name, rc, node); }));
  }
  if (under_way_ > 0) return;
  if (rc_ != Rc::kOk) return End();
  std::exchange(then_, nullptr)();
}

void RowCopy::Answered(const std::string& name, Rc rc, const Node& node) {
  --under_way_;
  if (!use_(name, rc, node)) {
    rc_ = rc;
    reason_ = layout_.Row(name) + " cannot be read";
    missing_.clear();
    listed_ = 0;
  }
  AskMore();
}

void RowCopy::Fail(Rc rc, const std::string& reason) {
  rc_ = rc;
  reason_ = reason;
  End();
}

void RowCopy::End() {
  const std::vector<Done> waited = std::exchange(current_, {});
  const Rc rc = rc_;
  const std::string reason = rc == Rc::kOk ? "" : reason_;
  const env::Alive::Watch alive = alive_.watch();
  for (const Done& done : waited) {
    done(rc, reason);
    if (!alive) return;
  }
  if (current_.empty() && !next_.empty()) Begin();
}

// ---- What is there ------------------------------------------------------------------------------------------------

std::optional<std::string> RowCopy::Find(const std::string& table, const std::string& key) const {
  const std::string first = ToString(RowName{table, key, 0, {}});
  const std::string row = first.substr(0, first.rfind(',') + 1);
  std::optional<std::string> found;
  uint64_t version = 0;
  for (auto at = nodes_.lower_bound(row); at != nodes_.end() && at->first.starts_with(row); ++at) {
    const std::optional<RowName> name = ParseRowName(at->first);
    if (!name || name->part || name->version < version) continue;
    version = name->version;
    found = PartsOf(at->second) == 0U ? std::optional(at->second.substr(1)) : std::nullopt;
  }
  return found;
}

base::Result<LoadedRows> RowCopy::Take() {
  LoadedRows rows;
  rows.head = head_;
  listed_ = 0;
  Nodes nodes = std::exchange(nodes_, {});
  for (const auto& [name, listed] : names_) {
    if (!nodes.contains(name)) LeaveOut(name, listed, rows);
  }
  for (auto& [name, bytes] : nodes) {
    const RowName& row = *names_[name].row;
    if (row.part) continue;
    const std::optional<uint32_t> count = PartsOf(bytes);
    if (!count) return base::Error{layout_.Row(name) + " is damaged"};
    const RowId id{row.table, row.key};
    if (!rows.places.try_emplace(id, RowPlace{row.version, *count}).second) {
      return base::Error{layout_.Row(name) + " is there in two versions"};
    }
    rows.values[id] = *count == 0 ? bytes.substr(1) : "";
  }
  for (const auto& [id, place] : rows.places) {
    for (uint32_t i = 0; i < place.parts; ++i) {
      const auto part = nodes.find(ToString(RowName{id.first, id.second, place.version, i}));
      if (part == nodes.end()) return base::Error{"row " + id.second + " of " + id.first + " misses a part"};
      rows.values[id] += part->second;
    }
  }
  if (rows.places.size() != rows.head.rows) {
    const char* rows_that = rows.foreign.count > 0 ? " rows that agree with each other where " : " rows where ";
    return base::Error{layout_.Rows() + " has " + std::to_string(rows.places.size()) + rows_that +
                       std::to_string(rows.head.rows) + " were committed"};
  }
  return rows;
}

void RowCopy::LeaveOut(const std::string& name, const Listed& listed, LoadedRows& rows) const {
  const bool ahead = listed.row && listed.row->version > head_.version;
  const bool in_the_way = (ahead || (listed.row && listed.row->part)) && rows.leftovers.size() < kLeftoversMax;
  if (ahead) rows.taken.insert(listed.row->version);
  if (in_the_way) rows.leftovers.push_back(name);
  if (in_the_way && listed.row->part) return;
  if (rows.foreign.count++ == 0) rows.foreign.first = base::VisibleText(name.substr(0, env::kRowNameShown));
}

}  // namespace fairlead::env_zookeeper
