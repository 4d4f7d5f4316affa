// Flights of a Parquet table by carrier, with their mean arrival delay, as Parquet: flight_delays FLIGHTS OUTPUT. Of
// FLIGHTS the columns carrier and arr_delay are read; the delay may be null.
#include <fairlead/engine.h>

#include <cstdio>
#include <optional>
#include <string>

using namespace fairlead;

namespace {

struct Flight {
  std::string carrier;
  std::optional<double> arr_delay;
};

struct Sums {
  int64_t flights = 0;
  int64_t arrived = 0;
  double minutes = 0;
};

struct Delays {
  std::string carrier;
  int64_t flights = 0;
  std::optional<double> mean_delay;
  FL_FIELDS(carrier, flights, mean_delay)
};

void FlightDelays(Context& context, const Arguments& arguments) {
  const int64_t carriers =
      context.Parquet<Flight>(arguments.at(0), {"carrier", "arr_delay"})
          .Map([](const Flight& flight) {
            return std::pair(flight.carrier, Sums{1, flight.arr_delay ? 1 : 0, flight.arr_delay.value_or(0)});
          })
          .ReduceByKey([](const Sums& a, const Sums& b) {
            return Sums{a.flights + b.flights, a.arrived + b.arrived, a.minutes + b.minutes};
          })
          .SortByKey()
          .Map([](const std::pair<std::string, Sums>& row) {
            const auto& [carrier, sums] = row;
            Delays delays{carrier, sums.flights, std::nullopt};
            if (sums.arrived > 0) delays.mean_delay = sums.minutes / static_cast<double>(sums.arrived);
            return delays;
          })
          .SaveParquet(arguments.at(1));
  std::printf("%lld carriers\n", static_cast<long long>(carriers));
}

}  // namespace

FAIRLEAD_JOB(FlightDelays)
