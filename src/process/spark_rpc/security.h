#pragma once

#include "wire/spark_transport/security.h"

namespace fairlead::process::spark_rpc {

using wire::spark_transport::Security;

}  // namespace fairlead::process::spark_rpc
