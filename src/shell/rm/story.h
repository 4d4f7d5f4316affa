#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "shell/rm/replay.h"

namespace fairlead::shell {

/// Something in an application's life, from one moment to another. What happens again and again is summed.
struct Chapter {
  enum class Kind : uint8_t {
    kSubmitted,    // to queue `text`; `before`: it was there when the journal begins
    kWaiting,      // `count` containers of `size` for the reason `text`, with its numbers and what would free it
    kMaster,       // its master was granted
    kMasterEnded,  // with the one status in `ends`; `text`: what was said of it
    kRunning,      // its master has registered
    kContainers,   // granted, and ended
    kTaken,        // taken back, for `gainers`
    kAsked,        // somebody does with it what `text` says
    kAttempt,      // the attempt `text` failed
    kEnded,        // in the state `text`; `final_status`
    kMissing,      // what it did until then is not kept, because of `detail`
    kBetween,      // containers granted, ended and taken back meanwhile: there was too much to tell
  };
  Kind kind = Kind::kContainers;
  base::WallTime from;
  base::WallTime to;
  std::string text;
  std::string detail;
  std::string remedy;  // of a wait: what would free it
  std::string final_status;
  bool before = false;
  model::Resources size;  // of the largest container
  bool alike = true;      // all are of that size
  int64_t count = 0;      // asked for, granted or taken back
  std::set<std::string> nodes;
  std::map<int32_t, int64_t> ends;         // exit status -> containers
  std::map<std::string, int64_t> gainers;  // of taken back ones: who got the room ("": nobody known)
};

/// The life of one application, from a journal that is walked through. Its memory is bounded however long that life is.
class Story {
 public:
  explicit Story(const model::ApplicationId& app) : id_(app) {}

  void Decided(const RmReplay& replay, base::WallTime wall, std::span<const model::scheduler::Effect> effects);
  /// In the state that a file begins with.
  void Begin(const RmReplay& replay);
  /// What comes is not known until the next file begins.
  void Miss(const Hole& hole);
  /// After each batch; false: it has ended, and nothing more is to be told.
  bool See(const RmReplay& replay);

  bool found() const { return found_; }
  bool ended() const { return ended_; }
  /// In the order of their beginnings, at most kMost.
  static constexpr size_t kMost = 60;
  std::vector<Chapter> Chapters() const;
  struct Sums {
    int64_t granted = 0;
    int64_t taken = 0;
    int64_t waited_ms = 0;  // in which at least one ask waited, for a second or more
    std::string user, queue, name, type;
    base::WallTime seen;  // when it was last there
    model::rm::AppState state{};
  };
  /// With what it has waited for until now.
  Sums sums() const;

 private:
  class Teller;
  struct Wait {
    base::WallTime since;  // something is pending from then on
    base::WallTime next_look;
    std::optional<size_t> chapter;  // that tells of it
  };
  /// The last chapter, if it is of that kind; else a new one.
  Chapter& Goes(Chapter::Kind kind, base::WallTime at);
  Chapter& Add(Chapter::Kind kind, base::WallTime at, std::string text = "");
  void Meet(const fairlead::rm::App& app, bool before);
  void Look(const RmReplay& replay, const fairlead::rm::App& app);
  void EndWait(base::WallTime now);
  /// Milliseconds of the wait that lasts; 0 of one that is too short to count.
  int64_t WaitedUntil(base::WallTime now) const;
  void TellActs(const RmReplay& replay);
  void Fold();
  bool Is(const fairlead::rm::Core& core, model::AppIndex app) const;
  std::string NameOf(const fairlead::rm::Core& core, model::AppIndex app) const;

  const model::ApplicationId id_;
  bool found_ = false;
  bool running_ = false;
  bool ended_ = false;
  std::vector<Chapter> chapters_;
  Wait wait_;
  bool waits_ = false;
  Sums sums_;
  model::AppIndex held_for_;                         // of this step's last reservation
  std::map<model::ContainerId, std::string> gains_;  // who is to get the room of containers of its
  std::map<model::NodeIndex, size_t> emptied_;  // nodes where it lost one, and the chapter that tells; of this step
};

}  // namespace fairlead::shell
