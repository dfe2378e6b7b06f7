/* Encoded storages: their contents are quantised blocks in the host's memory, and immutable. dispatch gives the blocks
 * to kernels that read them; every other use gets a decoded replica, which replica_copy.c makes when it is first
 * needed. */
#ifndef ND4C_DEVICE_STORAGE_ENCODED_H
#define ND4C_DEVICE_STORAGE_ENCODED_H

#include "array/array.h"
#include "array/layout.h"
#include "device/device.h"
#include "nd4c/plugin/call.h"

struct nd4c_storage_body;

/* A storage whose contents are a copy of layout->bytes bytes at `blocks`. The layout is valid. */
nd4c_status nd4c_encoded_create(const nd4c_layout *layout, const void *blocks, nd4c_storage **storage);
/* The storage's layout, valid as long as the storage; NULL: it is not encoded. */
const nd4c_layout *nd4c_encoded_layout(const nd4c_storage *storage);

/* Fills layout, arrangement and data of a tensor of the storage, whose element 0 is at `offset`, with the blocks.
 * False, with the tensor unchanged, unless the tensor is the whole storage in C order or as a transposed matrix, and
 * the device is the host. */
bool nd4c_encoded_show(const nd4c_storage *storage, int64_t offset, const nd4c_device *device, nd4c_tensor *tensor);

/* Decodes the contents into a replica on the host, which is then the only current one. Under the storage's lock; puts
 * the operation off while that replica has no memory. */
nd4c_status nd4c_encoded_decode(struct nd4c_storage_body *body);
/* Frees the blocks when the storage is freed. */
void nd4c_encoded_free(struct nd4c_storage_body *body);

#endif
