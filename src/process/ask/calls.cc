#include "process/ask/calls.h"

#include "model/rejection.h"

namespace fairlead::process::ask {

namespace {

std::string WordsOf(const model::Refused& refused) {
  using enum model::Refusal;
  if (refused.why == kAboveMaximum && refused.sizes.size() > 1) {
    return "a container of " + model::ToString(refused.sizes[0]) + " is larger than any may be, " +
           model::ToString(refused.sizes[1]);
  }
  return model::RejectionText(refused);
}

}  // namespace

uint64_t Calls::TokenFor(const std::string& what) {
  changes_.emplace(++last_, what);
  return last_;
}

void Calls::Refused(uint64_t token, const model::Refused& refused) {
  if (const auto who = changes_.find(token); who != changes_.end()) Refuse(who->second, refused);
}

void Calls::Refuse(const std::string& what, const model::Refused& refused) {
  if (first_.empty()) first_ = what + " is refused: " + WordsOf(refused);
}

base::Status Calls::status() const {
  if (first_.empty()) return {};
  return base::Error{first_};
}

}  // namespace fairlead::process::ask
