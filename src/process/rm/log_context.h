#pragma once

#include <optional>
#include <string_view>

#include "wire/yarn/records.h"

namespace fairlead::process::rm {

/// What a submission (an encoded ApplicationSubmissionContextProto that was taken) wants of its logs; nodes learn it
/// from the tokens of containers. Nothing else of it is decoded. O(fields).
std::optional<wire::yarn::LogAggregationContextProto> LogContextOf(std::string_view submission);

}  // namespace fairlead::process::rm
