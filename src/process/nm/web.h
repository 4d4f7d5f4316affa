#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/rest/document.h"
#include "env/disk.h"
#include "process/http/server.h"
#include "process/nm/node_manager.h"

namespace fairlead::process::nm {

/// The node agent's web port: /ws/v1/node as Hadoop's NMWebServices answers it (JSON and XML), pages with containers'
/// logs, /metrics for Prometheus, /healthz.
class Web {
 public:
  struct Options {
    env::Endpoint endpoint;
    http::KnownHosts hosts;
    bool check_virtual = true;
    bool check_physical = true;
    double virtual_ratio = 2.1;
  };
  static base::Result<std::unique_ptr<Web>> Start(env::Loop& loop, env::Net& net, env::Disk& disk, NodeDirs& dirs,
                                                  NodeManager& manager, Options options);
  env::Endpoint local() const { return server_->local(); }

  /// What GET `request.target` is answered; public for tests.
  http::Response Answer(const http::Request& request) const;

 private:
  using Document = endpoints::rest::Document;
  using Segments = std::vector<std::string>;
  Web(env::Loop& loop, env::Disk& disk, NodeDirs& dirs, NodeManager& manager, Options options)
      : loop_(loop), disk_(disk), dirs_(dirs), manager_(manager), options_(std::move(options)) {}

  http::Response Rest(const http::Request& request, const Segments& path) const;
  http::Response Apps(const http::Request& request, const Segments& path) const;
  http::Response ContainersOrLogs(const http::Request& request, const Segments& path) const;
  http::Response LogList(const http::Request& request, const model::ContainerId& id) const;
  http::Response LogText(const http::Request& request, const model::ContainerId& id, const std::string& file) const;
  http::Response Page(const Segments& path, const http::Request& request) const;
  http::Response FrontPage() const;
  http::Response LogPage(const http::Request& request, const Segments& path) const;
  std::string Metrics() const;
  Document NodeInfo() const;
  Document ContainerInfo(const fairlead::nm::ContainerView& container) const;

  struct LogFile {
    std::string root;  // the log directory that holds it
    env::FileInfo info;
  };
  std::vector<LogFile> LogFiles(const model::ContainerId& id) const;
  /// Bytes [start, end) of a log; negative values count from its end.
  base::Result<std::string> ReadLog(const LogFile& file, int64_t start, int64_t end) const;

  static http::Response Render(const http::Request& request, const Document& document, std::string_view root,
                               int status = 200);
  static http::Response Error(const http::Request& request, int status, const std::string& exception,
                              const std::string& message);
  static http::Response Html(const std::string& title, const std::string& body);

  env::Loop& loop_;
  env::Disk& disk_;
  NodeDirs& dirs_;
  NodeManager& manager_;
  const Options options_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace fairlead::process::nm
