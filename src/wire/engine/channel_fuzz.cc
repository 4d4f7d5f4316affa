#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/engine/channel.h"

// A stranger's bytes behind the records of a peer: none of them becomes a word.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::wire::engine;
  const std::string key(32, 'k');
  Opener opener(key);
  std::string wire;
  std::string plain;
  Sealer(key).Seal("the first", wire);
  if (!opener.Open(wire, plain).ok() || plain != "the first") std::abort();
  const std::string_view strangers(reinterpret_cast<const char*>(data), size);
  const size_t cut = size / 2;
  if (opener.Open(strangers.substr(0, cut), plain).ok()) (void)opener.Open(strangers.substr(cut), plain);
  if (plain != "the first") std::abort();
  return 0;
}
