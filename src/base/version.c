/* The version and the build options of the library: implements nd4c/version.h. Programs and the Python package call
 * it. */
#include "nd4c/version.h"

#include "builtin_providers.h"

#define TEXT_OF(token) #token
#define TEXT(token) TEXT_OF(token)

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "another compiler"
#endif

#if defined(__x86_64__)
#define PROCESSOR "x86-64"
#elif defined(__aarch64__)
#define PROCESSOR "arm64"
#elif defined(__powerpc64__)
#define PROCESSOR "ppc64le"
#else
#define PROCESSOR "generic"
#endif

const char *nd4c_version(void) {
  return TEXT(ND4C_VERSION_MAJOR) "." TEXT(ND4C_VERSION_MINOR) "." TEXT(ND4C_VERSION_PATCH);
}

const char *nd4c_build_info(void) {
  return ND4C_BUILD_TYPE ", " COMPILER ", " PROCESSOR ", dtypes " ND4C_BUILD_DTYPES;
}
