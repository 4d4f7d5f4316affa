#pragma once

namespace fairlead::sim {

/// A bug put in on purpose, to see that the run finds it.
enum class PlantedBug {
  kNone,
  kDoubleGrant,          // the scheduler believes a node is twice as large
  kLostAcknowledgement,  // the store says yes and forgets
  kForgottenContainer,   // the scheduler does not hear of some ends
  kEvictedPromise,       // an executor does not tell its driver that a cached partition made room
  kLostKill,             // an executor passes over orders to end a task
  kStaleTable,           // an executor goes on with map outputs although some were lost
  kDoubleCommit,         // an executor takes every answer for leave to commit
  kLostMerge,            // the disk says yes and forgets some merged blocks
  kNoFence,              // a deposed leader's rows are taken (two managers)
  kLateStepDown,         // a leader believes in its right to act for too long (two managers)
  kAnsweredTwice,        // a call that a standby held is answered twice (two managers)
};

}  // namespace fairlead::sim
