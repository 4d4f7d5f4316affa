#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/records/serde.h"

// What becomes of a record that outlives the push in which it came: results, values being folded, keys of a sample. A
// std::string_view in it would point into bytes that are gone by then, so the kept form owns them: std::string for
// std::string_view, the same for the parts of pairs, tuples, arrays, vectors and optionals, Owned<T> for a struct.

/// Let clang see that a result refers to an argument or to *this, and that a class only points to what it is made of.
#if defined(__clang__)
#define FL_LIFETIME_BOUND [[clang::lifetimebound]]
#define FL_POINTER_CLASS [[gsl::Pointer(char)]]
#else
#define FL_LIFETIME_BOUND
#define FL_POINTER_CLASS
#endif

namespace fairlead::engine {

/// A record with views and the bytes to which they point. Read it as through a pointer: `row->name`, `*row`; what that
/// gives lives as long as the Owned does.
template <class T>
class Owned {
 public:
  Owned() = default;
  explicit Owned(const T& record) {
    thread_local Buffer scratch;
    scratch.Clear();
    Serde<T>::Write(scratch, record);
    bytes_ = std::make_unique_for_overwrite<char[]>(scratch.size());
    if (!scratch.empty()) std::memcpy(bytes_.get(), scratch.data(), scratch.size());
    Cursor in({bytes_.get(), scratch.size()});
    Serde<T>::Read(in, record_);
  }
  Owned(const Owned& other) : Owned(other.record_) {}
  Owned(Owned&& other) noexcept : bytes_(std::move(other.bytes_)), record_(std::exchange(other.record_, T{})) {}
  Owned& operator=(Owned other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(record_, other.record_);
    return *this;
  }
  ~Owned() = default;

  const T& operator*() const& FL_LIFETIME_BOUND { return record_; }
  const T& operator*() && = delete;  // the bytes would be gone with the end of the statement
  const T* operator->() const FL_LIFETIME_BOUND { return &record_; }

  friend bool operator==(const Owned& a, const Owned& b)
    requires std::equality_comparable<T>
  {
    return a.record_ == b.record_;
  }
  friend bool operator<(const Owned& a, const Owned& b)
    requires requires(const T& v) { v < v; }
  {
    return a.record_ < b.record_;
  }

 private:
  std::unique_ptr<char[]> bytes_;
  T record_{};
};

/// The bytes of an Owned<T> are those of its T.
template <class T>
struct Serde<Owned<T>> {
  static constexpr size_t kFixed = Serde<T>::kFixed;
  static constexpr bool kHoldsViews = false;
  static void Write(Buffer& out, const Owned<T>& v) { Serde<T>::Write(out, *v); }
  static bool Read(Cursor& in, Owned<T>& v) {
    T record{};
    if (!Serde<T>::Read(in, record)) return false;
    v = Owned<T>(record);
    return true;
  }
};

/// Type keeps a T; From(record) makes it, View(kept) gives the record back, whose views point into `kept`.
template <class T>
struct StoredOf {
  using Type = Owned<T>;
  static Type From(const T& v) { return Type(v); }
  static const T& View(const Type& v FL_LIFETIME_BOUND) { return *v; }
};
template <class T>
using Stored = typename StoredOf<T>::Type;

/// The form of a record that a program may keep, from the record.
template <class T>
Stored<T> Keep(const T& record) {
  return StoredOf<T>::From(record);
}

template <class T>
  requires(!Serde<T>::kHoldsViews)
struct StoredOf<T> {
  using Type = T;
  static const T& From(const T& v FL_LIFETIME_BOUND) { return v; }
  static const T& View(const T& v FL_LIFETIME_BOUND) { return v; }
};

template <>
struct StoredOf<std::string_view> {
  using Type = std::string;
  static std::string From(std::string_view v) { return std::string(v); }
  static std::string_view View(const std::string& v FL_LIFETIME_BOUND) { return v; }
};

template <class A, class B>
  requires(Serde<std::pair<A, B>>::kHoldsViews)
struct StoredOf<std::pair<A, B>> {
  using Type = std::pair<Stored<A>, Stored<B>>;
  static Type From(const std::pair<A, B>& v) { return {StoredOf<A>::From(v.first), StoredOf<B>::From(v.second)}; }
  static std::pair<A, B> View(const Type& v) { return {StoredOf<A>::View(v.first), StoredOf<B>::View(v.second)}; }
};

template <class... T>
  requires(Serde<std::tuple<T...>>::kHoldsViews)
struct StoredOf<std::tuple<T...>> {
  using Type = std::tuple<Stored<T>...>;
  static Type From(const std::tuple<T...>& v) {
    return std::apply([](const T&... field) { return Type(StoredOf<T>::From(field)...); }, v);
  }
  static std::tuple<T...> View(const Type& v) {
    return std::apply([](const Stored<T>&... field) { return std::tuple<T...>(StoredOf<T>::View(field)...); }, v);
  }
};

template <class T, size_t N>
  requires(Serde<T>::kHoldsViews)
struct StoredOf<std::array<T, N>> {
  using Type = std::array<Stored<T>, N>;
  static Type From(const std::array<T, N>& v) {
    Type out;
    for (size_t i = 0; i < N; ++i) out[i] = StoredOf<T>::From(v[i]);
    return out;
  }
  static std::array<T, N> View(const Type& v) {
    std::array<T, N> out;
    for (size_t i = 0; i < N; ++i) out[i] = StoredOf<T>::View(v[i]);
    return out;
  }
};

template <class T>
  requires(Serde<T>::kHoldsViews)
struct StoredOf<std::vector<T>> {
  using Type = std::vector<Stored<T>>;
  static Type From(const std::vector<T>& v) {
    Type out;
    out.reserve(v.size());
    for (const T& item : v) out.push_back(StoredOf<T>::From(item));
    return out;
  }
  static std::vector<T> View(const Type& v) {
    std::vector<T> out;
    out.reserve(v.size());
    for (const Stored<T>& item : v) out.push_back(StoredOf<T>::View(item));
    return out;
  }
};

template <class T>
  requires(Serde<T>::kHoldsViews)
struct StoredOf<std::optional<T>> {
  using Type = std::optional<Stored<T>>;
  static Type From(const std::optional<T>& v) { return v ? Type(StoredOf<T>::From(*v)) : Type(); }
  static std::optional<T> View(const Type& v) { return v ? std::optional<T>(StoredOf<T>::View(*v)) : std::nullopt; }
};

/// A function that takes what is kept as it is kept: a std::string where the record is a std::string_view.
template <class F, class T>
inline constexpr bool kFoldsKept = std::is_invocable_r_v<Stored<T>, const F&, const Stored<T>&, const T&>;
/// A user's function that folds two records into one.
template <class F, class T>
inline constexpr bool kFolds = kFoldsKept<F, T> || std::is_invocable_r_v<T, const F&, const T&, const T&>;

/// kept = f(kept, record). What f gives may have views into either, so it is copied before `kept` is written over.
template <class T, class F>
void FoldInto(Stored<T>& kept, const F& f, const T& record) {
  if constexpr (kFoldsKept<F, T>) {
    kept = Stored<T>(f(kept, record));
  } else {
    kept = StoredOf<T>::From(f(StoredOf<T>::View(kept), record));
  }
}

}  // namespace fairlead::engine
