#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/state.h"
#include "scheduler/hadoop/arithmetic.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/config.h"
#include "scheduler/yarn_capacity/partitions.h"
#include "scheduler/yarn_capacity/shares.h"
#include "scheduler/yarn_capacity/usage.h"

namespace fairlead::scheduler::yarn_capacity {

using hadoop::Arithmetic;

/// Whether a pass keeps to partitions, or gives what an unexclusive one has left to asks without a label.
enum class Mode : uint8_t { kRespect, kIgnore };

/// One user of a leaf (UsersManager.User).
struct User {
  std::string name;
  Usage usage;
  int32_t pending_apps = 0;
  int32_t active_apps = 0;
  float weight = 1;
  Resources limit;            // the last one computed
  std::vector<float> ratios;  // by PartitionId: used / partition
  uint64_t born = 0;          // tells it from one of the same name before it

  int32_t apps() const { return pending_apps + active_apps; }
  FL_STATE(name, usage, pending_apps, active_apps, weight, limit, ratios, born)
};

/// What the limit of a leaf's users depends on besides them.
struct LimitBasis {
  const Arithmetic& calc;
  const Partitions& partitions;
  const Shares& shares;
  const Resources& minimum_allocation;
  const Quirks& quirks;
};

/// The users of a leaf: what they use, which of them are active (have outstanding asks and an activated application),
/// and their limits (UsersManager). Float sums go in Java's orders. O(log users) unless stated.
class Users {
 public:
  void SetLimits(float percent, float factor) {
    percent_ = percent;
    factor_ = factor;
  }
  float percent() const { return percent_; }
  float factor() const { return factor_; }

  const User* Find(const std::string& name) const;
  User* Find(const std::string& name);
  /// Adds one that is not there, with its weight of those last given.
  User& Make(const std::string& name);
  void Remove(const std::string& name);
  /// New weights for all; users not named weigh 1. O(users).
  void SetWeights(const std::map<std::string, float>& weights);
  const std::map<std::string, float>& weights() const { return weights_; }
  /// In Java's order.
  template <class Visit>
  void ForEach(Visit visit) const {
    users_.ForEach([&](const std::string&, const User& user) { visit(user); });
  }

  bool IsActive(const std::string& user) const { return active_.Has(user); }
  /// An application of the user got outstanding asks; has none any more.
  void Activate(const std::string& user, const model::ApplicationId& app);
  void Deactivate(const std::string& user, const model::ApplicationId& app);
  /// Active ones, and those that had only applications without a master when a limit was last computed.
  int32_t active() const { return active_count_ + pending_only_; }

  /// Adds to (or takes from) what the user has of `partition`, whose nodes have `total`.
  User& AddUsed(const std::string& user, const Resources& by, PartitionId partition, const Resources& total,
                const Arithmetic& calc);
  /// Recomputes the ratios of a partition whose nodes have `total`. O(users).
  void UpdateRatios(PartitionId partition, const Resources& total, const Arithmetic& calc);

  /// Limits are computed again.
  void Outdate() { ++version_; }
  uint64_t version() const { return version_; }
  /// getComputedResourceLimitForActiveUsers, ...ForAllUsers.
  Resources LimitForActive(const std::string& user, PartitionId partition, Mode mode, const LimitBasis& basis) {
    return LimitForActive(Find(user), partition, mode, basis);
  }
  /// nullptr: somebody who is not here.
  Resources LimitForActive(User* user, PartitionId partition, Mode mode, const LimitBasis& basis);
  Resources LimitForAll(const std::string& user, PartitionId partition, Mode mode, const LimitBasis& basis);
  FL_STATE(users_, percent_, factor_, weights_, active_, inactive_, apps_, active_usage_, inactive_usage_, ratios_,
           active_count_, pending_only_, active_weight_, all_weight_, version_, births_, computed_)

 private:
  struct Computed {
    bool known = false;
    uint64_t version = 0;
    Resources limit;
    FL_STATE(known, version, limit)
  };
  /// A Java HashSet of names: ever so many at once decide its order.
  struct NameSet {
    std::vector<std::string> names;  // in order of insertion
    uint64_t most = 0;
    bool Has(const std::string& name) const;
    void Add(const std::string& name);
    void Remove(const std::string& name);
    FL_STATE(names, most)
  };

  float WeightOf(const std::string& name) const;
  float SumActiveWeights() const;
  float SumAllWeights() const;
  Usage& TotalOf(const std::string& name) { return active_.Has(name) ? active_usage_ : inactive_usage_; }
  void MoveUsage(const std::string& name, Usage& from, Usage& to);
  float RatioOf(PartitionId partition) const;
  /// Computes the user's ratio again and gives the difference.
  static float UpdateRatio(User& user, PartitionId partition, const Resources& total, const Arithmetic& calc);
  const Resources& Limit(PartitionId partition, Mode mode, bool active, const LimitBasis& basis);
  Resources Compute(PartitionId partition, Mode mode, bool active, const LimitBasis& basis) const;

  hadoop::java::ConcurrentMap<std::string, User> users_;
  float percent_ = 100;
  float factor_ = 1;
  std::map<std::string, float> weights_;
  NameSet active_;
  NameSet inactive_;
  std::map<std::string, std::set<model::ApplicationId>> apps_;  // with outstanding asks
  Usage active_usage_;
  Usage inactive_usage_;
  std::vector<float> ratios_;  // by PartitionId
  int32_t active_count_ = 0;
  int32_t pending_only_ = 0;
  float active_weight_ = 0;
  float all_weight_ = 0;
  uint64_t version_ = 0;
  uint64_t births_ = 0;
  std::array<std::vector<Computed>, 4> computed_;  // by active or all, mode; then by PartitionId
};

}  // namespace fairlead::scheduler::yarn_capacity
