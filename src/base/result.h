#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace fairlead::base {

/// What went wrong, for a person: what, why, what to do. `code` is the module's own enum as an int (0: none given).
struct Error {
  std::string message;
  int code = 0;
};

/// A value or an Error, in the shape of C++23's std::expected.
template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    FL_CHECK(ok(), "value() of a failed Result");
    return std::get<0>(state_);
  }
  const T& value() const& {
    FL_CHECK(ok(), "value() of a failed Result");
    return std::get<0>(state_);
  }
  T&& value() && {
    FL_CHECK(ok(), "value() of a failed Result");
    return std::get<0>(std::move(state_));
  }
  const E& error() const {
    FL_CHECK(!ok(), "error() of a good Result");
    return std::get<1>(state_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, E> state_;
};

/// Success or an Error.
template <class E>
class [[nodiscard]] Result<void, E> {
 public:
  Result() = default;
  Result(E error) : error_(std::move(error)) {}
  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const E& error() const {
    FL_CHECK(!ok(), "error() of a good Result");
    return *error_;
  }

 private:
  std::optional<E> error_;
};

using Status = Result<void>;

}  // namespace fairlead::base
