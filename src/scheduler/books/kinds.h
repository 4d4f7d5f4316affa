#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/state.h"
#include "base/time.h"
#include "model/resources.h"

namespace fairlead::scheduler::native {

/// What containers that do alike have in common.
struct Kind {
  static constexpr size_t kLongestName = 256;
  std::string user;
  std::string name;  // of the application, without digits
  int32_t priority = 0;
  std::array<int64_t, model::Resources::kMaxTypes> size{};
  bool TooLong() const { return user.size() > kLongestName || name.size() > kLongestName; }
  friend auto operator<=>(const Kind&, const Kind&) = default;
  FL_STATE(user, name, priority, size)
};

/// A row for each kind that was heard of: at most kRows, and kRowsPerUser of one user's, who gives up the one of his
/// own that was heard of least recently; with kRows, whoever has it does. O(log rows) where the kind is known,
/// O(rows) where a row is given up.
template <class Row>
class KindRows {
 public:
  static constexpr uint32_t kRows = 4096;
  static constexpr uint32_t kRowsPerUser = 256;

  struct Entry {
    bool known = false;
    Kind kind;
    base::Instant heard;
    Row row;
    FL_STATE(known, kind, heard, row)
  };

  /// Null when nothing is known of the kind.
  const Entry* Find(const Kind& kind) const {
    const auto at = by_kind_.find(kind);
    return at == by_kind_.end() ? nullptr : &entries_[at->second];
  }
  /// The kind's number, heard of now; `made` says whether it has a new row.
  std::pair<uint32_t, bool> Hear(const Kind& kind, base::Instant now) {
    const auto known = by_kind_.find(kind);
    if (known != by_kind_.end()) {
      entries_[known->second].heard = now;
      return {known->second, false};
    }
    const uint32_t at = FreeRow(kind.user);
    Put(at, kind, now, {});
    return {at, true};
  }
  /// Puts a row at a number that it had before; false when the number, the kind or all rows of the user are taken.
  bool PutBack(uint32_t at, const Kind& kind, base::Instant heard, Row row) {
    if (at >= kRows || by_kind_.contains(kind) || CountOf(kind.user) >= kRowsPerUser) return false;
    if (at < entries_.size() && entries_[at].known) return false;
    Put(at, kind, heard, std::move(row));
    return true;
  }

  Row& operator[](uint32_t at) { return entries_[at].row; }
  /// By number, those that are not known, too.
  const std::vector<Entry>& entries() const { return entries_; }
  std::vector<Entry>& entries() { return entries_; }
  size_t size() const { return by_kind_.size(); }

  /// A row a kind, and each where its kind says; else what differs.
  std::string Check() const {
    std::map<std::string, uint32_t> of_user;
    size_t known = 0;
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      if (!entries_[i].known) continue;
      ++known;
      ++of_user[entries_[i].kind.user];
      const auto at = by_kind_.find(entries_[i].kind);
      if (at == by_kind_.end() || at->second != i) return "a row of a kind: its number";
    }
    return known == by_kind_.size() && of_user == of_user_ && known <= kRows ? "" : "rows of kinds";
  }
  FL_STATE(entries_, by_kind_, of_user_)

 private:
  uint32_t CountOf(const std::string& user) const {
    const auto own = of_user_.find(user);
    return own == of_user_.end() ? 0 : own->second;
  }
  void Put(uint32_t at, const Kind& kind, base::Instant heard, Row row) {
    if (entries_.size() <= at) entries_.resize(at + 1);
    entries_[at] = {true, kind, heard, std::move(row)};
    by_kind_.emplace(kind, at);
    ++of_user_[kind.user];
  }
  uint32_t FreeRow(const std::string& user) {
    const bool full = CountOf(user) >= kRowsPerUser;
    if (!full && by_kind_.size() < kRows) {
      const auto free = std::find_if(entries_.begin(), entries_.end(), [](const Entry& one) { return !one.known; });
      return static_cast<uint32_t>(free - entries_.begin());
    }
    uint32_t oldest = UINT32_MAX;
    for (uint32_t i = 0; i < entries_.size(); ++i) {
      if (!entries_[i].known || (full && entries_[i].kind.user != user)) continue;
      if (oldest == UINT32_MAX || entries_[i].heard < entries_[oldest].heard) oldest = i;
    }
    Forget(oldest);
    return oldest;
  }
  void Forget(uint32_t at) {
    const auto user = of_user_.find(entries_[at].kind.user);
    if (--user->second == 0) of_user_.erase(user);
    by_kind_.erase(entries_[at].kind);
    entries_[at] = {};
  }

  std::vector<Entry> entries_;
  std::map<Kind, uint32_t> by_kind_;
  std::map<std::string, uint32_t> of_user_;  // how many rows
};

}  // namespace fairlead::scheduler::native
