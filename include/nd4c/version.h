/* Version of the library and of its ABI, at compile time and at run time. */
#ifndef ND4C_VERSION_H
#define ND4C_VERSION_H

#include "nd4c/export.h"

#define ND4C_VERSION_MAJOR 0
#define ND4C_VERSION_MINOR 1
#define ND4C_VERSION_PATCH 0

ND4C_EXTERN_C_BEGIN
/* Version of the loaded library, "0.1.0". Static. */
ND4C_API const char *nd4c_version(void);
/* How the library was built: compiler, dtypes, instruction-set levels, pool. One line of text. Static. */
ND4C_API const char *nd4c_build_info(void);
ND4C_EXTERN_C_END
#endif
