/* A call over a common shape, reduced to the fewest loops. Element-wise kernels and copies of engine simd run over
 * it. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_NEST_H
#define ND4C_BACKENDS_CPU_SUPPORT_NEST_H

#include "backends/cpu/cpu.h"

enum {
  ND4C_NEST_OPERANDS = 4,
  ND4C_NEST_PIECE_COST = 32768 /* worth another thread, in the unit of cost: about 2 microseconds */
};

/* Operand 0 is the output. Axes stand from the slowest to the fastest of the output; the output's strides are positive
 * except on repeated axes of length 1, which are gone. Rank is at least 1, the last axis is the inner loop. */
typedef struct nd4c_nest {
  int32_t rank, operands;
  int64_t size; /* elements, 0 for an empty output */
  int64_t shape[ND4C_CPU_MAX_RANK];
  int64_t strides[ND4C_NEST_OPERANDS][ND4C_CPU_MAX_RANK]; /* elements; 0 repeats */
  char *data[ND4C_NEST_OPERANDS];
  int32_t bytes[ND4C_NEST_OPERANDS]; /* an element */
} nd4c_nest;

/* Starts with the output; then add inputs; then finish. */
void nd4c_nest_start(nd4c_nest *nest, const nd4c_tensor *y);
void nd4c_nest_add(nd4c_nest *nest, const nd4c_tensor *input, const nd4c_tensor *y);
void nd4c_nest_finish(nd4c_nest *nest);

/* Computes n elements: pointers[0] is the output; operand k is contiguous, or one repeated element where repeated[k].
 */
typedef void (*nd4c_nest_function)(const void *user, int64_t n, char *const *pointers, const bool *repeated);

/* As nd4c_nest_function for operands that step by any number of elements (steps[k]) and a contiguous output, which it
 * writes past the caches. */
typedef void (*nd4c_nest_stream)(const void *user, int64_t n, char *const *pointers, const int64_t *steps);

/* Runs `function` over all elements in pieces, in parallel if that pays. cost: of one element, roughly in sixteenths of
 * a nanosecond. Operands that `function` cannot read in place are moved through small buffers. may_repeat: whether
 * function accepts repeated operands; if not, repeats are written to a buffer. stream: used instead for large results;
 * or NULL. */
void nd4c_nest_run(const nd4c_nest *nest, int32_t width, int32_t cost, bool may_repeat, nd4c_nest_function function,
                   nd4c_nest_stream stream, const void *user);

/* Whether nearly all of the traffic is the result's: ordinary stores then write more a second than streaming ones (Zen
 * 5, two threads: 31 against 27 GB/s). */
bool nd4c_nest_reads_little(const nd4c_nest *nest);

/* Copies operand 1 to operand 0 (copy.c). */
void nd4c_nest_copy(const nd4c_nest *nest, int32_t width);
/* Copies a tensor to another one, over whose shape it is repeated. */
void nd4c_nest_copy_tensor(const nd4c_tensor *from, const nd4c_tensor *to, int32_t width);
/* The same by nd4c_nest_run: any strides, by way of buffers. */
void nd4c_nest_move(const nd4c_nest *nest, int32_t width);

#endif
