#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace fairlead::oracle {

/// Replays a scenario of the TDW model (order of grants, victims, what each pool has and waits for, what each node
/// uses, what is told to sessions) in profile `tdw` and compares; empty when all agree, else the first step that
/// differs, both sides.
///
/// The steps between two rounds are one batch, and the profile runs a round at the end of every batch
/// (round-interval-ms 0), so rounds come where the scenario has them.
std::string ReplayTdw(const nlohmann::json& scenario, const std::vector<nlohmann::json>& expected);

}  // namespace fairlead::oracle
