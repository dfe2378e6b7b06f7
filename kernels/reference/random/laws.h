/* Distributions whose elements take a number of random words that is not known before: each element has a separate
 * stream. random.c calls these. */
#ifndef ND4C_KERNELS_REFERENCE_RANDOM_LAWS_H
#define ND4C_KERNELS_REFERENCE_RANDOM_LAWS_H

#include "kernels/reference/random/philox.h"

/* The words of element i: two of 64 bits a block, draw after draw. */
typedef struct nd4c_ref_supply {
  const nd4c_philox *state;
  uint64_t step;
  uint32_t draw, block[4];
  int left; /* words of the block */
} nd4c_ref_supply;

static inline nd4c_ref_supply nd4c_ref_supply_of(const nd4c_philox *state, int64_t i) {
  return (nd4c_ref_supply){.state = state, .step = (uint64_t)i};
}

static inline uint64_t nd4c_ref_supply_word(nd4c_ref_supply *supply) {
  if (supply->left == 0) {
    nd4c_philox_block(supply->state, supply->step, supply->draw++, supply->block);
    supply->left = 2;
  }
  return nd4c_philox_pair(supply->block + 2 * (2 - supply->left--));
}

/* Standard normal. */
double nd4c_ref_supply_normal(nd4c_ref_supply *supply);

/* alpha >= 0, finite: Marsaglia and Tsang 2000; below 1 by way of alpha + 1. */
double nd4c_ref_gamma(nd4c_ref_supply *supply, double alpha);
/* 0 <= rate <= 2^53: inversion below 10, Hörmann's PTRS 1993 above. */
double nd4c_ref_poisson(nd4c_ref_supply *supply, double rate);
/* n a whole number of 0 .. 2^53, p of 0 .. 1: inversion where n p or n (1 - p) is below 10, Hörmann's BTRS 1993 else.
 */
double nd4c_ref_binomial(nd4c_ref_supply *supply, double n, double p);

#endif
