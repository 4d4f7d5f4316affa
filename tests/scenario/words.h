#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/resources.h"

namespace fairlead::scenario {

/// One line of a scenario, read word by word. A word that is not what it should be is kept as the error, and what is
/// read from then on is empty; so a statement reads all it needs and looks at error() once.
class Words {
 public:
  /// "#" begins a comment.
  explicit Words(std::string_view line);

  bool done() const { return at_ == words_.size(); }
  std::string_view Peek() const { return done() ? std::string_view() : std::string_view(words_[at_]); }
  /// Takes the next word if it is `word`.
  bool Take(std::string_view word);
  void Need(std::string_view word);
  std::string Next(const std::string& what);
  int64_t Count(const std::string& what);
  double Number(const std::string& what);
  /// "500 ms" or "3 s".
  base::Duration Time();
  /// "4 GiB 2 cores", or one of the two; amounts by type name.
  std::map<std::string, int64_t> Amounts();
  model::Resources Amount();
  /// Nothing may follow.
  void End();

  void Fail(const std::string& what);
  const std::string& error() const { return error_; }

 private:
  std::vector<std::string> words_;
  size_t at_ = 0;
  std::string error_;
};

/// "4 GiB 2 cores".
std::string TextOf(const model::Resources& amount);

}  // namespace fairlead::scenario
