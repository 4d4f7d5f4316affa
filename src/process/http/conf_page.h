#pragma once

#include <string>

#include "process/http/http.h"

namespace fairlead::process::http {

/// What /conf answers: all of the configuration or the key of ?name=, XML unless JSON is asked for; 403 without one.
template <class Configuration>
Response ConfPage(const Request& request, const Configuration* configuration) {
  if (configuration == nullptr) return TextResponse(403, "Nobody may see the configuration here.\n");
  const bool json = FindHeader(request.headers, "Accept").find("json") != std::string_view::npos;
  const auto asked = request.query.find("name");
  const std::string name = asked == request.query.end() ? "" : asked->second;
  const auto shown = configuration->Render(json, name);
  if (!shown) return TextResponse(404, "Property " + name + " not found\n");
  Response response;
  response.body = *shown;
  response.content_type = json ? "application/json;charset=utf-8" : "text/xml;charset=utf-8";
  return response;
}

}  // namespace fairlead::process::http
