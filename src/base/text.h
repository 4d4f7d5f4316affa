#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::base {

/// Length of the well-formed UTF-8 sequence at the front of `text`, which must not be empty; 0 when there is none.
size_t Utf8Length(std::string_view text);

/// True for a sequence of UTF-8 that a terminal or a page obeys instead of showing it: control characters (C0, DEL, C1)
/// and those that turn the direction of writing or end a line.
bool IsControl(std::string_view sequence);

enum class Lines {
  kOne,   ///< line ends and tabs are escaped, too: the text cannot pass for more lines than one
  kKept,  ///< they stay
};

/// `text`, which a stranger may have written, for a log, a terminal or a page: control characters as \n, \t or \uXXXX,
/// bytes that are not UTF-8 as \u00XX. JSON stays JSON of the same meaning.
std::string VisibleText(std::string_view text, Lines lines = Lines::kOne);

/// "1 node", "2 nodes": the plural is the word with an s.
std::string Counted(int64_t count, std::string_view word);

/// Without blanks and control characters at both ends (String.trim).
std::string_view Trimmed(std::string_view text);
/// All parts, the empty ones too.
std::vector<std::string_view> Split(std::string_view text, char at);
/// Parts as Trimmed gives them, without the empty ones (StringUtils.getTrimmedStringCollection).
std::vector<std::string> SplitTrimmed(std::string_view text, char at = ',');
std::string Joined(std::span<const std::string> parts, std::string_view between);
/// ASCII letters; all other bytes stay.
std::string Lowered(std::string_view text);
std::string Uppered(std::string_view text);
/// Two lower-case digits a byte.
std::string Hex(std::string_view bytes);

}  // namespace fairlead::base
