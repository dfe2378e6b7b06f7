# A oneDNN that the scripts fetched is placed in a private folder beside libnd4c.so, where the loader finds it through
# the library's RPATH. Without it libnd4c.so loads the system's oneDNN at run time. If there is none, engine onednn
# reports that the library is missing.

set(ND4C_PRIVATE_FOLDER nd4c) # beside libnd4c.so, in the build and installed; src/base/os_linux.c knows it too
set(ND4C_ONEDNN_FILE "" CACHE FILEPATH "A libdnnl.so.3 for the folder nd4c beside libnd4c.so; empty: the one that the scripts fetched")
if(ND4C_ONEDNN AND NOT ND4C_ONEDNN_FILE AND NOT CMAKE_CROSSCOMPILING AND EXISTS ${PROJECT_SOURCE_DIR}/.cache/onednn/libdnnl.so.3)
  set(ND4C_ONEDNN_FILE ${PROJECT_SOURCE_DIR}/.cache/onednn/libdnnl.so.3)
endif()
if(ND4C_ONEDNN AND ND4C_ONEDNN_FILE)
  file(REMOVE ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libdnnl.so.3) # older versions of this file placed it here
  file(MAKE_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${ND4C_PRIVATE_FOLDER})
  file(CREATE_LINK ${ND4C_ONEDNN_FILE} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${ND4C_PRIVATE_FOLDER}/libdnnl.so.3 SYMBOLIC)
endif()
