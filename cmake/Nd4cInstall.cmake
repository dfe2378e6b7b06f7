# Installation: library, headers, program, pkg-config file, CMake package nd4c::nd4c. Everything is relocatable.

include(CMakePackageConfigHelpers)

install(TARGETS nd4c EXPORT nd4cTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nd4c DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# For those who write backends: the page that the program names, and what it names, at the same places beside it.
install(FILES ${PROJECT_SOURCE_DIR}/docs/writing-a-backend.md ${PROJECT_SOURCE_DIR}/docs/compilers.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
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

# The oneDNN that stands beside the library in the build stands beside it when installed, too.
if(ND4C_ONEDNN_FILE)
  install(FILES ${ND4C_ONEDNN_FILE} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
