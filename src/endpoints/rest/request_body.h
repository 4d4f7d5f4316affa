#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/yarn/client.h"

namespace fairlead::endpoints::rest {

/// The body of a REST request as a JSON object, without its element `root` when it has nothing else: XML when
/// `content_type` says so (repeated elements become arrays, as JAXB has them), else JSON. An Error: neither, XML with
/// another root, or more than wire/json and wire/xml take of a request. `xml_root`: where XML alone has one.
base::Result<nlohmann::json> ParseBody(std::string_view content_type, std::string_view body, const char* root,
                                       const char* xml_root = nullptr);

/// A field as text; `fallback` where it is missing, null, an object or a list.
std::string Text(const nlohmann::json& object, const char* key, const std::string& fallback = "");
/// A field as a number, saturated; `fallback` where it is missing.
int64_t Number(const nlohmann::json& object, const char* key, int64_t fallback);
/// The same for what has 32 bits on the wire.
int32_t SmallNumber(const nlohmann::json& object, const char* key, int32_t fallback);

/// The elements of `object[key]`, or of `object[key][inner]` where there is one: JAXB writes a lone element bare.
std::vector<nlohmann::json> Items(const nlohmann::json& object, const char* key, const char* inner = nullptr);

/// dao/ApplicationSubmissionContextInfo as the message that an RPC client would send. An Error names the field.
base::Result<wire::yarn::ApplicationSubmissionContextProto> SubmissionOf(const nlohmann::json& body);

}  // namespace fairlead::endpoints::rest
