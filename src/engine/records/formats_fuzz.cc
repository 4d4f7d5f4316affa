#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "base/codec.h"
#include "engine/io/sources.h"
#include "engine/plan/plan.h"
#include "engine/records/frame.h"
#include "engine/records/record.h"

// Bytes that reach an executor from files and peers: frames, records, plans, CSV rows. None may do more than fail.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::engine;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0: {
      FrameReader frames(bytes);
      Buffer scratch;
      std::string_view records;
      while (frames.Next(records, scratch)) {
      }
      break;
    }
    case 1: {
      std::tuple<std::string, std::vector<std::vector<int64_t>>, std::optional<double>> value;
      FromBytes(bytes, value);
      Cursor in(bytes);
      std::string_view part;
      while (!in.done() && TakePart(in, data[0] & 0x40 ? 3 : 0, part)) {
      }
      break;
    }
    case 2: {
      StagePlan plan;
      constexpr auto kPlan = fairlead::base::DecodedKind("a stage's plan", SIZE_MAX, 1024);
      fairlead::base::Budget budget(kPlan, bytes.size());
      fairlead::base::ByteReader in(bytes, budget);
      fairlead::base::Decode(in, plan);
      break;
    }
    default: {
      std::vector<std::string_view> fields;
      std::string scratch;
      SplitCsvRow(bytes, ',', fields, scratch);
    }
  }
  return 0;
}
