#include "scheduler/books/shapes.h"

#include <algorithm>

namespace fairlead::scheduler::native {

ShapeId Shapes::For(const ShapeKey& key) {
  const auto [it, fresh] = by_key_.try_emplace(key);
  if (fresh) {
    it->second = shapes_.Add();
    static_cast<ShapeKey&>(shapes_[it->second]) = key;
  }
  return it->second;
}

void Shapes::Drop(ShapeId id) {
  if (--shapes_[id].uses > 0) return;
  by_key_.erase(shapes_[id]);
  shapes_.Remove(id);
}

uint64_t Shapes::Want(ShapeId id) {
  Shape& shape = shapes_[id];
  if (shape.wanted++ > 0) return 0;
  const auto least = std::min_element(wanted_in_class_.begin(), wanted_in_class_.end());
  shape.shape_class = static_cast<uint8_t>(least - wanted_in_class_.begin());
  ++wanted_in_class_[shape.shape_class];
  if (open_in_class_[shape.shape_class]++ == 0) servable_ |= ClassOf(id);
  return ClassOf(id);
}

void Shapes::Unwant(ShapeId id) {
  Shape& shape = shapes_[id];
  if (--shape.wanted > 0) return;
  Loosen(id);
  --wanted_in_class_[shape.shape_class];
  if (--open_in_class_[shape.shape_class] == 0) servable_ &= ~ClassOf(id);
}

void Shapes::Block(ShapeId id, base::Instant now) {
  Shape& shape = shapes_[id];
  if (!shape.exact) tight_.push_back(id);
  shape.exact = false;
  shape.candidates.clear();
  shape.blocked = true;
  shape.blocked_since = now;
  if (--open_in_class_[shape.shape_class] == 0) servable_ &= ~ClassOf(id);
}

void Shapes::Unblock(ShapeId id) {
  shapes_[id].blocked = false;
  if (open_in_class_[shapes_[id].shape_class]++ == 0) servable_ |= ClassOf(id);
}

void Shapes::Offer(ShapeId id, NodeIndex node) {
  constexpr size_t kMostCandidates = 16;
  Shape& shape = shapes_[id];
  if (shape.blocked) Unblock(id);
  shape.exact = true;
  if (std::find(shape.candidates.begin(), shape.candidates.end(), node) != shape.candidates.end()) return;
  shape.candidates.push_back(node);
  if (shape.candidates.size() > kMostCandidates) Loosen(id);
}

void Shapes::Loosen(ShapeId id) {
  Shape& shape = shapes_[id];
  if (shape.blocked) Unblock(id);
  shape.exact = false;
  shape.candidates.clear();
  const auto at = std::find(tight_.begin(), tight_.end(), id);
  if (at == tight_.end()) return;
  *at = tight_.back();
  tight_.pop_back();
}

bool Shapes::MayBePassed(ShapeId id, size_t types) const {
  return std::any_of(begin(), end(), [&](ShapeId other) {
    if (shapes_[other].wanted == 0) return false;
    for (size_t t = 0; t < types; ++t) {
      if (shapes_[other].size[t] < shapes_[id].size[t]) return true;
    }
    return false;
  });
}

std::string Shapes::Check(const std::vector<uint32_t>& uses, const std::vector<uint32_t>& wanted) const {
  std::array<uint32_t, kClasses> in_class{};
  std::array<uint32_t, kClasses> open{};
  uint64_t servable = 0;
  size_t tight = 0;
  if (by_key_.size() != shapes_.count()) return "shapes by key";
  for (const ShapeId id : shapes_) {
    const Shape& shape = shapes_[id];
    if (shape.uses != uses[id.value] || shape.wanted != wanted[id.value] || shape.uses == 0) {
      return "shape " + std::to_string(id.value) + ": uses";
    }
    tight += shape.blocked || shape.exact ? 1 : 0;
    if (shape.wanted == 0) continue;
    ++in_class[shape.shape_class];
    if (shape.blocked) continue;
    ++open[shape.shape_class];
    servable |= ClassOf(id);
  }
  if (in_class != wanted_in_class_ || open != open_in_class_ || servable != servable_) return "classes of shapes";
  return tight == tight_.size() ? "" : "blocked and exact shapes";
}

void Shapes::Mix(base::StateHasher& hash) const {
  for (const ShapeId id : shapes_) {
    const Shape& shape = shapes_[id];
    hash.Mix(id.value);
    for (const int64_t amount : shape.size.amount) hash.Mix(static_cast<uint64_t>(amount));
    hash.Mix(shape.label.value);
    hash.Mix(uint64_t{shape.shape_class} * 4 + uint64_t{shape.blocked} * 2 + uint64_t{shape.exact});
    hash.Mix(shape.uses);
    hash.Mix(shape.wanted);
    hash.Mix(static_cast<uint64_t>(shape.blocked_since.ns));
    for (const NodeIndex node : shape.candidates) hash.Mix(node.value);
  }
  for (const ShapeId shape : tight_) hash.Mix(shape.value);
  for (const uint32_t spare : shapes_.numbers().spare()) hash.Mix(spare);
}

}  // namespace fairlead::scheduler::native
