/* The rules that every struct of the backend ABI follows: its version, struct_size, and the handles that a backend
 * gives out. */
#ifndef ND4C_PLUGIN_ABI_H
#define ND4C_PLUGIN_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/export.h"

ND4C_EXTERN_C_BEGIN

/* A plug-in is accepted if its major number is equal, whatever its minor number: structs carry their sizes, so that
 * each side reads what the other one has. */
#define ND4C_PLUGIN_ABI_MAJOR 2
#define ND4C_PLUGIN_ABI_MINOR 0

#define ND4C_SIZE_OF(type) ((uint32_t)sizeof(type))
/* True if a struct filled by the other side reaches as far as `field`. */
#define ND4C_HAS_FIELD(pointer, field) \
  ((pointer)->struct_size >= (const char *)&(pointer)->field - (const char *)(pointer) + sizeof((pointer)->field))

/* Handles of the backend's own; nd4c only stores them. */
typedef struct nd4c_buffer_handle *nd4c_buffer;
typedef struct nd4c_stream_handle *nd4c_stream;
typedef struct nd4c_fence_handle *nd4c_fence;
typedef struct nd4c_executable_handle *nd4c_executable;
typedef struct nd4c_recording_handle *nd4c_recording;
typedef struct nd4c_launchable_handle *nd4c_launchable;
typedef struct nd4c_member_handle *nd4c_member;
typedef struct nd4c_timing_handle *nd4c_timing;

/* nd4c's: what may stop the thread that makes a call. host->check_cancelled tells. */
typedef struct nd4c_cancellation_scope nd4c_cancellation_scope;

ND4C_EXTERN_C_END
#endif
