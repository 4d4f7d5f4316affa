#pragma once

// What a job of the engine includes, from this tree and from an installed Fairlead (docs/engine.md).

#include "engine/api/engine.h"
