// The file of a credential, and credentials, that say anything.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "shell/callers/credential.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::shell;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto token = CredentialToken(text)) {
    FL_CHECK(token->identifier + "." + token->password == text, "a credential that changes");
    FL_CHECK(text.find_first_of("\r\n\"") == text.npos, "a credential that leaves its header or its line");
  }
  const auto read = ParseCredentialFile("f", text);
  if (!read.ok()) return 0;
  for (const auto& [key, value] : read->Explicit()) {
    FL_CHECK(key.starts_with("fairlead.auth") || TellsOfACluster(key),
             "a file that says more than where its cluster is");
  }
  // What is written again is read again.
  const auto again =
      ParseCredentialFile("f", CredentialFile(read->String(kCredential), read->String(kCredentialKind), "again", {}));
  FL_CHECK(again.ok() && again->String(kCredential) == read->String(kCredential), "a file that changes");
  return 0;
}
