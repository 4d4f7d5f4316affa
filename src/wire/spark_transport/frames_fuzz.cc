#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/spark_transport/frames.h"

// The same frames must come out however the input is cut.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::wire::spark_transport::FrameReader;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t piece = data[0] % 64 + 1;
  size_t sums[2] = {0, 0};
  for (int run = 0; run < 2; ++run) {
    FrameReader reader(1 << 16);
    const size_t step = run == 0 ? bytes.size() + 1 : piece;
    bool ended = false;
    for (size_t at = 0; at < bytes.size() && !ended; at += step) {
      reader.Feed(bytes.substr(at, step));
      while (true) {
        const auto outcome = reader.Next();
        if (outcome == FrameReader::Outcome::kNeedMore) break;
        if (outcome == FrameReader::Outcome::kError) {
          ended = true;
          break;
        }
        if (outcome == FrameReader::Outcome::kRaw) {
          sums[run] += reader.raw().size();
        } else {
          sums[run] = sums[run] * 31 + reader.frame().body.size() + reader.frame().text.size() +
                      static_cast<size_t>(reader.frame().id);
        }
      }
    }
  }
  if (sums[0] != sums[1]) std::abort();
  return 0;
}
