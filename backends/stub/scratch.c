/* Checks of scratch: each task writes a unique number to both ends of its scratch, and checks at its end that the
 * numbers are unchanged. work.c and compiler.c call it around their work. */
#include "stub.h"

static _Atomic int64_t next_stamp;

nd4c_status stub_scratch_bind(nd4c_buffer handle, int64_t bytes, stub_scratch *scratch) {
  *scratch = (stub_scratch){.handle = handle, .bytes = bytes};
  stub_count_set(STUB_COUNT_scratch_granted, bytes);
  if ((handle == NULL) != (bytes == 0) || bytes < 0) {
    return stub_violation("scratch without bytes, or bytes without scratch");
  }
  scratch->buffer = handle != NULL ? stub_buffer_use(handle) : NULL;
  return handle == NULL || scratch->buffer != NULL ? ND4C_OK
                                                   : stub_host->fail(ND4C_INTERNAL, "stub: scratch that is freed");
}

void stub_scratch_loosen(stub_scratch *scratch) {
  if (scratch->buffer != NULL) {
    stub_buffer_done(scratch->buffer);
  }
  scratch->buffer = NULL;
}

nd4c_status stub_scratch_begin(const stub_scratch *scratch, int64_t *stamp) {
  *stamp = atomic_fetch_add(&next_stamp, 1) + 1;
  if (scratch->buffer == NULL || scratch->bytes < (int64_t)sizeof *stamp) {
    return ND4C_OK;
  }
  if (stub_lies("scratch") && scratch->bytes + (int64_t)sizeof *stamp <= scratch->buffer->size) {
    return stub_buffer_write(scratch->buffer, scratch->bytes, stamp, (int64_t)sizeof *stamp);
  }
  nd4c_status status = stub_buffer_write(scratch->buffer, 0, stamp, (int64_t)sizeof *stamp);
  return status == ND4C_OK ? stub_buffer_write(scratch->buffer, scratch->bytes - (int64_t)sizeof *stamp, stamp,
                                               (int64_t)sizeof *stamp)
                           : status;
}

nd4c_status stub_scratch_end(const stub_scratch *scratch, int64_t stamp) {
  int64_t first = stamp, last = stamp;
  if (scratch->buffer == NULL || scratch->bytes < (int64_t)sizeof stamp || stub_lies("scratch")) {
    return ND4C_OK;
  }
  nd4c_status status = stub_buffer_read(scratch->buffer, 0, &first, (int64_t)sizeof first);
  status = status == ND4C_OK
               ? stub_buffer_read(scratch->buffer, scratch->bytes - (int64_t)sizeof last, &last, (int64_t)sizeof last)
               : status;
  return status == ND4C_OK && (first != stamp || last != stamp)
             ? stub_violation("two pieces of work were in the same scratch at once")
             : status;
}
