/* Deferred storages: read-only contents on the host that a function writes when they are needed. Weights at an address
 * that kernels cannot read, and weights computed from others, are deferred: if kernels read them packed, the packed
 * form is their only copy in memory. dispatch/constants.c packs them; every other use gets a replica, which
 * replica_copy.c makes when it is first needed. The importer and graph/passes make such storages. */
#ifndef ND4C_DEVICE_STORAGE_DEFERRED_H
#define ND4C_DEVICE_STORAGE_DEFERRED_H

#include "array/array.h"

struct nd4c_storage_body;

/* Arrays of fewer bytes are not worth deferring. */
enum { ND4C_DEFERRED_LEAST = 1 << 16 };

/* What writes the contents. Both functions may be called by any thread, under the lock of a storage: they take no such
 * lock. */
typedef struct nd4c_deferral {
  nd4c_status (*fill)(void *user, void *to); /* writes all bytes of the storage; equal bytes each time */
  void (*release)(void *user);               /* when the storage is freed; NULL: nothing to do */
  void *user;
  const void *bytes; /* the contents, at any alignment, until the release; `fill` is not called. NULL: it is */
} nd4c_deferral;

/* A C-ordered array whose contents `deferral` writes. After a failure the caller still owns deferral->user. */
nd4c_status nd4c_deferred_array(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const nd4c_deferral *deferral,
                                nd4c_array **array);

/* Whether the storage is deferred and has no replica on the host yet. */
bool nd4c_deferred_is_pending(const nd4c_storage *storage);
/* Writes all bytes of a deferred storage to `to`, without making a replica. */
nd4c_status nd4c_deferred_write(const nd4c_storage *storage, void *to);

/* Whether other deferrals may read the storage in their `fill`: its contents never change, and reading them takes no
 * lock. */
bool nd4c_deferred_can_read(const nd4c_storage *storage);
/* The contents of such a storage: at its address, or written to new memory, which *made tells and the caller frees with
 * nd4c_deallocate. */
nd4c_status nd4c_deferred_read(const nd4c_storage *storage, const void **bytes, void **made);
/* As nd4c_deferred_read, for a caller that copies bytes: *bytes has any alignment. */
nd4c_status nd4c_deferred_read_bytes(const nd4c_storage *storage, const void **bytes, void **made);

/* Makes the replica on the host, which is then the only current one. Under the storage's lock; puts the operation off
 * while that replica has no memory. */
nd4c_status nd4c_deferred_make(struct nd4c_storage_body *body);
/* Frees the deferral when the storage is freed. */
void nd4c_deferred_free(struct nd4c_storage_body *body);

#endif
