#include "scheduler/hadoop/java.h"

#include <algorithm>

namespace fairlead::scheduler::hadoop::java {
namespace {

/// Takes one code point of UTF-8 off the front; a broken byte counts as itself.
uint32_t TakeCodePoint(std::string_view& text) {
  const auto first = static_cast<uint8_t>(text.front());
  const size_t length = first < 0x80 ? 1 : first >> 5 == 6 ? 2 : first >> 4 == 14 ? 3 : first >> 3 == 30 ? 4 : 1;
  if (length == 1 || text.size() < length) {
    text.remove_prefix(1);
    return first;
  }
  uint32_t point = first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) point = point << 6 | (static_cast<uint8_t>(text[i]) & 0x3f);
  text.remove_prefix(length);
  return point;
}

/// Calls unit(x) for each UTF-16 code unit.
template <class Unit>
void ForEachUnit(std::string_view text, Unit unit) {
  while (!text.empty()) {
    const uint32_t point = TakeCodePoint(text);
    if (point < 0x10000) {
      unit(point);
    } else {
      unit(0xd800 + ((point - 0x10000) >> 10));
      unit(0xdc00 + ((point - 0x10000) & 0x3ff));
    }
  }
}

/// The red-black tree of java.util.TreeMap over positions 0 .. n-1 (Cormen et al., Introduction to Algorithms), as
/// arrays.
class RedBlackTree {
 public:
  static constexpr int32_t kNil = -1;

  explicit RedBlackTree(uint32_t n) : left_(n, kNil), right_(n, kNil), parent_(n, kNil), black_(n, true) {}

  void Insert(int32_t x, const std::function<int(uint32_t, uint32_t)>& compare) {
    if (root_ == kNil) {
      root_ = x;
      return;
    }
    int32_t at = root_;
    int order = 0;
    int32_t parent = kNil;
    while (at != kNil) {
      parent = at;
      order = compare(static_cast<uint32_t>(x), static_cast<uint32_t>(at));
      if (order == 0) return;
      at = order < 0 ? left_[at] : right_[at];
    }
    parent_[x] = parent;
    (order < 0 ? left_ : right_)[parent] = x;
    FixAfterInsertion(x);
  }

  std::vector<uint32_t> InOrder() const {
    std::vector<uint32_t> order;
    std::vector<int32_t> path;
    int32_t at = root_;
    while (at != kNil || !path.empty()) {
      while (at != kNil) {
        path.push_back(at);
        at = left_[at];
      }
      at = path.back();
      path.pop_back();
      order.push_back(static_cast<uint32_t>(at));
      at = right_[at];
    }
    return order;
  }

 private:
  int32_t Parent(int32_t x) const { return x == kNil ? kNil : parent_[x]; }
  int32_t Left(int32_t x) const { return x == kNil ? kNil : left_[x]; }
  int32_t Right(int32_t x) const { return x == kNil ? kNil : right_[x]; }
  bool Black(int32_t x) const { return x == kNil || black_[x]; }
  void Paint(int32_t x, bool black) {
    if (x != kNil) black_[x] = black;
  }

  /// Turns x down to the `down` side; its child of the other side takes its place.
  void Rotate(int32_t x, bool to_left) {
    if (x == kNil) return;
    std::vector<int32_t>& near = to_left ? left_ : right_;
    std::vector<int32_t>& far = to_left ? right_ : left_;
    const int32_t up = far[x];
    far[x] = near[up];
    if (near[up] != kNil) parent_[near[up]] = x;
    parent_[up] = parent_[x];
    if (parent_[x] == kNil) {
      root_ = up;
    } else if (left_[parent_[x]] == x) {
      left_[parent_[x]] = up;
    } else {
      right_[parent_[x]] = up;
    }
    near[up] = x;
    parent_[x] = up;
  }

  void FixAfterInsertion(int32_t x) {
    black_[x] = false;
    while (x != kNil && x != root_ && !Black(parent_[x])) {
      const bool left_side = Parent(x) == Left(Parent(Parent(x)));
      const int32_t uncle = left_side ? Right(Parent(Parent(x))) : Left(Parent(Parent(x)));
      if (!Black(uncle)) {
        Paint(Parent(x), true);
        Paint(uncle, true);
        Paint(Parent(Parent(x)), false);
        x = Parent(Parent(x));
        continue;
      }
      if (x == (left_side ? Right(Parent(x)) : Left(Parent(x)))) {
        x = Parent(x);
        Rotate(x, left_side);
      }
      Paint(Parent(x), true);
      Paint(Parent(Parent(x)), false);
      Rotate(Parent(Parent(x)), !left_side);
    }
    black_[root_] = true;
  }

  std::vector<int32_t> left_;
  std::vector<int32_t> right_;
  std::vector<int32_t> parent_;
  std::vector<bool> black_;
  int32_t root_ = kNil;
};

}  // namespace

int32_t HashOfString(std::string_view text) {
  uint32_t hash = 0;
  ForEachUnit(text, [&](uint32_t unit) { hash = 31 * hash + unit; });
  return Wrap(hash);
}

int CompareStrings(std::string_view a, std::string_view b) {
  const auto ascii = [](char c) { return static_cast<uint8_t>(c) < 0x80; };
  if (std::all_of(a.begin(), a.end(), ascii) && std::all_of(b.begin(), b.end(), ascii)) {
    const int order = a.compare(b);
    return order < 0 ? -1 : order > 0;
  }
  std::vector<uint32_t> x;
  std::vector<uint32_t> y;
  ForEachUnit(a, [&](uint32_t unit) { x.push_back(unit); });
  ForEachUnit(b, [&](uint32_t unit) { y.push_back(unit); });
  return x < y ? -1 : x > y;
}

std::vector<uint32_t> HashOrder(std::span<const int32_t> hashes, uint32_t capacity) {
  std::vector<uint32_t> order(hashes.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  const uint32_t mask = capacity - 1;
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return (Spread(hashes[a]) & mask) < (Spread(hashes[b]) & mask); });
  return order;
}

std::vector<uint32_t> TreeOrder(uint32_t count, const std::function<int(uint32_t, uint32_t)>& compare) {
  RedBlackTree tree(count);
  for (uint32_t i = 0; i < count; ++i) tree.Insert(static_cast<int32_t>(i), compare);
  return tree.InOrder();
}

}  // namespace fairlead::scheduler::hadoop::java
