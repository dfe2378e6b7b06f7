/* Buffers: blocks behind handles that are not addresses. Their bytes are scrambled, so that accidental reads by the
 * host are detected. device.c, operand.c and scratch.c read and write the bytes through it. */
#include <stdlib.h>
#include <string.h>

#include "stub.h"

enum { SCRAMBLE = 0x5a, MARKED_BYTES = 1 << 24 };
static const uintptr_t handle_mask = (uintptr_t)0x5bd1e995a7c3f10bULL;

/* Every live buffer; guarded by the lock, as are uses and freed. Handle numbers are never given out twice. */
static nd4c_host_lock lock;
static stub_buffer **table;
static int64_t table_count, table_capacity;
static uintptr_t next_number;
enum { DEVICES = 16 };
static _Atomic int64_t used[DEVICES];

int64_t stub_buffer_used(int32_t device) {
  return atomic_load(&used[device]);
}

static bool table_add(stub_buffer *buffer) {
  if (table_count == table_capacity) {
    int64_t capacity = table_capacity == 0 ? 64 : 2 * table_capacity;
    stub_buffer **grown = stub_host->allocate((size_t)capacity * sizeof(stub_buffer *));
    if (grown == NULL) {
      return false;
    }
    if (table_count > 0) {
      memcpy(grown, table, (size_t)table_count * sizeof(stub_buffer *));
    }
    stub_host->free(table);
    table = grown;
    table_capacity = capacity;
  }
  table[table_count++] = buffer;
  return true;
}

/* Called under the lock. */
static int64_t table_find(nd4c_buffer handle) {
  for (int64_t i = 0; i < table_count; i++) {
    if (table[i]->handle == handle) {
      return i;
    }
  }
  return -1;
}

static void count(const stub_buffer *buffer, int64_t sign) {
  if (buffer->imported != 0) {
    stub_count_add(STUB_COUNT_imports, sign);
    return;
  }
  if (buffer->kind != ND4C_MEMORY_KIND_DEVICE) {
    stub_count_add(STUB_COUNT_pinned, sign);
    return;
  }
  stub_count_add(STUB_COUNT_buffers, sign);
  stub_count_add(STUB_COUNT_buffer_bytes, sign * buffer->size);
  atomic_fetch_add(&used[buffer->device], sign * buffer->size);
}

static void destroy(stub_buffer *buffer) {
  count(buffer, -1);
  if (buffer->imported != 0) {
    stub_import_end(buffer);
  } else {
    stub_host->free(buffer->bytes);
  }
  stub_host->free(buffer);
}

nd4c_status stub_buffer_adopt(const stub_buffer *given, stub_buffer **result) {
  stub_buffer *buffer = stub_host->allocate(sizeof *buffer);
  if (buffer == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a buffer's record");
  }
  *buffer = *given;
  buffer->uses = 1;
  stub_lock(&lock);
  buffer->handle = (nd4c_buffer)(++next_number ^ handle_mask); /* a number, not an address */
  bool added = table_add(buffer);
  stub_unlock(&lock);
  if (!added) {
    stub_host->free(buffer);
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for the table of buffers");
  }
  count(buffer, 1);
  *result = buffer;
  return ND4C_OK;
}

nd4c_status stub_buffer_create(int32_t device, nd4c_memory_kind kind, int64_t bytes, int64_t leaving,
                               stub_buffer **result) {
  if (kind == ND4C_MEMORY_KIND_DEVICE && bytes > stub_memory() - stub_buffer_used(device) + leaving) {
    return stub_host->fail(ND4C_MEMORY, "stub: %lld bytes do not fit the device", (long long)bytes);
  }
  unsigned char *memory = stub_host->allocate(bytes > 0 ? (size_t)bytes : 1);
  if (memory == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a buffer of %lld bytes", (long long)bytes);
  }
  /* Memory that was never written shows. Of buffers that fill the device only the beginning: the pages of the rest are
   * not even there before something is written to them. */
  memset(memory, 0xc7, bytes > MARKED_BYTES ? MARKED_BYTES : bytes > 0 ? (size_t)bytes : 1);
  /* Buffers of the other kinds are not scrambled: the host reads and writes them in place. */
  const bool apart = kind == ND4C_MEMORY_KIND_DEVICE || stub_lies("unmanaged");
  const stub_buffer like = {
      .bytes = memory, .size = bytes, .device = device, .kind = kind, .scramble = apart ? SCRAMBLE : 0};
  nd4c_status status = stub_buffer_adopt(&like, result);
  if (status != ND4C_OK) {
    stub_host->free(memory);
  }
  return status;
}

