# Apache Arrow for the component Fairlead::parquet, which is built where this makes the target fairlead_arrow.
include(FairleadArrow)
set(FAIRLEAD_PARQUET AUTO CACHE STRING "Parquet in and out for the engine: ON, OFF, or AUTO: where Apache Arrow is found, without sanitizers")
set_property(CACHE FAIRLEAD_PARQUET PROPERTY STRINGS AUTO ON OFF)

# Arrow's libraries are not built with sanitizers.
if(FAIRLEAD_PARQUET STREQUAL "ON" OR (FAIRLEAD_PARQUET STREQUAL "AUTO" AND NOT FAIRLEAD_SANITIZE))
  fairlead_find_arrow(fairlead_arrow)
  if(FAIRLEAD_PARQUET STREQUAL "ON" AND NOT TARGET fairlead_arrow)
    message(FATAL_ERROR "FAIRLEAD_PARQUET is ON, but there is no Apache Arrow: tools/setup --parquet fetches it")
  endif()
endif()
