#include "model/measured_use.h"

#include <algorithm>

namespace fairlead::model {

MeasuredUse& MeasuredUse::operator+=(const MeasuredUse& other) {
  for (int64_t MeasuredUse::*amount :
       {&MeasuredUse::milli_cores, &MeasuredUse::physical_bytes, &MeasuredUse::virtual_bytes, &MeasuredUse::disk_bytes,
        &MeasuredUse::network_bytes}) {
    if (other.*amount == kUnknown) continue;
    this->*amount = std::max<int64_t>(this->*amount, 0) + other.*amount;
  }
  disk_busy = std::max(disk_busy, other.disk_busy);
  return *this;
}

}  // namespace fairlead::model
