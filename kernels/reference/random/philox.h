/* Philox4x32 with 10 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011): a function
 * of a 64-bit key and a 128-bit counter. Block b of a state is that of its counter + b. random.c and laws.h of this
 * folder include it, and kernels/cpu/random/random.h. */
#ifndef ND4C_KERNELS_REFERENCE_RANDOM_PHILOX_H
#define ND4C_KERNELS_REFERENCE_RANDOM_PHILOX_H

#include <stdint.h>

typedef struct nd4c_philox {
  uint64_t key, low, high; /* low and high: the counter */
} nd4c_philox;

static inline void nd4c_philox4x32(const uint32_t counter[4], const uint32_t key[2], int rounds, uint32_t block[4]) {
  uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3], k = key[0], l = key[1];
  for (int round = 0; round < rounds; round++) {
    uint64_t left = (uint64_t)a * 0xD2511F53u, right = (uint64_t)c * 0xCD9E8D57u;
    a = (uint32_t)(right >> 32) ^ b ^ k;
    b = (uint32_t)right;
    c = (uint32_t)(left >> 32) ^ d ^ l;
    d = (uint32_t)left;
    k += 0x9E3779B9u;
    l += 0xBB67AE85u;
  }
  block[0] = a;
  block[1] = b;
  block[2] = c;
  block[3] = d;
}

/* Block number `step` of the state; `draw` counts further ones for an element that needs more than one: it is added to
 * the counter's topmost 32 bits. */
static inline void nd4c_philox_block(const nd4c_philox *state, uint64_t step, uint32_t draw, uint32_t block[4]) {
  uint64_t low = state->low + step, high = state->high + (low < step);
  uint32_t counter[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32) + draw};
  uint32_t key[2] = {(uint32_t)state->key, (uint32_t)(state->key >> 32)};
  nd4c_philox4x32(counter, key, 10, block);
}

static inline uint64_t nd4c_philox_pair(const uint32_t *words) {
  return (uint64_t)words[1] << 32 | words[0];
}

#endif
