#include "scheduler/tdw/session_ranks.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace fairlead::scheduler::tdw {
namespace {

constexpr uint32_t kStep = 1 << 12;

}  // namespace

bool SessionRanks::Name::operator<(const Name& other) const {
  if (start != other.start) return start < other.start;
  return id != other.id && model::ToString(id) < model::ToString(other.id);
}

bool SessionRanks::Enter(base::WallTime start, const model::ApplicationId& id) {
  const auto [at, fresh] = ranks_.try_emplace({start.ms, id}, 0);
  if (!fresh) return false;
  const uint32_t before = at == ranks_.begin() ? 0 : std::prev(at)->second;
  const uint32_t room = (std::next(at) == ranks_.end() ? UINT32_MAX : std::next(at)->second) - before;
  at->second = before + std::min(kStep, room / 2);
  if (room >= 2) return false;
  Renumber();
  return true;
}

void SessionRanks::Renumber() {
  const auto step = static_cast<uint32_t>(UINT32_MAX / 2 / ranks_.size());
  uint32_t rank = 0;
  for (auto& [name, number] : ranks_) number = rank += std::min(kStep, step);
}

}  // namespace fairlead::scheduler::tdw
