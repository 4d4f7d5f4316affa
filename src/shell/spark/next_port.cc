#include "shell/spark/next_port.h"

#include <cerrno>
#include <string>

namespace fairlead::shell {

namespace {

/// Behind the last port come those that everybody may take.
uint16_t PortAfter(uint16_t first, int steps) {
  constexpr int kFirstFree = 1024, kPorts = 65536;
  return static_cast<uint16_t>((first + steps - kFirstFree) % (kPorts - kFirstFree) + kFirstFree);
}

}  // namespace

ListeningServer ListenOnNextFree(env::Log& log, const env::Endpoint& first, int retries, const char* what,
                                 const char* key, const std::function<ListeningServer(const env::Endpoint&)>& listen) {
  env::Endpoint endpoint = first;
  for (int steps = 0;; ++steps) {
    ListeningServer server = listen(endpoint);
    if (server.ok()) return server;
    if (server.error().code != EADDRINUSE || first.port == 0 || steps >= retries) {
      const std::string tried =
          steps == 0 ? ""
                     : " (nor on the " + std::to_string(steps) + " ports after " + std::to_string(first.port) + ")";
      return base::Error{std::string(what) + ": " + server.error().message + tried + "; " + key + " says another port"};
    }
    endpoint.port = PortAfter(first.port, steps + 1);
    log.Warn(std::string(what) + ": the port is taken, the next one is tried",
             {{"taken", server.error().message}, {"next", std::to_string(endpoint.port)}});
  }
}

}  // namespace fairlead::shell
