#pragma once

#include <map>
#include <set>
#include <string>

#include "base/codec.h"
#include "model/nm.h"
#include "nm/rows.h"

namespace fairlead::nm {

struct App {
  model::nm::AppRecord record;
  model::nm::AppState state = model::nm::AppState::kInitializing;
  std::set<model::ContainerId> live;
  std::set<model::ContainerId> all;  // since this application came, also forgotten ones
};

/// The applications of this node and their life (Hadoop: ApplicationImpl): running, waiting for the ends of its
/// containers, cleaning up, finished (its logs are handled), gone. Steps are taken in this order only, and cleaning
/// begins under no live container. An id that is not known, or not where a step begins, is let be.
class Apps {
 public:
  /// One that the store held; its services hear of their data again.
  void Restore(const model::nm::AppRecord& record, EffectSink& out);
  /// Whether the application of a stored container is known, which then has the container.
  bool Rejoin(const model::nm::ContainerRecord& container);
  /// A container starts; its application, where it is new, is running from now on.
  void Join(const model::nm::ContainerSpec& spec, Rows& rows, EffectSink& out);
  /// The container's start was not stored, and its application's row neither.
  void Undo(const model::ContainerId& container, Rows& rows);
  void Ended(const model::ContainerId& container);
  /// Its services hear the data that the container brings for them; the last data of each is stored.
  void GiveServiceData(const model::nm::ContainerSpec& spec, Rows& rows, EffectSink& out);
  /// Whether it begins to finish now: its live containers are to be killed.
  bool BeginFinish(const model::ApplicationId& id, Rows& rows, EffectSink& out);
  /// The application that begins to clean up now, no container being left; or nullptr.
  const App* BeginCleaning(const model::ApplicationId& id, EffectSink& out);
  /// Its directories are gone; its logs come next.
  void Cleaned(const model::ApplicationId& id, EffectSink& out);
  /// Its logs are handled and it is gone; gives all containers that it had.
  std::set<model::ContainerId> Drop(const model::ApplicationId& id, Rows& rows);

  const App* Find(const model::ApplicationId& id) const;
  const std::map<model::ApplicationId, App>& all() const { return apps_; }
  void HashInto(base::StateHasher& hasher) const;

 private:
  App* In(const model::ApplicationId& id, model::nm::AppState state);
  static void SetState(App& app, model::nm::AppState state, EffectSink& out);

  std::map<model::ApplicationId, App> apps_;
};

}  // namespace fairlead::nm
