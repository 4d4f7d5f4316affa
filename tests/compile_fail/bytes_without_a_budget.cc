// expect: no matching
#include "base/bytes.h"

using namespace fairlead;

uint32_t First(std::string_view message, [[maybe_unused]] base::Budget& budget) {
#ifdef RIGHT
  base::ByteReader reader(message, budget);
#else
  base::ByteReader reader(message);
#endif
  return reader.U32();
}
