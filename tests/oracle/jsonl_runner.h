#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace fairlead::oracle {

/// Replays one recorded scenario: what differs, empty when nothing does.
using Replay = std::function<std::string(const nlohmann::json& scenario)>;

/// The main of a runner over recordings with one scenario per line: NAME DIR [--version V] reads every *.jsonl and
/// *.jsonl.xz under DIR, takes the scenarios whose member "spark" is V (all without --version), prints what differs,
/// and ends with "N passed, N failed", before it what `note` has to say of the whole run, if anything. Fails for what
/// cannot be read and when no scenario was found.
int RunJsonlOracle(int argc, char** argv, const std::string& name, const Replay& replay,
                   const std::function<std::string()>& note = nullptr);

}  // namespace fairlead::oracle
