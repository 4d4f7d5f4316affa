// k-means (Lloyd): k_means POINTS.csv OUTPUT K [ITERATIONS]
// POINTS.csv has a header with columns x and y. The first K points are the first centres. Writes "x<TAB>y<TAB>points"
// of each centre and prints the mean squared distance.
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

#include "fairlead/engine.h"

using namespace fairlead;

namespace {

struct Point {
  double x = 0;
  double y = 0;
};
struct Sum {
  double x = 0;
  double y = 0;
  double squares = 0;
  int64_t points = 0;
};

/// Travels to the executors with its centres.
struct Nearest {
  std::vector<Point> centres;
  std::pair<int32_t, Sum> operator()(const Point& point) const {
    int32_t best = 0;
    double least = INFINITY;
    for (size_t i = 0; i < centres.size(); ++i) {
      const double dx = point.x - centres[i].x, dy = point.y - centres[i].y;
      if (dx * dx + dy * dy < least) {
        least = dx * dx + dy * dy;
        best = static_cast<int32_t>(i);
      }
    }
    return {best, {point.x, point.y, least, 1}};
  }
};

void KMeans(Context& context, const Arguments& arguments) {
  const auto points = context.Csv<Point>(arguments.at(0), {"x", "y"}).Cache();
  Nearest nearest{points.Take(arguments.Number(2, 2))};
  std::vector<std::pair<int32_t, Sum>> sums;
  for (long i = arguments.Number(3, 10); i > 0; --i) {
    sums = points.Map(nearest)
               .ReduceByKey([](const Sum& a, const Sum& b) {
                 return Sum{a.x + b.x, a.y + b.y, a.squares + b.squares, a.points + b.points};
               })
               .Collect();
    for (const auto& [centre, sum] : sums) {
      const double n = static_cast<double>(sum.points);
      nearest.centres[static_cast<size_t>(centre)] = {sum.x / n, sum.y / n};
    }
  }
  double squares = 0;
  int64_t count = 0;
  std::vector<std::tuple<double, double, int64_t>> centres;
  for (const auto& [centre, sum] : sums) {
    const Point& at = nearest.centres[static_cast<size_t>(centre)];
    centres.emplace_back(at.x, at.y, sum.points);
    squares += sum.squares;
    count += sum.points;
  }
  context.Parallelize(centres, Partitions(1))
      .SortBy([](const auto& row) { return row; }, SortDirection::kAscending, Partitions(1))
      .SaveText(arguments.at(1));
  std::printf("%zu centres of %lld points, mean squared distance %.6f\n", centres.size(), static_cast<long long>(count),
              count == 0 ? 0.0 : squares / static_cast<double>(count));
}

}  // namespace

FAIRLEAD_JOB(KMeans)
