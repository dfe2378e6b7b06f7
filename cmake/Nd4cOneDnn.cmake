# A oneDNN that scripts/setup fetched is placed beside libnd4c.so, where the loader finds it through the library's RPATH.
# Without it the system's is looked for at run time, and without that engine onednn says that it is missing.

set(ND4C_ONEDNN_FILE "" CACHE FILEPATH "A libdnnl.so.3 to place beside libnd4c.so; empty: the one that setup fetched")
if(ND4C_ONEDNN AND NOT ND4C_ONEDNN_FILE AND NOT CMAKE_CROSSCOMPILING AND EXISTS ${PROJECT_SOURCE_DIR}/.cache/onednn/libdnnl.so.3)
  set(ND4C_ONEDNN_FILE ${PROJECT_SOURCE_DIR}/.cache/onednn/libdnnl.so.3)
endif()
if(ND4C_ONEDNN AND ND4C_ONEDNN_FILE)
  file(MAKE_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
  file(CREATE_LINK ${ND4C_ONEDNN_FILE} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libdnnl.so.3 SYMBOLIC)
endif()
