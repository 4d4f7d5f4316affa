#pragma once

namespace fairlead::base {

/// Fairlead's own version: "0.1.0".
const char* Version();

}  // namespace fairlead::base
