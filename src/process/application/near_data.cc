#include "process/application/near_data.h"

#include <algorithm>

namespace fairlead::process::application {

namespace {
/// org.apache.hadoop.net.NetworkTopology.DEFAULT_RACK.
constexpr const char* kDefaultRack = "/default-rack";

template <class Map>
auto ValueOr(const Map& map, const std::string& key, typename Map::mapped_type otherwise) {
  const auto found = map.find(key);
  return found == map.end() ? otherwise : found->second;
}

int64_t DivideUp(int64_t value, int64_t by) { return (value + by - 1) / by; }
}  // namespace

PlaceLines LinesNearData(const WantedPlaces& places, int32_t containers, int32_t slots,
                         const std::map<std::string, int32_t>& existing,
                         const std::map<std::string, std::string>& racks) {
  int64_t mentions = 0;
  for (const auto& [host, tasks] : places.hosts) mentions += tasks;
  if (mentions == 0 || containers <= 0) return {};
  const int64_t executors = DivideUp(places.tasks, slots);
  std::map<std::string, int64_t> lacking;  // executors that each host should have and has not
  int64_t sum = 0, largest = 0;
  for (const auto& [host, tasks] : places.hosts) {
    const int64_t lacks = DivideUp(tasks * executors, mentions) - ValueOr(existing, host, 0);
    if (lacks <= 0) continue;
    lacking[host] = lacks;
    sum += lacks;
    largest = std::max(largest, lacks);
  }
  // Of those that may be near the data each names all hosts whose share is not used up yet.
  const int64_t near = std::min<int64_t>(containers, sum);
  PlaceLines lines;
  for (const auto& [host, lacks] : lacking) {
    const auto count = static_cast<int32_t>(DivideUp(lacks * near, largest));
    lines[host] = count;
    int32_t& of_rack = lines[ValueOr(racks, host, kDefaultRack)];
    of_rack = std::max(of_rack, count);
  }
  return lines;
}

}  // namespace fairlead::process::application
