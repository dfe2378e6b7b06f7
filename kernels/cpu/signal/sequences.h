/* Inner loops of convolutions of two sequences. simd/signal/signal_convolve.c runs them. */
#ifndef ND4C_KERNELS_CPU_SIGNAL_SEQUENCES_H
#define ND4C_KERNELS_CPU_SIGNAL_SEQUENCES_H

#include <stdint.h>

/* m elements of a and n of b, dense. */
typedef struct nd4c_sequence_pair {
  const void *a, *b;
  int64_t m, n;
} nd4c_sequence_pair;

/* y[i] = sum over j of a[place + i - j] b[j] for `count` elements, where both have elements; in the order of j, each
 * product rounded, as the reference adds. Words wrap. */
typedef struct nd4c_sequences_table {
  void (*float64)(const nd4c_sequence_pair *pair, int64_t place, int64_t count, void *y);
  void (*uint64)(const nd4c_sequence_pair *pair, int64_t place, int64_t count, void *y);
} nd4c_sequences_table;

#endif
