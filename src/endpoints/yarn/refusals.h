#pragma once

#include "endpoints/yarn/exceptions.h"
#include "model/refusal.h"

namespace fairlead::endpoints::yarn {

/// The exception and the sentence with which Hadoop refuses for that reason (ClientRMService, RMAppManager,
/// ApplicationMasterService, SchedulerUtils, RMServerUtils, FairScheduler); Fairlead's own reasons get the exception of
/// Hadoop that stands next to them, and a sentence that says what to do. For updates of containers the sentence is the
/// reason in UpdateContainerErrorProto.
RemoteException ExceptionOf(const model::Refused& refused);

}  // namespace fairlead::endpoints::yarn
