/* Cargos: the host copies bytes to memory of nd4c, from which the device copies them asynchronously. The source may
 * change as soon as the call returns. replica_copy.c uses them. */
#ifndef ND4C_DEVICE_STORAGE_CARGO_H
#define ND4C_DEVICE_STORAGE_CARGO_H

#include "device/memory/memory.h"

typedef struct nd4c_cargo nd4c_cargo;

/* Memory for a copy of that many bytes. NULL: they are too many for ordinary memory, and no staging buffer is free. */
nd4c_cargo *nd4c_cargo_make(nd4c_device *device, int64_t bytes);
/* Whether all of the bytes fit into it. If not, nd4c_cargo_send waits for the device, because at most four staging
 * buffers serve all pieces in turn. */
bool nd4c_cargo_fits(const nd4c_cargo *cargo, int64_t bytes);
/* Bytes of its memory that are worth collecting. */
int64_t nd4c_cargo_held(const nd4c_cargo *cargo);
/* Enqueues a copy from host memory, of the bytes for which the cargo was made. The caller frees the cargo when `stream`
 * has passed this point; after a failure, when the pieces that may be in flight have ended. */
nd4c_status nd4c_cargo_send(nd4c_cargo *cargo, nd4c_stream stream, const nd4c_block *to, const void *from,
                            int64_t bytes);
/* Frees an nd4c_cargo; NULL is fine. */
void nd4c_cargo_free(void *argument);

#endif
