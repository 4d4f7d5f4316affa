#pragma once

namespace CLI {
class App;
}

namespace fairlead::apps {

/// Adds `sim drivers`.
void AddSimDrivers(CLI::App& sim, int& exit_code);

}  // namespace fairlead::apps
