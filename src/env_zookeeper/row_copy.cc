#include "env_zookeeper/row_copy.h"

#include <algorithm>
#include <optional>

#include "base/stored.h"

namespace fairlead::env_zookeeper {

namespace {
constexpr size_t kReadsMax = 256;  // at a time
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
                  if (std::exchange(head_made_, node.made) != node.made) Clear();
                  head_ = *head;
                  LookAtRows();
                }));
}

void RowCopy::Clear() {
  nodes_.clear();
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
  session_->Children(layout_.Rows(), Guard([this](Rc rc, std::vector<std::string> names, int64_t changed) {
                       if (rc != Rc::kOk) return Fail(rc, layout_.Rows() + " cannot be listed");
                       listed_ = changed;
                       std::sort(names.begin(), names.end());
                       Compare(names);
                       Fetch();
                     }));
}

void RowCopy::Compare(const std::vector<std::string>& names) {
  missing_.clear();
  auto held = nodes_.begin();
  for (const std::string& name : names) {
    while (held != nodes_.end() && held->first < name) held = nodes_.erase(held);
    if (held != nodes_.end() && held->first == name) {
      ++held;
    } else {
      missing_.push_back(name);
    }
  }
  nodes_.erase(held, nodes_.end());
}

void RowCopy::Fetch() {
  while (under_way_ < kReadsMax && !missing_.empty()) {
    const std::string name = std::move(missing_.back());
    missing_.pop_back();
    ++under_way_;
    session_->Get(layout_.Row(name), false,
                  Guard([this, name](Rc rc, Node node) { Fetched(name, rc, std::move(node)); }));
  }
  if (under_way_ == 0) End();
}

void RowCopy::Fetched(const std::string& name, Rc rc, Node node) {
  --under_way_;
  if (rc == Rc::kOk) {
    ++fetched_;
    nodes_[name] = std::move(node.value);
  } else {
    rc_ = rc;
    reason_ = layout_.Row(name) + " cannot be read";
    missing_.clear();
    listed_ = 0;
  }
  Fetch();
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
  std::map<std::string, std::string> parts;
  listed_ = 0;
  for (auto& [name, bytes] : std::exchange(nodes_, {})) {
    const std::optional<RowName> parsed = ParseRowName(name);
    if (!parsed) return base::Error{layout_.Row(name) + " is nothing that a resource manager has written"};
    if (parsed->part) {
      parts[name] = std::move(bytes);
      continue;
    }
    const std::optional<uint32_t> count = PartsOf(bytes);
    if (!count) return base::Error{layout_.Row(name) + " is damaged"};
    const RowId id{parsed->table, parsed->key};
    if (!rows.places.try_emplace(id, RowPlace{parsed->version, *count}).second) {
      return base::Error{layout_.Row(name) + " is there in two versions"};
    }
    rows.values[id] = *count == 0 ? bytes.substr(1) : "";
  }
  for (const auto& [id, place] : rows.places) {
    for (uint32_t i = 0; i < place.parts; ++i) {
      const auto part = parts.find(ToString(RowName{id.first, id.second, place.version, i}));
      if (part == parts.end()) return base::Error{"row " + id.second + " of " + id.first + " misses a part"};
      rows.values[id] += part->second;
      parts.erase(part);
    }
  }
  for (const auto& [name, bytes] : parts) rows.leftovers.push_back(name);
  if (rows.places.size() != rows.head.rows) {
    return base::Error{layout_.Rows() + " has " + std::to_string(rows.places.size()) + " rows where " +
                       std::to_string(rows.head.rows) + " were committed"};
  }
  return rows;
}

}  // namespace fairlead::env_zookeeper