void *stub_buffer_address(const stub_buffer *buffer) {
  /* Addresses with bits 52 to 55 set, which no processor translates, so that the host faults if it uses one; 4 GiB for
   * each of 65536 buffers. */
  uintptr_t number = (uintptr_t)buffer->handle ^ handle_mask;
  uintptr_t address = ((uintptr_t)0xf0 << 48) + ((number & 0xffff) << 32);
  void *pointer = buffer->kind != ND4C_MEMORY_KIND_DEVICE ? buffer->bytes : buffer->address;
  if (pointer == NULL && stub_settings.addresses) {
    memcpy(&pointer, &address, sizeof pointer);
  }
  return pointer;
}

stub_buffer *stub_buffer_at(int32_t device, const void *address, int64_t bytes) {
  stub_buffer *found = NULL;
  stub_lock(&lock);
  for (int64_t i = 0; i < table_count && found == NULL; i++) {
    stub_buffer *buffer = table[i];
    const uintptr_t begin = (uintptr_t)stub_buffer_address(buffer), at = (uintptr_t)address;
    const bool mine = buffer->device == device && buffer->kind == ND4C_MEMORY_KIND_DEVICE && !buffer->freed;
    if (mine && at >= begin && bytes <= buffer->size && at - begin <= (uintptr_t)(buffer->size - bytes)) {
      buffer->uses++;
      found = buffer;
    }
  }
  stub_unlock(&lock);
  return found;
}

stub_buffer *stub_buffer_use(nd4c_buffer handle) {
  stub_lock(&lock);
  int64_t index = table_find(handle);
  stub_buffer *buffer = index >= 0 ? table[index] : NULL;
  bool stale = buffer == NULL || buffer->freed;
  if (!stale) {
    buffer->uses++;
  }
  stub_unlock(&lock);
  if (stale) {
    (void)stub_violation("a buffer handle that is freed or was never given out");
    return NULL;
  }
  return buffer;
}

void stub_buffer_retain(stub_buffer *buffer) {
  stub_lock(&lock);
  buffer->uses++;
  stub_unlock(&lock);
}

void stub_buffer_done(stub_buffer *buffer) {
  stub_lock(&lock);
  bool last = --buffer->uses == 0;
  if (last) {
    table[table_find(buffer->handle)] = table[table_count - 1];
    table_count--;
  }
  stub_unlock(&lock);
  if (last) {
    destroy(buffer);
  }
}

void stub_buffer_drop(stub_buffer *buffer) {
  stub_lock(&lock);
  /* One use belongs to the owner, one to the caller, which looked the handle up. */
  bool pending = buffer->uses > 2;
  buffer->freed = true;
  stub_unlock(&lock);
  if (pending) {
    (void)stub_violation("a buffer was freed while work on it was pending");
  }
  stub_buffer_done(buffer);
}

void stub_buffer_retire(stub_buffer *buffer) {
  stub_lock(&lock);
  buffer->freed = true;
  stub_unlock(&lock);
}

static bool within(const stub_buffer *buffer, int64_t offset, int64_t bytes) {
  return offset >= 0 && bytes >= 0 && bytes <= buffer->size && offset <= buffer->size - bytes;
}

static void scramble(void *to, const void *from, int64_t bytes, unsigned char key) {
  unsigned char *restrict target = to;
  const unsigned char *restrict source = from;
  for (int64_t i = 0; i < bytes; i++) {
    target[i] = source[i] ^ key;
  }
}

nd4c_status stub_buffer_read(const stub_buffer *buffer, int64_t offset, void *to, int64_t bytes) {
  if (!within(buffer, offset, bytes)) {
    return stub_violation("a read outside a buffer");
  }
  scramble(to, buffer->bytes + offset, bytes, buffer->scramble);
  return ND4C_OK;
}

nd4c_status stub_buffer_write(stub_buffer *buffer, int64_t offset, const void *from, int64_t bytes) {
  if (!within(buffer, offset, bytes)) {
    return stub_violation("a write outside a buffer");
  }
  scramble(buffer->bytes + offset, from, bytes, buffer->scramble);
  return ND4C_OK;
}
