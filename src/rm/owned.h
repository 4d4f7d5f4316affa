#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace fairlead::rm {

/// What one owner has behind a pointer, as it is rare or must stay where it is: copied with its owner.
template <class T>
class Owned : public std::unique_ptr<T> {
 public:
  Owned() = default;
  // As with a unique_ptr, null and a new one may be given where an Owned is taken.
  Owned(std::nullptr_t) {}                                                   // NOLINT(google-explicit-constructor)
  Owned(std::unique_ptr<T> other) : std::unique_ptr<T>(std::move(other)) {}  // NOLINT(google-explicit-constructor)
  Owned(const Owned& other) : std::unique_ptr<T>(other ? std::make_unique<T>(*other) : nullptr) {}
  Owned(Owned&&) noexcept = default;
  Owned& operator=(Owned other) noexcept {
    this->swap(other);
    return *this;
  }
  ~Owned() = default;
};

}  // namespace fairlead::rm
