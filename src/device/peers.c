/* Implements peers.h and nd4c_device_peer. device/storage/transfer_stream.c asks before a direct copy; device/registry
 * makes the table of answers when it opens a device. */
#include "device/peers.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/log.h"
#include "base/status.h"
#include "device/driver.h"

/* An answer is a number: UNKNOWN, or 1 + kind + KINDS * rank. Several threads that ask at once store the same. */
enum { UNKNOWN = 0, KINDS = ND4C_PEER_ACCESS + 1, RANK_LIMIT = 65535 };

nd4c_status nd4c_peers_make(nd4c_device *device, int32_t count) {
  device->peers = nd4c_allocate_zeroed((size_t)count, sizeof *device->peers);
  device->peer_count = count;
  return device->peers != NULL ? ND4C_OK : nd4c_fail_memory("a device's peers", (size_t)count * sizeof *device->peers);
}

void nd4c_peers_free(nd4c_device *device) {
  nd4c_deallocate(device->peers);
  device->peers = NULL;
  device->peer_count = 0;
}

/* The backend's answer, if it is valid. */
static nd4c_status ask(const nd4c_device *device, const nd4c_device *other, nd4c_peer_link *link) {
  const nd4c_device_ops *ops = device->ops;
  *link = (nd4c_peer_link){.struct_size = ND4C_SIZE_OF(nd4c_peer_link)};
  if (ops->peer == NULL) {
    link->kind = ops->copy_between != NULL ? ND4C_PEER_COPY : ND4C_PEER_NONE;
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_driver_peer(device, other, link));
  if ((int)link->kind < ND4C_PEER_NONE || (int)link->kind > ND4C_PEER_ACCESS || link->rank < 0 ||
      link->rank > RANK_LIMIT) {
    return nd4c_fail(ND4C_ABI, "peer of %s to %s gave kind %d and rank %d, expected 0 to %d and 0 to %d", device->name,
                     other->name, (int)link->kind, link->rank, (int)ND4C_PEER_ACCESS, RANK_LIMIT);
  }
  if (link->kind == ND4C_PEER_COPY && ops->copy_between == NULL) {
    return nd4c_fail(ND4C_ABI, "peer of %s to %s reports copies, but the backend has no copy_between", device->name,
                     other->name);
  }
  return ND4C_OK;
}

static nd4c_status find(const nd4c_device *device, const nd4c_device *other, int32_t *answer) {
  const bool siblings = device->backend == other->backend && other->index < device->peer_count;
  *answer = device == other ? 1 + ND4C_PEER_ACCESS : 1 + ND4C_PEER_NONE;
  if (device == other || !siblings) {
    return ND4C_OK;
  }
  _Atomic int32_t *kept = &device->peers[other->index];
  *answer = atomic_load_explicit(kept, memory_order_relaxed);
  if (*answer == UNKNOWN) {
    nd4c_peer_link link;
    ND4C_TRY(ask(device, other, &link));
    *answer = 1 + (int32_t)link.kind + KINDS * link.rank;
    atomic_store_explicit(kept, *answer, memory_order_relaxed);
  }
  return ND4C_OK;
}

bool nd4c_peers_reach(const nd4c_device *device, const nd4c_device *other) {
  int32_t answer;
  const nd4c_status status = find(device, other, &answer);
  if (status != ND4C_OK) {
    nd4c_log_write(ND4C_LOG_WARNING, "device", "copies from %s to %s pass through the host: %s", other->name,
                   device->name, nd4c_error_message());
    if (status != ND4C_MEMORY) { /* it is not asked again for each copy */
      atomic_store_explicit(&device->peers[other->index], 1 + ND4C_PEER_NONE, memory_order_relaxed);
    }
    return false;
  }
  return (answer - 1) % KINDS != ND4C_PEER_NONE;
}

nd4c_status nd4c_device_peer(const nd4c_device *device, const nd4c_device *other, nd4c_peer_info *info) {
  enum { FIRST_SIZE = offsetof(nd4c_peer_info, rank) + sizeof(int32_t) };
  int32_t answer;
  ND4C_TRY(nd4c_device_check(device, "nd4c_device_peer"));
  ND4C_TRY(nd4c_device_check(other, "nd4c_device_peer"));
  if (info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_device_peer: info is NULL");
  }
  if (info->struct_size < FIRST_SIZE) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_peer_info)", info->struct_size);
  }
  ND4C_TRY(find(device, other, &answer));
  info->kind = (nd4c_peer_kind)((answer - 1) % KINDS);
  info->rank = (answer - 1) / KINDS;
  return ND4C_OK;
}

const char *nd4c_peer_kind_name(nd4c_peer_kind kind) {
  static const char *const names[KINDS] = {"none", "copy", "access"};
  return (int)kind >= 0 && (int)kind < KINDS ? names[kind] : "?";
}
