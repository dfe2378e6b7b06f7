/* Random numbers of the reference: every element of a result is a function of the state and of the element's number
 * alone, whatever the number of threads and the strides. backends/cpu/reference/random.c calls these, simd/random.c for
 * what it does not vectorise.
 *
 * Element i takes
 *   32 bits: word i % 4 of block i / 4                        (bits of up to 32, uniform of up to float32)
 *   64 bits: words 2 (i % 2), low, and the next, high, of block i / 2  (bits of 64, uniform float64, normal, truncated
 *            normal, log-normal, exponential, Bernoulli, dropout, rrelu, categorical)
 *   a stream of its own: block i, then its further draws      (integers, permutations, gamma, Poisson, binomial)
 * so n elements take no more than n blocks. */
#ifndef ND4C_KERNELS_REFERENCE_RANDOM_RANDOM_H
#define ND4C_KERNELS_REFERENCE_RANDOM_RANDOM_H

#include "kernels/reference/random/philox.h"
#include "kernels/reference/support/runs.h"

/* What X(name) makes of element i, and its parameters a and b (of inputs), c and d (of attributes). */
#define ND4C_REF_DISTRIBUTIONS(X) \
  X(uniform32)                    \
  X(uniform64)                    \
  X(normal)                       \
  X(log_normal)                   \
  X(truncated_normal)             \
  X(exponential)                  \
  X(bernoulli)                    \
  X(gamma)                        \
  X(poisson)                      \
  X(binomial)

typedef enum nd4c_ref_distribution {
#define ND4C_REF_DISTRIBUTION_ENUM(name) ND4C_REF_DISTRIBUTION_##name,
  ND4C_REF_DISTRIBUTIONS(ND4C_REF_DISTRIBUTION_ENUM)
#undef ND4C_REF_DISTRIBUTION_ENUM
      ND4C_REF_DISTRIBUTION_COUNT
} nd4c_ref_distribution;

typedef struct nd4c_ref_random {
  nd4c_philox state;
  nd4c_ref_distribution distribution;
  int bits;    /* of uniform32: how many of the word are used */
  double c[4]; /* uniform: low, high; normal, log_normal: mean, scale; truncated_normal: these, and bounds in scales;
                  exponential, gamma: scale in c[1] */
  nd4c_ref_tensor a, b; /* broadcast to y: p of bernoulli; alpha of gamma; rate of poisson; n and p of binomial */
  nd4c_ref_tensor y;
} nd4c_ref_random;

/* Elements begin .. end - 1 (C order) of y. */
void nd4c_ref_random_fill(const nd4c_ref_random *r, int64_t begin, int64_t end);

/* The one element, before it is rounded to a dtype. */
double nd4c_ref_random_element(const nd4c_ref_random *r, int64_t i, double a, double b);

/* Integers for elements begin .. end - 1 of y. */
typedef struct nd4c_ref_integers {
  nd4c_philox state;
  nd4c_ref_tensor y;
  int64_t low; /* of random_integers, as is the range */
  uint64_t range;
} nd4c_ref_integers;
void nd4c_ref_random_bits(const nd4c_ref_integers *args, int64_t begin, int64_t end);
/* low .. low + range - 1, wrapped to y's dtype. */
void nd4c_ref_random_integers(const nd4c_ref_integers *args, int64_t begin, int64_t end);

/* 0 .. range - 1 with equal chances from element i's own stream; range 0 stands for 2^64. */
uint64_t nd4c_ref_random_below(const nd4c_philox *state, int64_t i, uint64_t range);
/* 0 .. count - 1 in random order (Fisher and Yates from the end; place i takes element i's stream). */
void nd4c_ref_random_order(const nd4c_philox *state, int64_t count, int64_t *order);

/* 0 <= u < 1 of element i: 53 bits. */
double nd4c_ref_random_unit(const nd4c_philox *state, int64_t i);

/* x of the standard normal distribution below which lies p, 0 < p <= 0.5 (Wichura's AS 241, relative error 1e-16);
 * from_half: 0.5 - p, exactly, which counts near 0.5. */
double nd4c_ref_normal_quantile(double p, double from_half);

#endif
