/* Reads the elements of an array on any device, for layers below dispatch: nd4c_array_read is in dispatch, because it
 * may run ops to put elements in order. Host ops on strings and pictures (dispatch/text, dispatch/image), and the
 * comparison of constants in segments (segment_pattern.c), call it; dispatch/host_ops.c has the function behind it. */
#ifndef ND4C_DEVICE_PROVIDER_CONTENTS_H
#define ND4C_DEVICE_PROVIDER_CONTENTS_H

#include <stddef.h>

#include "base/hook.h"
#include "base/status.h"
#include "nd4c/array.h"

typedef struct nd4c_content_hook {
  nd4c_status (*read)(const nd4c_array *array, void *data, size_t bytes);
} nd4c_content_hook;
ND4C_HOOK_LIST(content_hooks, nd4c_content_hook);

/* As nd4c_array_read: waits for the work that writes the array. */
static inline nd4c_status nd4c_contents_read(const nd4c_array *array, void *data, size_t bytes) {
  ND4C_HOOK_EACH(content_hooks, nd4c_content_hook, hook) {
    return hook->read(array, data, bytes);
  }
  return nd4c_fail(ND4C_INTERNAL, "this program was linked without the reader of arrays");
}

#endif
