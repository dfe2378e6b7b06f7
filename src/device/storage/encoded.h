/* Encoded storages: their contents are quantised blocks in the host's memory, and nothing writes them. Kernels that
 * read such blocks get them; whatever else uses the storage gets a replica, decoded when it is first needed. */
#ifndef ND4C_DEVICE_ENCODED_H
#define ND4C_DEVICE_ENCODED_H

#include "array/array.h"
#include "array/layout.h"
#include "device/device.h"
#include "nd4c/plugin/call.h"

struct nd4c_storage_body;

/* A storage whose contents are a copy of `blocks`, layout->bytes of them. The layout is sound. */
nd4c_status nd4c_encoded_create(const nd4c_layout *layout, const void *blocks, nd4c_storage **storage);
/* NULL: the storage is none. It lives as long as the storage. */
const nd4c_layout *nd4c_encoded_layout(const nd4c_storage *storage);

/* Shows a tensor of the storage, whose element 0 is at `offset`, as it is encoded: layout, arrangement and the blocks.
 * False, and the tensor stays as it is, unless it is all of the storage in C order, or a matrix turned, and the device
 * is the host's. */
bool nd4c_encoded_show(const nd4c_storage *storage, int64_t offset, const nd4c_device *device, nd4c_tensor *tensor);

/* Decodes the contents into a replica on the host, which is then the only current one. Under the storage's lock; puts
 * the operation off while that replica has no memory. */
nd4c_status nd4c_encoded_decode(struct nd4c_storage_body *body);
/* Frees the blocks of a storage that ends. */
void nd4c_encoded_free(struct nd4c_storage_body *body);

#endif
