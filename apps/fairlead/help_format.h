#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace fairlead::apps {

/// What an option's value is, for people: "NUMBER, 1 to 64" of CLI11's "INT:INT in [1 - 64]", "rm|nm|all" of its
/// "TEXT:{rm,nm,all}".
std::string KindInWords(std::string_view type);

/// Of all commands' --help.
std::shared_ptr<CLI::FormatterBase> MakeHelpFormatter();

}  // namespace fairlead::apps
