/* Implements split.h: a table of what loops took. */
#include "base/threads/split.h"

#include <stdatomic.h>

#include "base/hash.h"

ND4C_FAST_THREAD_LOCAL uint64_t nd4c_split_subject;

/* A loop's key in the high half, nanoseconds in the low half, so that a reader needs no lock. A loop that takes the
 * place of another one makes that be timed anew. */
enum { PLACES = 2048 };

/* In every key, so that none is 0, and in those of loops that follow many others. */
#define KNOWN (UINT64_C(1) << 32)
#define OF_MANY (UINT64_C(1) << 33)
static _Atomic uint64_t places[PLACES];

uint64_t nd4c_split_key(nd4c_parallel_range range, int64_t count, int64_t grain, int32_t pieces) {
  if (nd4c_split_subject == 0) {
    return 0;
  }
  uint64_t key = nd4c_hash_word(nd4c_split_subject, (uint64_t)(uintptr_t)range);
  const uint64_t last = (1 << ND4C_SPLIT_LOOP_BITS) - 1;
  const bool of_many = (nd4c_split_subject & last) == last;
  nd4c_split_subject += !of_many;
  key = nd4c_hash_word(key, (uint64_t)count);
  key = nd4c_hash_word(key, (uint64_t)grain);
  key = nd4c_hash_word(key, (uint64_t)pieces) | KNOWN;
  return of_many ? key | OF_MANY : key & ~OF_MANY;
}

/* What the loop took; 0 if that is not known. */
static int64_t taken(uint64_t key) {
  const uint64_t word = key != 0 ? atomic_load_explicit(&places[key % PLACES], memory_order_relaxed) : 0;
  return key != 0 && word >> 32 == key >> 32 ? (int64_t)(uint32_t)word : 0;
}

bool nd4c_split_is_worth(uint64_t key, int32_t team, int64_t price) {
  const int64_t work = taken(key);
  if (work == 0 || (key & OF_MANY) != 0) {
    return work == 0 || work >= ND4C_SPLIT_LEAST_OF_MANY;
  }
  return work >= ND4C_SPLIT_LEAST_NANOSECONDS && work - work / team > price;
}

void nd4c_split_note(uint64_t key, int64_t nanoseconds) {
  if (key == 0) {
    return;
  }
  const int64_t before = taken(key), most = before != 0 && before < UINT32_MAX / 2 ? 2 * before : UINT32_MAX;
  const int64_t now = nanoseconds < 1 ? 1 : nanoseconds < most ? nanoseconds : most;
  atomic_store_explicit(&places[key % PLACES], key >> 32 << 32 | (uint64_t)now, memory_order_relaxed);
}
