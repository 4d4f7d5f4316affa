#pragma once

namespace CLI {
class App;
}

namespace fairlead::apps {

/// Adds `sim run`, `sim compare` and `sim migrate`.
void AddSimTraces(CLI::App& sim, int& exit_code);

}  // namespace fairlead::apps
