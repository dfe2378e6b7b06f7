/* Values of properties that no provider has declared yet: nd4c_config_set keeps them until one does. Nothing here
 * locks: the caller holds the lock of the values (config.c). */
#ifndef ND4C_BASE_CONFIG_PENDING_H
#define ND4C_BASE_CONFIG_PENDING_H

#include <stdint.h>

#include "nd4c/status.h"

enum { ND4C_PENDING_LIMIT = 64 };

/* Keeps a text, or forgets the one before (text NULL). MEMORY; CONFIG if there are too many. Nothing has changed then.
 */
nd4c_status nd4c_config_pending_set(const char *name, const char *text);
/* The text, valid until it is set or taken; NULL if there is none. */
const char *nd4c_config_pending_get(const char *name);
/* Hands the text to the caller, who frees it with nd4c_deallocate; NULL if there is none. */
char *nd4c_config_pending_take(const char *name);
int32_t nd4c_config_pending_count(void);
/* Name and text of one of them, below the count. */
const char *nd4c_config_pending_at(int32_t index, const char **text);

#endif
