#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "env/audit.h"
#include "model/caller.h"
#include "model/ids.h"

namespace fairlead::process::rm {

/// Names of Operation::name, as in RMAuditLogger.AuditConstants; those of AdminService are its methods' names.
namespace operations {
inline constexpr char kSubmit[] = "Submit Application Request";
inline constexpr char kKill[] = "Kill Application Request";
inline constexpr char kMove[] = "Move Application Request";
inline constexpr char kSetPriority[] = "Update Application Priority";
inline constexpr char kSetTimeouts[] = "Update Application Timeouts";
inline constexpr char kFailAttempt[] = "Fail Attempt Request";
inline constexpr char kSignal[] = "Signal Container Request";
inline constexpr char kRegister[] = "Register App Master";
inline constexpr char kUnregister[] = "Unregister App Master";
inline constexpr char kSucceeded[] = "Application Finished - Succeeded";
inline constexpr char kFailed[] = "Application Finished - Failed";
inline constexpr char kKilled[] = "Application Finished - Killed";
}  // namespace operations

/// Why somebody may not do it, as Hadoop's audit has it.
inline constexpr char kUnauthorized[] = "Unauthorized user";
inline constexpr char kNotSubmitted[] = "Exception in submitting application";

/// What somebody asked the manager for, or how an application ended.
struct Operation {
  std::string name;
  std::string target;        // the class of Hadoop that answers, "ClientRMService"
  std::string failure = {};  // in place of why it was refused, which is PERMISSIONS then; empty: that is DESCRIPTION
  model::Caller caller = {};
  std::string ip = {};          // where the caller is; empty: nobody called
  env::Log::Fields about = {};  // APPID and so on, in Hadoop's order
};

/// The fields about an application, and of one that is submitted: its queue and label, where the caller names them.
env::Log::Fields AboutApp(const model::ApplicationId& id);
env::Log::Fields AboutSubmission(const std::string& id, const std::string& queue, const std::string& label);

/// Writes the line of `operation`: keys and their order are those of Hadoop's RMAuditLogger, with REALUSER at the end
/// where somebody acts for another. `refused`: why it was; nothing: it was done.
void NoteOperation(const env::Audit& audit, const Operation& operation, std::optional<std::string_view> refused);

}  // namespace fairlead::process::rm
