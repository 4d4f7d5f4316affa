// Sorts records of 100 bytes by their first 10: terasort INPUT OUTPUT
// Then "terasort --validate OUTPUT [RECORDS]" checks the order within and across the files, and "terasort --checksum
// INPUT" gives what it prints of the records in any order.
#include <cstdio>

#include "fairlead/engine.h"

using namespace fairlead;

namespace {

constexpr uint64_t kRecord = 100;
constexpr uint64_t kKey = 10;

void Sort(Context& context, const Arguments& arguments) {
  const int64_t records = context.FixedRecords(arguments.at(0), kRecord)
                              .SortBy([](std::string_view record) { return record.substr(0, kKey); })
                              .SaveBytes(arguments.at(1));
  std::printf("%lld records sorted\n", static_cast<long long>(records));
}

/// First and last key of a part, whether it is in order, how many records, and the sum of their hashes.
struct PartSummary {
  int32_t partition = 0;
  int64_t records = 0;
  uint64_t hash_sum = 0;
  bool in_order = true;
  std::string first;
  std::string last;
};

void PrintChecksum(int64_t records, uint64_t hash_sum) {
  std::printf("%lld records, sum of hashes %016llx\n", static_cast<long long>(records),
              static_cast<unsigned long long>(hash_sum));
}

void Validate(Context& context, const Arguments& arguments) {
  const auto parts = context.FixedRecords(arguments.at(1), kRecord)
                         .MapPartitions<PartSummary>([](auto& records, auto& emit) {
                           PartSummary part;
                           part.partition = records.partition();
                           records.ForEach([&](std::string_view record) {
                             const std::string_view key = record.substr(0, kKey);
                             if (part.records == 0) part.first = key;
                             if (key < std::string_view(part.last)) part.in_order = false;
                             part.last = key;
                             part.hash_sum += fairlead::engine::HashBytes(record);
                             ++part.records;
                           });
                           emit(part);
                         })
                         .Collect();
  int64_t records = 0;
  uint64_t hash_sum = 0;
  std::string last;
  for (const PartSummary& part : parts) {
    if (part.records == 0) continue;
    if (!part.in_order) throw JobError("part " + std::to_string(part.partition) + " is not in order");
    if (part.first < last)
      throw JobError("part " + std::to_string(part.partition) + " begins before the end of the last");
    last = part.last;
    records += part.records;
    hash_sum += part.hash_sum;
  }
  const long wanted = arguments.Number(2, static_cast<long>(records));
  if (records != wanted) throw JobError("there are " + std::to_string(records) + " records");
  PrintChecksum(records, hash_sum);
}

void Checksum(Context& context, const Arguments& arguments) {
  const auto hashes = context.FixedRecords(arguments.at(1), kRecord).Map([](std::string_view record) {
    return fairlead::engine::HashBytes(record);
  });
  PrintChecksum(hashes.Count(), hashes.Reduce([](uint64_t a, uint64_t b) { return a + b; }).value_or(0));
}

void TeraSort(Context& context, const Arguments& arguments) {
  if (arguments.at(0) == "--validate") return Validate(context, arguments);
  if (arguments.at(0) == "--checksum") return Checksum(context, arguments);
  Sort(context, arguments);
}

}  // namespace

FAIRLEAD_JOB(TeraSort)
