# Options of the build, and the flags that every target of the project shares (target nd4c_flags).

set(ND4C_DTYPES "full" CACHE STRING "Element types in the build: full, or lite (see include/nd4c/dtype.h)")
set_property(CACHE ND4C_DTYPES PROPERTY STRINGS full lite)
option(ND4C_TESTS "Build the tests" ON)
option(ND4C_FUZZ "Build the libFuzzer programs (clang)" OFF)
option(ND4C_WERROR "Treat warnings as errors" OFF)
option(ND4C_OPENBLAS "Engine openblas: found at run time" ON)
option(ND4C_FFTW "Engine fftw: found at run time" ON)
option(ND4C_ONEDNN "Engine onednn: found at run time" ON)
option(ND4C_HWLOC "Pool width from hwloc" ON)
option(ND4C_OPENMP "Pool on OpenMP's runtime, shared with OpenBLAS and oneDNN" ON)
set(ND4C_LEVELS "" CACHE STRING "Instruction-set levels to build beside the lowest, separated by semicolons; empty: all")
set(ND4C_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined or thread")

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "nd4c runs on Linux, on x86-64 and arm64, and this build is for ${CMAKE_SYSTEM_NAME}")
elseif(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64|arm64)$")
  message(WARNING "nd4c is made for x86-64 and arm64; it has not been tested on ${CMAKE_SYSTEM_PROCESSOR}")
endif()
if(DEFINED BUILD_SHARED_LIBS AND NOT BUILD_SHARED_LIBS)
  message(FATAL_ERROR "BUILD_SHARED_LIBS is ${BUILD_SHARED_LIBS}, but nd4c is a shared library only. Its devices, memory, "
    "threads and configuration exist once in a process; two static copies, of a program and of a Python module in it for "
    "example, would each have their own. What to do: leave BUILD_SHARED_LIBS out, or, where a project that contains "
    "nd4c sets it for its other parts, set(BUILD_SHARED_LIBS ON) before add_subdirectory(nd4c)")
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
if(NOT ND4C_SANITIZE) # with sanitizers, tests link hidden functions from a shared library: see src/CMakeLists.txt
  set(CMAKE_C_VISIBILITY_PRESET hidden)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

find_package(Threads REQUIRED)
# Found here and not in src/: the static library's users (tests) must see the imported target too. libgomp is not built
# with ThreadSanitizer, which would report its barriers as races.
if(ND4C_OPENMP AND NOT ND4C_SANITIZE MATCHES "thread")
  find_package(OpenMP COMPONENTS C)
endif()

add_library(nd4c_flags INTERFACE)
target_include_directories(nd4c_flags INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(nd4c_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wcast-qual -Wundef
  -Wvla -fno-semantic-interposition -fno-math-errno -ffp-contract=off -fno-common)
target_link_libraries(nd4c_flags INTERFACE Threads::Threads m ${CMAKE_DL_LIBS})
if(ND4C_WERROR)
  target_compile_options(nd4c_flags INTERFACE -Werror)
endif()
if(ND4C_DTYPES STREQUAL "lite")
  target_compile_definitions(nd4c_flags INTERFACE ND4C_DTYPES_LITE=1)
elseif(NOT ND4C_DTYPES STREQUAL "full")
  message(FATAL_ERROR "ND4C_DTYPES is '${ND4C_DTYPES}': expected full or lite")
endif()
if(ND4C_SANITIZE)
  target_compile_options(nd4c_flags INTERFACE -fsanitize=${ND4C_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(nd4c_flags INTERFACE -fsanitize=${ND4C_SANITIZE})
endif()
