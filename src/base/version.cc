#include "base/version.h"

namespace fairlead::base {

const char* Version() { return FAIRLEAD_VERSION; }

}  // namespace fairlead::base
