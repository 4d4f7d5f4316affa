#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/hadoop_conf.h"
#include "process/http/http.h"
#include "wire/hadoop_rpc/message_kinds.h"

namespace fairlead::shell {

/// Error::code of a YarnClient's errors.
enum YarnClientError : int {
  kRmUnreachable = 1,  // nothing answered at the configured address
  kRmRefused = 2,      // a remote exception; the message is the exception's
  kRmNotFound = 3,     // ApplicationNotFoundException and its like
};

/// A blocking client of a resource manager, Fairlead's or Hadoop's: ApplicationClientProtocol by RPC as `user`, and the
/// web port. Of several managers it asks the one that leads. One thread.
class YarnClient {
 public:
  /// Reads yarn.resourcemanager.address and .webapp.address, those of every manager where there are several; nothing is
  /// connected yet.
  static base::Result<std::unique_ptr<YarnClient>> Create(const config::HadoopConf& conf, const std::string& user);
  virtual ~YarnClient() = default;

  /// How long a call goes on trying while nothing answers (a restart of the resource manager); default half a second,
  /// and 20 s where another manager may take over.
  virtual void SetPatience(base::Duration patience) = 0;

  /// One call of ApplicationClientProtocol with encoded messages.
  virtual base::Result<std::string> CallRaw(std::string_view method, std::string_view request) = 0;

  /// A request to the resource manager's web port, GET "/fairlead/v1/queues"; a body is JSON.
  virtual base::Result<process::http::Response> Ask(const std::string& method, const std::string& target,
                                                    const std::string& body) = 0;
  base::Result<process::http::Response> Get(const std::string& target) { return Ask("GET", target, ""); }

  /// The managers that are asked: ids ("" of one that runs alone) and web addresses, "http://host:port".
  virtual std::vector<std::pair<std::string, std::string>> Managers() const = 0;
  /// The web address of the one that answered last; before any did, of the first.
  virtual std::string Page() const = 0;
  /// GET of an http:// URL anywhere (a node's pages).
  virtual base::Result<process::http::Response> GetUrl(const std::string& url) = 0;

  /// Runs `wait` of the event loop: sleeps without spinning between polls.
  virtual void Pause(int64_t milliseconds) = 0;

  virtual const std::string& user() const = 0;

  template <class Response, class Request>
  base::Result<Response> Call(std::string_view method, const Request& request) {
    auto bytes = CallRaw(method, request.Encode());
    if (!bytes) return bytes.error();
    Response response;
    if (const base::Status parsed = response.ParseFrom(*bytes, wire::hadoop_rpc::kAnswer); !parsed.ok()) {
      return base::Error{std::string(method) + ": the answer does not parse: " + parsed.error().message, kRmRefused};
    }
    return response;
  }
};

/// HADOOP_USER_NAME, else the name of the process' user. Under HADOOP_PROXY_USER a YarnClient acts for that user, as
/// Hadoop's clients do (UserGroupInformation); the resource manager's hadoop.proxyuser.* decides whether it may.
std::string CurrentUser();

}  // namespace fairlead::shell
