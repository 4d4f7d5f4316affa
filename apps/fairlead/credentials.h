#pragma once

namespace CLI {
class App;
}

namespace fairlead::apps {

void AddCredentials(CLI::App& app, int& exit_code);  // credentials make, credentials list, credentials revoke
void AddJoin(CLI::App& app, int& exit_code);         // join

}  // namespace fairlead::apps
