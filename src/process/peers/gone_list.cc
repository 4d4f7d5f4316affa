#include "process/peers/gone_list.h"

#include <algorithm>

namespace fairlead::process::peers {

void GoneList::Add(uint32_t number, const std::string& address, size_t bytes) {
  Remove(number);
  const auto own = addresses_.try_emplace(address).first;
  std::list<One>& gone = own->second.gone;
  places_[number] = {own, gone.insert(gone.end(), {number, bytes})};
  own->second.bytes += bytes;
  bytes_ += bytes;
}

void GoneList::Remove(uint32_t number) {
  const auto place = places_.extract(number);
  if (place.empty()) return;
  const auto [own, at] = place.mapped();
  own->second.bytes -= at->bytes;
  bytes_ -= at->bytes;
  own->second.gone.erase(at);
  if (own->second.gone.empty()) addresses_.erase(own);
}

std::optional<uint32_t> GoneList::TakeExcess() {
  const bool many = places_.size() > limits_.count_max;
  if (!many && bytes_ <= limits_.bytes_max) return std::nullopt;
  const auto most = std::ranges::max_element(
      addresses_, {}, [many](const auto& one) { return many ? one.second.gone.size() : one.second.bytes; });
  const uint32_t number = most->second.gone.front().number;
  Remove(number);
  return number;
}

}  // namespace fairlead::process::peers
