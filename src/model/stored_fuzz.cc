#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/stored.h"
#include "model/nm.h"
#include "model/rm.h"
#include "model/shuffle.h"

namespace base = fairlead::base;
namespace model = fairlead::model;

namespace {

/// What is read is written and read again as the same.
template <class T>
void Read(std::string_view bytes) {
  const auto value = base::DecodeStored<T>(bytes);
  if (!value.ok()) return;
  const std::string again = base::EncodeStored(*value);
  const auto second = base::DecodeStored<T>(again);
  if (!second.ok() || base::EncodeStored(*second) != again) std::abort();
}

}  // namespace

/// The first byte says which record; the rest are a row's bytes, however damaged.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 7) {
    case 0:
      Read<model::rm::AppRecord>(bytes);
      break;
    case 1:
      Read<model::rm::AttemptRecord>(bytes);
      break;
    case 2:
      Read<model::nm::AppRecord>(bytes);
      break;
    case 3:
      Read<model::nm::ContainerRecord>(bytes);
      break;
    case 4:
      Read<model::nm::ResourceRecord>(bytes);
      break;
    case 5:
      Read<model::shuffle::Executor>(bytes);
      break;
    default:
      Read<std::vector<model::rm::OuterEvent>>(bytes);  // a journal's
  }
  return 0;
}
