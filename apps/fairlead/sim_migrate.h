#pragma once

namespace CLI {
class App;
}

namespace fairlead::apps {

/// Adds `sim migrate`.
void AddSimMigrate(CLI::App& sim, int& exit_code);

}  // namespace fairlead::apps
