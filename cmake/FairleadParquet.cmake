# Whether the component Fairlead::parquet is built: sets FAIRLEAD_HAS_PARQUET and makes the target fairlead_arrow.
include(FairleadArrow)
set(FAIRLEAD_PARQUET AUTO CACHE STRING "Parquet in and out for the engine: ON, OFF, or AUTO: where Apache Arrow is found, without sanitizers")
set_property(CACHE FAIRLEAD_PARQUET PROPERTY STRINGS AUTO ON OFF)
set(FAIRLEAD_HAS_PARQUET OFF)

# Arrow's libraries are not built with sanitizers.
if(FAIRLEAD_PARQUET STREQUAL "ON" OR (FAIRLEAD_PARQUET STREQUAL "AUTO" AND NOT FAIRLEAD_SANITIZE))
  fairlead_find_arrow(fairlead_arrow)
  if(TARGET fairlead_arrow)
    set(FAIRLEAD_HAS_PARQUET ON)
  elseif(FAIRLEAD_PARQUET STREQUAL "ON")
    message(FATAL_ERROR "FAIRLEAD_PARQUET is ON, but there is no Apache Arrow: tools/setup --parquet fetches it")
  endif()
endif()
