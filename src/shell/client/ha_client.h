#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/hadoop_conf.h"

namespace fairlead::shell {

/// One call of HAServiceProtocol as `user`, with encoded messages, at the admin port of the manager `id` alone, which
/// is one of several. Blocks; an Error's code is YarnClientError's.
base::Result<std::string> CallHa(const config::HadoopConf& conf, const std::string& user, const std::string& id,
                                 std::string_view method, std::string_view request);

}  // namespace fairlead::shell
