#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "endpoints/spark/descriptions.h"
#include "endpoints/spark/object_fields.h"
#include "endpoints/spark/spark_build.h"

// What an application's driver says to a Standalone Master, written: for drivers that are simulated. driver_messages.h
// reads the same. The build knows the classes of drivers (AddDriverClasses).

namespace fairlead::endpoints::spark {

/// RegisterApplication. Of the profile its id, cores and memory are written.
std::string EncodeRegistration(const SparkBuild& build, const ApplicationDescription& application,
                               const EndpointReference& driver);
std::string EncodeMasterChangeAcknowledged(const SparkBuild& build, const std::string& application);
/// RequestExecutors: how many executors of this profile, the only one, there shall be.
std::string EncodeRequestExecutors(const SparkBuild& build, const std::string& application,
                                   const ResourceProfile& profile, int32_t total);
std::string EncodeKillExecutors(const SparkBuild& build, const std::string& application,
                                const std::vector<std::string>& executors);
std::string EncodeUnregisterApplication(const SparkBuild& build, const std::string& application);

}  // namespace fairlead::endpoints::spark
