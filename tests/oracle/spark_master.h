#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace fairlead::oracle {

/// Replays one recorded scenario of Spark's Standalone master against the spark-standalone profile; gives the first
/// step that differs with both sides, empty when none does. Throws json::exception for a member of the wrong type.
/// Adds to `orders_taken` how often the order of a lost worker's drivers had to be taken from the recording.
std::string ReplaySparkMaster(const nlohmann::json& scenario, int& orders_taken);

}  // namespace fairlead::oracle
