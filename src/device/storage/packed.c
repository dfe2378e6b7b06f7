/* Implements packed.h: a table of complete contents by their fingerprints, under a lock. forms.c calls it. */
#include "device/storage/packed.h"

#include <string.h>

#include "base/alloc.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "base/threads/parallel.h"
#include "device/device.h"

enum { BINS = 256, PIECES = 64, PIECE_LEAST = 1 << 14 };

struct nd4c_packed {
  int32_t references; /* under the lock */
  bool listed;        /* in the table */
  uint64_t print[2];  /* if it is listed */
  nd4c_packed *next;  /* in its bin */
  nd4c_device *device;
  const char *engine;
  nd4c_layout layout;
  nd4c_block block;
};

/* Guards the table and all references. No memory is allocated or freed under it. */
static nd4c_lock table_lock = ND4C_LOCK_INIT;
static nd4c_packed *bins[BINS];
static _Atomic int64_t shared_count;

void nd4c_packed_forget_lock(void) {
  nd4c_lock_init(&table_lock);
}

int64_t nd4c_packed_shared(void) {
  return atomic_load_explicit(&shared_count, memory_order_relaxed);
}

/* -- fingerprints -------------------------------------------------------------------------------------------------- */

static inline uint64_t fold(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 32;
}

/* Two hashes of alternating words, so that the processor works on both at once. */
static void hash_piece(const unsigned char *from, int64_t count, uint64_t print[2]) {
  print[0] = UINT64_C(0x6a09e667f3bcc908) ^ (uint64_t)count;
  print[1] = UINT64_C(0xbb67ae8584caa73b);
  uint64_t words[2];
  int64_t at = 0;
  for (; at + (int64_t)sizeof words <= count; at += (int64_t)sizeof words) {
    memcpy(words, from + at, sizeof words);
    print[0] = fold(print[0], words[0]);
    print[1] = fold(print[1], words[1]);
  }
  words[0] = words[1] = 0;
  memcpy(words, from + at, (size_t)(count - at));
  print[0] = fold(print[0], words[0]);
  print[1] = fold(print[1], words[1]);
}

/* Contents in pieces, which threads hash side by side. */
typedef struct pieces {
  const unsigned char *from;
  int64_t count, each; /* bytes of all, and of a piece but the last */
  uint64_t prints[PIECES][2];
} pieces;

static void hash_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  pieces *p = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    const int64_t at = i * p->each, rest = p->count - at;
    hash_piece(p->from + at, rest < p->each ? rest : p->each, p->prints[i]);
  }
}

/* The pieces depend on the count alone, and so does the result for equal bytes. */
void nd4c_fingerprint_take(const void *bytes, int64_t count, uint64_t print[2]) {
  pieces p = {.from = bytes, .count = count, .each = count / PIECES + 1};
  if (p.each < PIECE_LEAST) {
    hash_piece(bytes, count, print);
    return;
  }
  const int64_t number = (count + p.each - 1) / p.each;
  nd4c_parallel_for(number, 1, nd4c_parallel_width(), hash_range, &p);
  hash_piece((const unsigned char *)p.prints, number * (int64_t)sizeof *p.prints, print);
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_packed_make(nd4c_device *device, const char *engine, const nd4c_layout *layout, nd4c_packed **out) {
  const nd4c_memory_request request = {.bytes = layout->bytes, .origin = "packed constant", .usage = ND4C_BUFFER_ARRAY};
  nd4c_packed *packed = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *packed, "a packed constant's record", &packed));
  nd4c_status status = nd4c_memory_allocate(device, &request, &packed->block);
  if (status != ND4C_OK) {
    nd4c_deallocate(packed);
    return status;
  }
  packed->references = 1;
  packed->device = device;
  packed->engine = engine;
  packed->layout = *layout;
  *out = packed;
  return ND4C_OK;
}

nd4c_packed *nd4c_packed_retain(nd4c_packed *packed) {
  nd4c_lock_acquire(&table_lock);
  packed->references++;
  nd4c_lock_release(&table_lock);
  return packed;
}

static void unlist(nd4c_packed *packed) {
  nd4c_packed **link = &bins[packed->print[0] % BINS];
  while (*link != packed) {
    link = &(*link)->next;
  }
  *link = packed->next;
}

int64_t nd4c_packed_release(nd4c_packed *packed) {
  nd4c_lock_acquire(&table_lock);
  const bool last = --packed->references == 0;
  if (last && packed->listed) {
    unlist(packed);
  }
  nd4c_lock_release(&table_lock);
  if (!last) {
    return 0;
  }
  const int64_t bytes = packed->block.bytes;
  nd4c_memory_free(packed->device, &packed->block);
  nd4c_deallocate(packed);
  return bytes;
}

/* -- sharing ------------------------------------------------------------------------------------------------------- */

/* The first one in the bin, from `from` on, that may be equal; with one more reference. Under the lock. */
static nd4c_packed *find_candidate(nd4c_packed *from, const nd4c_packed *packed) {
  while (from != NULL &&
         (memcmp(from->print, packed->print, sizeof packed->print) != 0 || from->device != packed->device ||
          !nd4c_layout_shares(from->engine, &from->layout, packed->engine, &packed->layout))) {
    from = from->next;
  }
  if (from != NULL) {
    from->references++;
  }
  return from;
}

static nd4c_packed *insert_or_find(nd4c_packed *packed) {
  nd4c_packed **bin = &bins[packed->print[0] % BINS];
  nd4c_lock_acquire(&table_lock);
  nd4c_packed *found = find_candidate(*bin, packed);
  if (found == NULL) {
    packed->listed = true;
    packed->next = *bin;
    *bin = packed;
  }
  nd4c_lock_release(&table_lock);
  return found;
}

nd4c_packed *nd4c_packed_share(nd4c_packed *packed) {
  if (packed->listed || packed->block.address == NULL || !nd4c_device_is_immediate(packed->device)) {
    return packed;
  }
  nd4c_fingerprint_take(packed->block.address, packed->layout.bytes, packed->print);
  nd4c_packed *found = insert_or_find(packed);
  if (found == NULL) {
    return packed;
  }
  /* Complete contents never change, so they are compared without the lock. */
  if (memcmp(found->block.address, packed->block.address, (size_t)packed->layout.bytes) != 0) {
    (void)nd4c_packed_release(found);
    return packed; /* equal hashes of other bytes: it stays alone */
  }
  (void)nd4c_packed_release(packed);
  atomic_fetch_add_explicit(&shared_count, 1, memory_order_relaxed);
  return found;
}

const nd4c_block *nd4c_packed_block(const nd4c_packed *packed) {
  return &packed->block;
}

const nd4c_layout *nd4c_packed_layout(const nd4c_packed *packed) {
  return &packed->layout;
}
