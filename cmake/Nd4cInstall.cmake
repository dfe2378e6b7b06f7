# Installation: library, headers, program and its manual pages, pkg-config file, CMake package nd4c::nd4c, pages, licences,
# and the oneDNN that the build has. Everything is relocatable.

include(CMakePackageConfigHelpers)

install(TARGETS nd4c EXPORT nd4cTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nd4c DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# The pages and the files of the repository that they link to, in the repository's folders, so that links work. Pages of
# backends are links to the backends' folders.
file(GLOB_RECURSE pages CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/docs/*.md
  ${PROJECT_SOURCE_DIR}/docs/*.svg)
set(linked "")
foreach(page ${pages})
  get_filename_component(folder ${page} DIRECTORY)
  get_filename_component(name ${page} NAME)
  get_filename_component(file ${PROJECT_SOURCE_DIR}/${page} REALPATH)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} RENAME ${name})
  file(READ ${file} text)
  string(REGEX MATCHALL "\\(\\.\\./[^):# ]+" links "${text}")
  foreach(link ${links})
    string(SUBSTRING ${link} 1 -1 link)
    get_filename_component(target ${PROJECT_SOURCE_DIR}/${folder}/${link} ABSOLUTE)
    file(RELATIVE_PATH target ${PROJECT_SOURCE_DIR} ${target})
    if(NOT target MATCHES "^(docs|\\.\\.)/" AND EXISTS ${PROJECT_SOURCE_DIR}/${target})
      list(APPEND linked ${target})
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES linked)
foreach(target ${linked})
  get_filename_component(folder ${target} DIRECTORY)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${target})
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${target} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder}
      PATTERN "__pycache__" EXCLUDE)
  else()
    install(FILES ${PROJECT_SOURCE_DIR}/${target} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
  endif()
endforeach()
# The source files that how-to/writing-a-backend.md names.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/backends/stub DESTINATION ${CMAKE_INSTALL_DOCDIR}/backends
  FILES_MATCHING PATTERN "*.[ch]" PATTERN "README.md")
install(FILES ${PROJECT_SOURCE_DIR}/tests/plugin/contributor.c DESTINATION ${CMAKE_INSTALL_DOCDIR}/tests/plugin)

set(nd4c_package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/nd4c)
install(EXPORT nd4cTargets NAMESPACE nd4c:: DESTINATION ${nd4c_package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/nd4cConfig.cmake.in
  ${CMAKE_BINARY_DIR}/package/nd4cConfig.cmake INSTALL_DESTINATION ${nd4c_package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/nd4cConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/package/nd4cConfig.cmake ${CMAKE_BINARY_DIR}/package/nd4cConfigVersion.cmake
  DESTINATION ${nd4c_package_folder})

file(RELATIVE_PATH nd4c_pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/nd4c.pc.in ${CMAKE_BINARY_DIR}/package/nd4c.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/package/nd4c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The oneDNN of the build goes into a private folder, where libnd4c.so finds it through its RPATH and the loader does
# not search: in the folder of libraries it would replace the system's oneDNN for every program. Its licence is
# installed with it.
if(ND4C_ONEDNN AND ND4C_ONEDNN_FILE)
  install(FILES ${ND4C_ONEDNN_FILE} DESTINATION ${CMAKE_INSTALL_LIBDIR}/${ND4C_PRIVATE_FOLDER} RENAME libdnnl.so.3)
  install(FILES ${PROJECT_SOURCE_DIR}/bindings/python/licenses/oneDNN.txt DESTINATION ${CMAKE_INSTALL_DOCDIR}/licenses)
endif()
