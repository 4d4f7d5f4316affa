#pragma once

#include <string>
#include <string_view>

#include "model/ids.h"
#include "model/nm.h"

// Where things lie below a local directory L and a log directory G, as in Hadoop (ContainerLocalizer, ContainerLaunch):
// applications see these names.

namespace fairlead::process::nm {

inline constexpr char kPrivateDir[] = "nmPrivate";
inline constexpr char kLaunchScript[] = "launch_container.sh";
inline constexpr char kTokenFile[] = "container_tokens";

/// A user name that may become a path component: not empty, no '/', not "." or "..", no control characters.
bool IsPlainName(std::string_view name);
/// A link in a working directory: relative, no "..", no control characters, at most 4096 bytes.
bool IsPlainLink(std::string_view link);

std::string UserDir(const std::string& local, const std::string& user);
/// L/usercache/USER/appcache/APP, an entry of LOCAL_DIRS.
std::string AppDir(const std::string& local, const std::string& user, const model::ApplicationId& app);
std::string WorkDir(const std::string& local, const std::string& user, const model::ContainerId& container);
std::string PrivateAppDir(const std::string& local, const model::ApplicationId& app);
std::string AppLogDir(const std::string& logs, const model::ApplicationId& app);
std::string LogDir(const std::string& logs, const model::ContainerId& container);
/// The directory of one localized resource.
std::string ResourceDir(const std::string& local, model::nm::Visibility visibility, const std::string& user,
                        const model::ApplicationId& app, model::nm::ResourceNumber number);

}  // namespace fairlead::process::nm
