#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "shell/nm/errand.h"

namespace fairlead::shell {

/// Whether YARN unpacks a file of this name (FSDownload.unpack: .jar .zip .tar .tgz .tar.gz, any case).
bool IsArchiveName(const std::string& name);

/// Unpacks the open file `archive` below the open directory `into`. Entries whose name or link target would leave the
/// directory, and entries that are no file, directory or link, are refused, and with them the archive. `wanted` (if
/// given) chooses entries by name.
base::Status Unpack(int archive, int into, const LocalizerLimits& limits,
                    const std::function<bool(const std::string& name)>& wanted = nullptr);

}  // namespace fairlead::shell
