#pragma once

namespace CLI {
class App;
}

namespace fairlead::apps {

/// Adds `sim run` and `sim compare`.
void AddSimTraces(CLI::App& sim, int& exit_code);

}  // namespace fairlead::apps
