/* Packed contents, shared by all forms with equal bytes in an equal layout: of several arrays with equal elements,
 * several models from one file, several threads. forms.c has one for each form. Reference-counted; the last release
 * frees the memory. */
#ifndef ND4C_DEVICE_STORAGE_PACKED_H
#define ND4C_DEVICE_STORAGE_PACKED_H

#include "array/layout.h"
#include "device/memory/memory.h"

typedef struct nd4c_packed nd4c_packed;

/* New memory for a layout, with one reference; no other form finds it yet. `engine`: static text. MEMORY,
 * MEMORY_CAP. */
nd4c_status nd4c_packed_make(nd4c_device *device, const char *engine, const nd4c_layout *layout, nd4c_packed **out);
/* Called when the contents are complete; they never change afterwards. If there are equal ones, frees these and returns
 * the others with one reference. Only on devices whose memory the host reads; on others nothing is shared. */
nd4c_packed *nd4c_packed_share(nd4c_packed *packed);
nd4c_packed *nd4c_packed_retain(nd4c_packed *packed);
/* Returns the bytes that became free: 0 while others use the contents. */
int64_t nd4c_packed_release(nd4c_packed *packed);

const nd4c_block *nd4c_packed_block(const nd4c_packed *packed);
const nd4c_layout *nd4c_packed_layout(const nd4c_packed *packed);
/* Contents that were found equal to others and freed, since the process began: for tests. */
int64_t nd4c_packed_shared(void);

/* Two hashes of the bytes. */
void nd4c_fingerprint_take(const void *bytes, int64_t count, uint64_t print[2]);

/* In a child of fork: resets the lock, which a thread of the parent may have held. */
void nd4c_packed_forget_lock(void);

#endif
