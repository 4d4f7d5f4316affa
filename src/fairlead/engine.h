#pragma once

// All that a job includes (docs/engine.md):
//
//   #include <fairlead/engine.h>
//   using namespace fairlead;
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

/// The names of the engine that are its users'; what namespace `engine` has besides is its own affair. A Serde for a
/// class of one's own is a specialisation of fairlead::engine::Serde.
namespace fairlead {

using engine::AppendText;
using engine::Arguments;
using engine::BadRows;
using engine::Broadcast;
using engine::Context;
using engine::Counter;
using engine::CsvOptions;
using engine::Dataset;
using engine::JobError;
using engine::Keep;
using engine::Owned;
using engine::ParquetCodec;
using engine::ParquetOptions;
using engine::ParseField;
using engine::Partitions;
using engine::SortDirection;
using engine::TaskError;
using engine::Words;

}  // namespace fairlead
