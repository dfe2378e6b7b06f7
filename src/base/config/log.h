/* Logging for code inside nd4c: base, device, dispatch and graph call it. device/memory/host.c offers it to
 * backends. */
#ifndef ND4C_BASE_CONFIG_LOG_H
#define ND4C_BASE_CONFIG_LOG_H

#include <stdbool.h>

#include "nd4c/log.h"

/* Whether messages of that level are logged. */
bool nd4c_log_is_wanted(nd4c_log_level level);
/* Formats and delivers one line if messages of that level are logged; otherwise returns at once. */
void nd4c_log_write(nd4c_log_level level, const char *area, const char *format, ...) ND4C_PRINTF(3, 4);

#endif
