/* The rules that every struct of the backend ABI follows: version, struct_size, and the handles that a backend gives to
 * nd4c. The other headers of plugin/ include it. */
#ifndef ND4C_PLUGIN_ABI_H
#define ND4C_PLUGIN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/export.h"

ND4C_EXTERN_C_BEGIN

/* nd4c accepts a plug-in with an equal major number and any minor number: structs carry their sizes, so each side reads
 * only the fields that the other side has. */
#define ND4C_PLUGIN_ABI_MAJOR 2
#define ND4C_PLUGIN_ABI_MINOR 0

#define ND4C_SIZE_OF(type) ((uint32_t)sizeof(type))
/* True if a struct that the other side filled includes `field`. */
#define ND4C_HAS_FIELD(pointer, field) \
  ((pointer)->struct_size >=           \
   (size_t)((const char *)&(pointer)->field - (const char *)(pointer)) + sizeof((pointer)->field))

/* Handles that the backend defines; nd4c only stores them. */
typedef struct nd4c_buffer_handle *nd4c_buffer;
typedef struct nd4c_stream_handle *nd4c_stream;
typedef struct nd4c_fence_handle *nd4c_fence;
typedef struct nd4c_executable_handle *nd4c_executable;
typedef struct nd4c_recording_handle *nd4c_recording;
typedef struct nd4c_launchable_handle *nd4c_launchable;
typedef struct nd4c_member_handle *nd4c_member;
typedef struct nd4c_timing_handle *nd4c_timing;

/* A handle of nd4c: the cancellations of the thread that makes a call. host->check_cancelled checks them. */
typedef struct nd4c_cancellation_scope nd4c_cancellation_scope;

ND4C_EXTERN_C_END
#endif
