#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "base/ids.h"
#include "base/result.h"

// Identities as YARN spells them at the edges and in logs (org.apache.hadoop.yarn.api.records), and the dense indices
// that cores use inside.

namespace fairlead::model {

struct NodeTag;
struct AppTag;
/// Dense index of a node; given by the core that meets it first (rm), in order of registration, never used again.
using NodeIndex = base::Index<NodeTag>;
/// Dense index of an application, in order of submission, never used again.
using AppIndex = base::Index<AppTag>;

/// application_<cluster timestamp>_<number>, the number with at least four digits.
struct ApplicationId {
  int64_t cluster_timestamp = 0;
  int32_t number = 0;
  FL_FIELDS(cluster_timestamp, number)
  friend auto operator<=>(const ApplicationId&, const ApplicationId&) = default;
};

/// appattempt_<cluster timestamp>_<number>_<attempt with six digits>.
struct ApplicationAttemptId {
  [[no_unique_address]] ApplicationId app;  // the attempt takes what would be padding
  int32_t attempt = 0;
  FL_FIELDS(app, attempt)
  friend auto operator<=>(const ApplicationAttemptId&, const ApplicationAttemptId&) = default;
};

/// container_[e<epoch>_]<cluster timestamp>_<application>_<attempt>_<sequence>. `value` carries the epoch above bit 40.
struct ContainerId {
  ApplicationAttemptId attempt;
  int64_t value = 0;
  int64_t epoch() const { return value >> 40; }
  int64_t sequence() const { return value & ((int64_t{1} << 40) - 1); }
  FL_FIELDS(attempt, value)
  friend auto operator<=>(const ContainerId&, const ContainerId&) = default;
  /// At once, not field by field: a node's heartbeat is mostly ids that are what they were.
  friend bool operator==(const ContainerId& a, const ContainerId& b) {
    const auto differ = [](auto one, auto other) { return static_cast<uint64_t>(one ^ other); };
    return (differ(a.value, b.value) | differ(a.attempt.attempt, b.attempt.attempt) |
            differ(a.attempt.app.number, b.attempt.app.number) |
            differ(a.attempt.app.cluster_timestamp, b.attempt.app.cluster_timestamp)) == 0;
  }
};

// Cores hold and compare hundreds of thousands of them.
static_assert(sizeof(ApplicationAttemptId) == 16 && sizeof(ContainerId) == 24);

std::string ToString(const ApplicationId& id);
std::string ToString(const ApplicationAttemptId& id);
std::string ToString(const ContainerId& id);

base::Result<ApplicationId> ParseApplicationId(std::string_view text);
base::Result<ApplicationAttemptId> ParseApplicationAttemptId(std::string_view text);
base::Result<ContainerId> ParseContainerId(std::string_view text);

}  // namespace fairlead::model

template <>
struct std::hash<fairlead::model::ApplicationId> {
  size_t operator()(const fairlead::model::ApplicationId& id) const noexcept {
    return std::hash<uint64_t>()(static_cast<uint64_t>(id.cluster_timestamp) * 0x9e3779b97f4a7c15 +
                                 static_cast<uint32_t>(id.number));
  }
};
template <>
struct std::hash<fairlead::model::ApplicationAttemptId> {
  size_t operator()(const fairlead::model::ApplicationAttemptId& id) const noexcept {
    return std::hash<fairlead::model::ApplicationId>()(id.app) * 31 + static_cast<uint32_t>(id.attempt);
  }
};
template <>
struct std::hash<fairlead::model::ContainerId> {
  size_t operator()(const fairlead::model::ContainerId& id) const noexcept {
    return std::hash<fairlead::model::ApplicationAttemptId>()(id.attempt) * 0x9e3779b97f4a7c15 +
           static_cast<uint64_t>(id.value);
  }
};
