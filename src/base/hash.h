/* Hashes for tables in memory: of nodes and attributes (graph/ir/attrs.c, graph/passes/cse.c), of operands
 * (graph/plan/common_choices.c), of segments (device/compiled.c). Not for files, nor against forged collisions: see
 * digest.h. */
#ifndef ND4C_BASE_HASH_H
#define ND4C_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Mixes a word, or some bytes, into a hash. */
static inline uint64_t nd4c_hash_word(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
  return hash ^ hash >> 32;
}

static inline uint64_t nd4c_hash_bytes(uint64_t hash, const void *bytes, size_t size) {
  const uint8_t *next = bytes;
  hash = nd4c_hash_word(hash, size);
  for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), next += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, next, sizeof word);
    hash = nd4c_hash_word(hash, word);
  }
  uint64_t rest = 0;
  memcpy(&rest, next, size);
  return nd4c_hash_word(hash, rest);
}

#endif
