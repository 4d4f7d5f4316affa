#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace fairlead::shell {

struct HttpTransfer {
  std::string method = "GET";
  std::string url;
  bool follow = false;  // redirections, up to five
  int from = -1;        // a file whose first `from_bytes` are the body; -1: none
  int64_t from_bytes = 0;
  int to = -1;  // a file that takes the answer; -1: the answer's text does
  int64_t to_bytes_max = 1 << 20;
  bool by_ticket = false;  // SPNEGO, with the ticket that this process has
};

struct HttpTransferred {
  long status = 0;
  std::string text;
  std::string redirect;     // where a redirection that was not followed leads to
  int64_t modified_s = -1;  // Last-Modified; -1: not said
};

/// One exchange by libcurl, http and https alone. It waits, so it is an errand's work; a server that is slower than 16
/// KiB a second for a minute is given up. An error names the address without its query, where tokens
/// are; its code may be http::kNotConnected.
base::Result<HttpTransferred> Transfer(const HttpTransfer& order);

/// As errors name an address.
std::string WithoutQuery(const std::string& url);

}  // namespace fairlead::shell
