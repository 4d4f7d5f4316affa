#pragma once

namespace CLI {
class App;
}

namespace fairlead::apps {

/// Adds `sim stages`.
void AddSimStages(CLI::App& sim, int& exit_code);

}  // namespace fairlead::apps
