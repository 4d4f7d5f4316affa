#include "scheduler/yarn_capacity/users.h"

#include <algorithm>

namespace fairlead::scheduler::yarn_capacity {

namespace java = hadoop::java;

bool Users::NameSet::Has(const std::string& name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void Users::NameSet::Add(const std::string& name) {
  if (Has(name)) return;
  names.push_back(name);
  most = std::max<uint64_t>(most, names.size());
}

void Users::NameSet::Remove(const std::string& name) { std::erase(names, name); }

const User* Users::Find(const std::string& name) const {
  const int32_t slot = users_.Find(name, java::HashOfString(name));
  return slot < 0 ? nullptr : &users_.at(slot);
}
User* Users::Find(const std::string& name) {
  const int32_t slot = users_.Find(name, java::HashOfString(name));
  return slot < 0 ? nullptr : &users_.at(slot);
}

float Users::WeightOf(const std::string& name) const {
  const auto it = weights_.find(name);
  return it == weights_.end() ? 1.0F : it->second;
}

User& Users::Make(const std::string& name) {
  if (User* known = Find(name)) return *known;
  User user;
  user.name = name;
  user.weight = WeightOf(name);
  user.born = ++births_;
  const int32_t slot = users_.Insert(name, java::HashOfString(name), std::move(user));
  all_weight_ = SumAllWeights();
  inactive_.Add(name);
  return users_.at(slot);
}

void Users::Remove(const std::string& name) {
  const int32_t slot = users_.Find(name, java::HashOfString(name));
  if (slot >= 0) users_.Remove(slot);
  active_.Remove(name);
  inactive_.Remove(name);
  active_weight_ = SumActiveWeights();
  all_weight_ = SumAllWeights();
}

float Users::SumActiveWeights() const {
  std::vector<int32_t> hashes;
  for (const std::string& name : active_.names) hashes.push_back(java::HashOfString(name));
  float sum = 0;
  for (const uint32_t i : java::HashOrder(hashes, java::HashCapacity(active_.most))) {
    if (const User* user = Find(active_.names[i])) sum += user->weight;
  }
  return sum;
}

float Users::SumAllWeights() const {
  float sum = 0;
  ForEach([&](const User& user) { sum += user.weight; });
  return sum;
}

void Users::SetWeights(const std::map<std::string, float>& weights) {
  weights_ = weights;
  std::vector<std::string> names;
  ForEach([&](const User& user) { names.push_back(user.name); });
  for (const std::string& name : names) Find(name)->weight = WeightOf(name);
  active_weight_ = SumActiveWeights();
  all_weight_ = SumAllWeights();
  Outdate();
}

void Users::MoveUsage(const std::string& name, Usage& from, Usage& to) {
  const User* user = Find(name);
  if (user == nullptr) return;
  for (PartitionId id{0}; id.value < user->usage.partitions(); ++id.value) {
    if (!user->usage.Exists(id)) continue;
    from.AddUsed(id, -user->usage.used(id));
    to.AddUsed(id, user->usage.used(id));
  }
}

/// UsersManager.activateApplication, updateActiveUsersResourceUsage.
void Users::Activate(const std::string& name, const model::ApplicationId& app) {
  const User* user = Find(name);
  if (user != nullptr && user->active_apps <= 0) return;
  const auto [apps, added] = apps_.try_emplace(name);
  if (added) {
    ++active_count_;
    Outdate();
    Make(name);
    if (inactive_.Has(name)) {
      inactive_.Remove(name);
      active_.Add(name);
      active_weight_ = SumActiveWeights();
      MoveUsage(name, inactive_usage_, active_usage_);
    }
  }
  apps->second.insert(app);
}

/// UsersManager.deactivateApplication, updateNonActiveUsersResourceUsage.
void Users::Deactivate(const std::string& name, const model::ApplicationId& app) {
  const auto apps = apps_.find(name);
  if (apps == apps_.end()) return;
  apps->second.erase(app);
  if (!apps->second.empty()) return;
  apps_.erase(apps);
  --active_count_;
  Outdate();
  if (Find(name) == nullptr || !active_.Has(name)) return;
  active_.Remove(name);
  inactive_.Add(name);
  active_weight_ = SumActiveWeights();
  MoveUsage(name, active_usage_, inactive_usage_);
}

float Users::RatioOf(PartitionId partition) const {
  return partition.value < ratios_.size() ? ratios_[partition.value] : 0.0F;
}

float Users::UpdateRatio(User& user, PartitionId partition, const Resources& total, const Arithmetic& calc) {
  if (user.ratios.size() <= partition.value) user.ratios.resize(partition.value + size_t{1});
  const float ratio = calc.Ratio(user.usage.used(partition), total);
  const float delta = ratio - user.ratios[partition.value];
  user.ratios[partition.value] = ratio;
  return delta;
}

User& Users::AddUsed(const std::string& name, const Resources& by, PartitionId partition, const Resources& total,
                     const Arithmetic& calc) {
  User& user = Make(name);
  user.usage.AddUsed(partition, by);
  TotalOf(name).AddUsed(partition, by);
  Outdate();
  if (ratios_.size() <= partition.value) ratios_.resize(partition.value + size_t{1});
  ratios_[partition.value] += UpdateRatio(user, partition, total, calc);
  return user;
}

void Users::UpdateRatios(PartitionId partition, const Resources& total, const Arithmetic& calc) {
  float sum = 0;
  std::vector<std::string> names;
  ForEach([&](const User& user) { names.push_back(user.name); });
  for (const std::string& name : names) {
    User& user = *Find(name);
    if (user.ratios.size() > partition.value) user.ratios[partition.value] = 0;
    sum += UpdateRatio(user, partition, total, calc);
  }
  if (ratios_.size() <= partition.value) ratios_.resize(partition.value + size_t{1});
  ratios_[partition.value] = sum;
}

/// UsersManager.reComputeUserLimits.
const Resources& Users::Limit(PartitionId partition, Mode mode, bool active, const LimitBasis& basis) {
  std::vector<Computed>& of = computed_[(active ? 0U : 2U) + (mode == Mode::kRespect ? 0U : 1U)];
  if (of.size() <= partition.value) of.resize(partition.value + size_t{1});
  Computed& held = of[partition.value];
  if (held.known && held.version == version_) return held.limit;
  held = {true, version_, Compute(partition, mode, active, basis)};
  pending_only_ = 0;
  ForEach([&](const User& user) { pending_only_ += user.pending_apps > 0 && user.active_apps <= 0 ? 1 : 0; });
  return held.limit;
}

/// UsersManager.computeUserLimit.
Resources Users::Compute(PartitionId partition, Mode mode, bool active, const LimitBasis& basis) const {
  const Arithmetic& calc = basis.calc;
  const Resources& total = basis.partitions.Of(partition);
  const Resources& required = basis.minimum_allocation;
  const Share& share = basis.shares[partition];
  const Resources capacity = calc.Max(total, share.effective_min, required);
  const Resources consumed = calc.MultiplyUp(total, static_cast<double>(RatioOf(partition)), required);
  const Resources current = calc.Less(total, consumed, capacity) ? capacity : consumed + required;
  const Resources used = active ? active_usage_.used(partition) + required : current;
  const float weights = active ? active_weight_ : all_weight_;
  const Resources by_users = calc.DivideAndCeil(used, weights);
  const Resources by_percent =
      calc.DivideAndCeil(hadoop::MultiplyDown(current, static_cast<double>(percent_)), int64_t{100});
  const Resources limit = calc.Max(total, by_users, by_percent);
  Resources most = total;
  if (mode == Mode::kRespect) {
    const bool unlimited = (factor_ == -1.0F && !basis.quirks.factor_may_be_negative) ||
                           (share.effective_min.IsZero() && !basis.quirks.factor_of_nothing_counts);
    most = unlimited ? calc.RoundDown(share.effective_max, required)
                     : hadoop::MultiplyDown(capacity, static_cast<double>(factor_));
  }
  return calc.RoundUp(calc.Min(total, limit, most), required);
}

Resources Users::LimitForActive(User* user, PartitionId partition, Mode mode, const LimitBasis& basis) {
  const Resources& limit = Limit(partition, mode, true, basis);
  const float weight = user == nullptr ? 1.0F : user->weight;
  Resources own = basis.calc.MultiplyDown(limit, static_cast<double>(weight), basis.minimum_allocation);
  if (user != nullptr) user->limit = own;
  return own;
}

Resources Users::LimitForAll(const std::string& name, PartitionId partition, Mode mode, const LimitBasis& basis) {
  const Resources& limit = Limit(partition, mode, false, basis);
  const User* user = Find(name);
  return basis.calc.MultiplyDown(limit, static_cast<double>(user == nullptr ? 1.0F : user->weight),
                                 basis.minimum_allocation);
}

}  // namespace fairlead::scheduler::yarn_capacity
