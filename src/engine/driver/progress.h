#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>

#include "env/loop.h"
#include "env/timer.h"
#include "process/driver/job_driver.h"

namespace fairlead::engine {

/// One line per running stage on a stream, refreshed when it changed: in place on a terminal, else as new lines at most
/// once a second. Also the fraction of known tasks that are done. On the loop's thread.
class Progress : public process::driver::DriverListener {
 public:
  Progress(env::Loop& loop, const process::driver::JobDriver& driver, std::FILE* out, bool terminal);
  ~Progress() override;

  void OnEffect(const model::tasks::Effect& effect) override;
  float fraction() const;
  /// Prints what changed since the last line.
  void Last();

 private:
  struct Stage {
    std::string name;
    int32_t attempt = 0;
    int64_t tasks = 0;
    int64_t done = 0;
    int64_t failed = 0;
    int64_t running = 0;
    bool ended = false;
  };
  void Print();
  void Tick();

  env::Loop& loop_;
  const process::driver::JobDriver& driver_;
  std::FILE* out_;
  bool terminal_;
  std::map<int32_t, Stage> stages_;
  std::map<int32_t, std::string> names_;
  std::string last_;
  bool changed_ = false;
  env::Timer timer_{loop_};
};

}  // namespace fairlead::engine
