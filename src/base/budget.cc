#include "base/budget.h"

namespace fairlead::base {

Error Budget::error() const {
  const auto refused = [&](const std::string& why) {
    return Error{std::string(kind_.name) + " of " + std::to_string(bytes_) + " bytes is refused: " + why};
  };
  switch (spent_) {
    case Spent::kNothing:
      return {};
    case Spent::kBytes:
      return refused("it may have " + std::to_string(kind_.bytes));
    case Spent::kMemory:
      return refused("what it stands for takes more than " + std::to_string(kind_.memory.For(bytes_)) + " bytes");
    case Spent::kNodes:
      return refused("it has more than " + std::to_string(kind_.nodes.For(bytes_)) + " elements");
    case Spent::kWork:
      return refused("reading it takes more than " + std::to_string(kind_.work.For(bytes_)) + " steps");
    case Spent::kDepth:
      return refused("it is nested deeper than " + std::to_string(kind_.depth));
  }
  return {};
}

}  // namespace fairlead::base
