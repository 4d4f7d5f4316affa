#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "engine/history/history.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/http/server.h"

namespace fairlead::engine {

/// Serves an application's history on a web port: "/" for people, "/history.json" for programs (ToJson). Of a running
/// driver and, after its end, of `fairlead history --serve`. On the loop's thread.
class DriverPage {
 public:
  /// The history must outlive the page.
  static base::Result<std::unique_ptr<DriverPage>> Listen(env::Loop& loop, env::Net& net, const env::Endpoint& endpoint,
                                                          const history::History& history);
  std::string url() const { return "http://" + server_->local().ToString(); }

 private:
  std::unique_ptr<process::http::Server> server_;
};

}  // namespace fairlead::engine
