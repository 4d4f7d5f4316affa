#include "engine/history/history_events.h"

#include <nlohmann/json.hpp>

#include "base/codec.h"
#include "wire/json/json.h"

namespace fairlead::engine::history {

namespace {

using nlohmann::json;

template <class T>
void FromJson(const json& in, T& out) {
  if constexpr (base::HasFields<T>) {
    if (!in.is_object()) return;
    T::VisitFields(out, [&](std::string_view name, auto& field) {
      const auto found = in.find(std::string(name));
      if (found != in.end()) FromJson(*found, field);
    });
  } else if constexpr (std::is_same_v<T, bool>) {
    if (in.is_boolean()) out = in.get<bool>();
  } else if constexpr (std::is_integral_v<T>) {
    if (in.is_number_integer()) out = static_cast<T>(in.get<int64_t>());
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (in.is_string()) out = in.get<std::string>();
  } else if constexpr (std::is_same_v<T, std::map<std::string, int64_t>>) {
    if (!in.is_array()) return;
    for (const json& pair : in) {
      if (pair.is_array() && pair.size() == 2 && pair[0].is_string())
        FromJson(pair[1], out[pair[0].get<std::string>()]);
    }
  } else {  // a vector
    if (!in.is_array()) return;
    out.resize(in.size());
    for (size_t i = 0; i < in.size(); ++i) FromJson(in[i], out[i]);
  }
}

template <size_t I = 0>
bool FromName(const std::string& name, const json& fields, Event& event) {
  if constexpr (I < std::variant_size_v<Event>) {
    using T = std::variant_alternative_t<I, Event>;
    if (name != T::kName) return FromName<I + 1>(name, fields, event);
    T value;
    FromJson(fields, value);
    event = std::move(value);
    return true;
  } else {
    return false;
  }
}

}  // namespace

std::string ToLine(const Event& event) {
  std::string line;
  base::ToJson(line, event);
  line += '\n';
  return line;
}

base::Result<std::optional<Event>> ParseLine(std::string_view line) {
  const auto parsed = wire::json::Parse(line, wire::json::kFile);
  if (!parsed || !parsed->is_object() || parsed->size() != 1) {
    return base::Error{"not an event of an application's log" + (parsed ? "" : ": " + parsed.error().message)};
  }
  Event event;
  if (!FromName(parsed->begin().key(), parsed->begin().value(), event)) return std::optional<Event>();
  return std::optional(std::move(event));
}

}  // namespace fairlead::engine::history
