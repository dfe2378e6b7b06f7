/* Values of properties that no provider has declared yet: nd4c_config_set keeps them here until one does. The caller,
 * config.c, holds the lock of the values. */
#ifndef ND4C_BASE_CONFIG_CONFIG_PENDING_H
#define ND4C_BASE_CONFIG_CONFIG_PENDING_H

#include <stdint.h>

#include "nd4c/status.h"

enum { ND4C_PENDING_LIMIT = 64 };

/* Keeps a text, or forgets the previous one (text NULL). MEMORY; CONFIG if there are too many. A failure changes
 * nothing. */
nd4c_status nd4c_config_pending_set(const char *name, const char *text);
/* The text, valid until it is set or taken; NULL if there is none. */
const char *nd4c_config_pending_get(const char *name);
/* Hands the text to the caller, who frees it with nd4c_deallocate; NULL if there is none. */
char *nd4c_config_pending_take(const char *name);
int32_t nd4c_config_pending_count(void);
/* Name and text of value 0 .. count - 1. */
const char *nd4c_config_pending_at(int32_t index, const char **text);

#endif
