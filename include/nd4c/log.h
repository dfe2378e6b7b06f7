/* Log messages, silent unless a callback is set or `nd4j.log.initialization` (ND4J_LOG_INITIALIZATION) asks for them on
 * stderr. */
#ifndef ND4C_LOG_H
#define ND4C_LOG_H

#include "nd4c/export.h"

ND4C_EXTERN_C_BEGIN

typedef enum nd4c_log_level {
  ND4C_LOG_ERROR = 1,
  ND4C_LOG_WARNING = 2,
  ND4C_LOG_INFO = 3,
  ND4C_LOG_DEBUG = 4
} nd4c_log_level;

/* Receives one message. `area` is a short noun ("registry", "dispatch"), and `message` is one line; both are valid only
 * during the call. Before nd4c calls a function of a backend or plug-in to load, probe or open that backend, it logs
 * "NAME: FUNCTION" at level DEBUG in area "provider". If the function ends the process, the last message names the
 * function. nd4c calls the callback from any thread, and holds at most the lock of the backends, which is recursive. */
typedef void (*nd4c_log_callback)(void *user, nd4c_log_level level, const char *area, const char *message);

/* Sends messages up to `level` to `callback`; NULL turns them off. Any thread; a message in flight on another thread
 * may still reach the previous callback. */
ND4C_API void nd4c_log_set(nd4c_log_callback callback, void *user, nd4c_log_level level);

ND4C_EXTERN_C_END
#endif
