#pragma once

namespace CLI {
class App;
}

// Commands for the resource managers themselves; as those of commands.h.

namespace fairlead::apps {

void AddHa(CLI::App& app, int& exit_code);     // ha transfer
void AddState(CLI::App& app, int& exit_code);  // state backup, state restore

}  // namespace fairlead::apps
