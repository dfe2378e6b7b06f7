/* nd4c_storage_exchange: a new value in a block that replaces the storage's. submit/returned.c calls it for executables
 * that allocate their results. */
#include "device/storage/storage.h"
#include "device/storage/storage_body.h"

/* The block stays if another use between acquire and commit has its handle, or if it is foreign or part of a
 * workspace. */
static bool may_go(const nd4c_storage_body *body, const nd4c_replica *replica) {
  const bool foreign = replica == &body->first && (body->base.flags & ND4C_STORAGE_FOREIGN) != 0;
  return replica->block.node != NULL && !replica->pinned && !foreign && replica->holds <= 1;
}

bool nd4c_storage_exchange(nd4c_storage *storage, nd4c_device *device, nd4c_block *block) {
  nd4c_storage_body *body = (nd4c_storage_body *)storage;
  nd4c_storage_lock(body);
  nd4c_replica *replica = nd4c_replica_find(body, device);
  const bool goes = replica != NULL && block->bytes >= storage->bytes && may_go(body, replica);
  if (goes) {
    const nd4c_block old = replica->block;
    replica->block = *block;
    *block = old;
    nd4c_storage_update_address(body);
  }
  nd4c_storage_unlock(body);
  return goes;
}
