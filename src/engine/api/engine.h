#pragma once

// All a job needs (docs/engine.md):
//
//   #include "engine/api/engine.h"
//   using namespace fairlead::engine;
//
//   void Count(Context& context, const Arguments& arguments) {
//     context.Text(arguments.at(0))
//         .FlatMap([](std::string_view line) { return Words(line); })
//         .Map([](std::string_view word) { return std::pair(word, int64_t{1}); })
//         .ReduceByKey([](int64_t a, int64_t b) { return a + b; })
//         .SaveText(arguments.at(1));
//   }
//   FAIRLEAD_JOB(Count)

#include "engine/api/context.h"
#include "engine/api/main.h"
#include "engine/records/errors.h"
#include "engine/records/text.h"
