/* Variables of the environment that single libraries see. setenv is not safe while other threads may call getenv, so a
 * library that takes advice only from its environment is made to ask nd4c instead. device/memory/host.c gives this to
 * backends as nd4c_host.library_setenv. */
#ifndef ND4C_BASE_LIBRARY_ENVIRONMENT_H
#define ND4C_BASE_LIBRARY_ENVIRONMENT_H

#include "nd4c/status.h"

/* As nd4c_host.library_setenv says. */
nd4c_status nd4c_library_environment_set(void *library, const char *name, const char *value);

#endif
