#pragma once

namespace fairlead::nm {

/// Tables of the node agent's store that the core writes (model::nm::Persist) and gets back with model::nm::Started.
inline constexpr char kAppsTable[] = "nm_apps";
inline constexpr char kContainersTable[] = "nm_containers";
inline constexpr char kResourcesTable[] = "nm_resources";
inline constexpr char kSpentTokensTable[] = "nm_spent_tokens";

}  // namespace fairlead::nm
