/* Implements cargo.h: small cargos lie behind their own record, larger ones in staging buffers. Only replica_copy.c
 * calls it. */
#include "device/storage/cargo.h"

#include <string.h>

#include "base/recycle.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/memory/staging.h"
#include "device/stream/fence.h"

/* At most SMALL_BYTES bytes are stored after the cargo's own record, which is recycled. */
enum { SMALL_BYTES = 32 * 1024, MOST_BUFFERS = 4 };

struct nd4c_cargo {
  nd4c_device *device;
  size_t size; /* of this record, with its bytes */
  int32_t count;
  nd4c_staging_buffer buffers[MOST_BUFFERS];
  char bytes[];
};

static nd4c_cargo *make(nd4c_device *device, int64_t bytes) {
  const size_t size = sizeof(nd4c_cargo) + (size_t)bytes;
  nd4c_cargo *cargo = nd4c_recycle_take_raw(size);
  if (cargo != NULL) {
    cargo->device = device;
    cargo->size = size;
    cargo->count = 0;
  }
  return cargo;
}

void nd4c_cargo_free(void *argument) {
  nd4c_cargo *cargo = argument;
  if (cargo == NULL) {
    return;
  }
  for (int32_t i = 0; i < cargo->count; i++) {
    nd4c_staging_give_spare(cargo->device, &cargo->buffers[i]);
  }
  nd4c_recycle_give(cargo, cargo->size);
}

/* Takes one buffer for each piece, or as many as are free. */
static void take_buffers(nd4c_cargo *cargo, int64_t pieces) {
  const int64_t wanted = pieces < MOST_BUFFERS ? pieces : MOST_BUFFERS;
  bool found = true;
  while (cargo->count < wanted && found) {
    found = nd4c_staging_take_spare(cargo->device, &cargo->buffers[cargo->count]);
    cargo->count += found;
  }
}

/* Waits for a piece whose buffer is needed for the next one. */
static nd4c_status wait_for(const nd4c_cargo *cargo, nd4c_fence *fence) {
  if (*fence == NULL) {
    return ND4C_OK;
  }
  const nd4c_status status = nd4c_driver_fence_wait(cargo->device, *fence);
  cargo->device->ops->fence_destroy(cargo->device->handle, *fence);
  *fence = NULL;
  return status;
}

/* The last pieces have no fence of their own: the caller's fence reports their failures. */
static nd4c_status send_pieces(const nd4c_cargo *cargo, nd4c_stream stream, const nd4c_block *to, const char *from,
                               int64_t bytes, nd4c_fence *fences) {
  int32_t turn = 0;
  for (int64_t at = 0; at < bytes; at += ND4C_STAGING_BYTES) {
    const int64_t rest = bytes - at, part = rest < ND4C_STAGING_BYTES ? rest : ND4C_STAGING_BYTES;
    char *buffer = cargo->buffers[turn].address;
    ND4C_TRY(wait_for(cargo, &fences[turn]));
    memcpy(buffer, from + at, (size_t)part);
    ND4C_TRY(nd4c_driver_copy_from_host(cargo->device, stream, to->buffer, to->offset + at, buffer, part));
    if (rest > (int64_t)cargo->count * ND4C_STAGING_BYTES) {
      ND4C_TRY(nd4c_driver_fence_record(cargo->device, stream, &fences[turn]));
    }
    turn = (turn + 1) % cargo->count;
  }
  return ND4C_OK;
}

static nd4c_status send_staged(nd4c_cargo *cargo, nd4c_stream stream, const nd4c_block *to, const char *from,
                               int64_t bytes) {
  nd4c_fence fences[MOST_BUFFERS] = {NULL};
  const nd4c_status status = send_pieces(cargo, stream, to, from, bytes, fences);
  for (int32_t i = 0; i < MOST_BUFFERS; i++) {
    if (fences[i] != NULL) { /* after a failure */
      cargo->device->ops->fence_destroy(cargo->device->handle, fences[i]);
    }
  }
  return status;
}

nd4c_cargo *nd4c_cargo_make(nd4c_device *device, int64_t bytes) {
  const bool small = bytes <= SMALL_BYTES;
  nd4c_cargo *cargo = small || device->staging != NULL ? make(device, small ? bytes : 0) : NULL;
  if (cargo == NULL || small) {
    return cargo;
  }
  take_buffers(cargo, (bytes - 1) / ND4C_STAGING_BYTES + 1);
  if (cargo->count == 0) {
    nd4c_cargo_free(cargo);
    return NULL;
  }
  return cargo;
}

bool nd4c_cargo_fits(const nd4c_cargo *cargo, int64_t bytes) {
  return cargo->count == 0 || bytes <= nd4c_cargo_held(cargo);
}

int64_t nd4c_cargo_held(const nd4c_cargo *cargo) {
  return (int64_t)cargo->count * ND4C_STAGING_BYTES;
}

nd4c_status nd4c_cargo_send(nd4c_cargo *cargo, nd4c_stream stream, const nd4c_block *to, const void *from,
                            int64_t bytes) {
  if (cargo->count == 0) {
    memcpy(cargo->bytes, from, (size_t)bytes);
    return nd4c_driver_copy_from_host(cargo->device, stream, to->buffer, to->offset, cargo->bytes, bytes);
  }
  return send_staged(cargo, stream, to, from, bytes);
}
