#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cluster_command.h"

namespace fairlead::apps {

/// What GET apps/ID/when says, by ask, and how well such estimates held.
void PrintWhen(const nlohmann::ordered_json& answer);

/// The same under what the application waits for (`detail`: what GET apps/ID says): one line an ask. Nothing where it
/// waits for nothing, or where nobody can say.
void PrintWhenBeside(Cluster& cluster, const std::string& id, const nlohmann::ordered_json& detail);

}  // namespace fairlead::apps
