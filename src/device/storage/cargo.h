/* Copies that are sent: the host puts the bytes into memory of nd4c's, from where the device takes them. The memory
 * that they came from may change at once. */
#ifndef ND4C_DEVICE_CARGO_H
#define ND4C_DEVICE_CARGO_H

#include "device/memory/memory.h"

typedef struct nd4c_cargo nd4c_cargo;

/* Enqueues a copy from host memory. *cargo: what it needs until `stream` has passed this point, *held: bytes of that
 * which are worth collecting. The host waits only for what does not fit into four staging buffers. UNSUPPORTED: it is
 * too much for memory of the host's own, and there are no staging buffers to spare; nothing was enqueued. After another
 * failure *cargo is needed until what may be under way has ended. */
nd4c_status nd4c_cargo_send(nd4c_device *device, nd4c_stream stream, const nd4c_block *to, const void *from,
                            int64_t bytes, nd4c_cargo **cargo, int64_t *held);
/* Of an nd4c_cargo; NULL is fine. */
void nd4c_cargo_free(void *cargo);

#endif
