/* Rows of one op each, timed together with the memory's limit. The programs of whole families are tables of rows. */
#ifndef ND4C_BENCH_OP_ROW_H
#define ND4C_BENCH_OP_ROW_H

#include <nd4c/nd4c.h>

enum { BENCH_ROW_INPUTS = 5, BENCH_ROW_ATTRS = 4, BENCH_ROW_OUTPUTS = 4 };

typedef struct bench_op_row {
  const char *name;
  nd4c_op op;
  nd4c_array *inputs[BENCH_ROW_INPUTS]; /* up to the first NULL; borrowed */
  nd4c_attr attrs[BENCH_ROW_ATTRS];     /* up to the first without a name */
  double flops;                         /* operations of one call; 0: the limit is memory alone */
  bool fresh;                           /* each call allocates its outputs, for example because their shape depends on
                                           the data */
} bench_op_row;

/* Times the op in turns with a loop that reads and writes as many bytes once, and prints a line of JSON. With flops,
 * the limit is the longer of that loop's time and the multiply-adds' time. */
void bench_op_row_run(const bench_op_row *row);

/* Random numbers from 0 to 1. */
nd4c_array *bench_random(nd4c_dtype dtype, int32_t rank, const int64_t *shape);

#define BENCH_INTS(attr, numbers)                                                                           \
  {                                                                                                         \
    attr, {                                                                                                 \
      .kind = ND4C_ATTR_INTS, .count = (int32_t)(sizeof(numbers) / sizeof *(numbers)), .as.ints = (numbers) \
    }                                                                                                       \
  }
#define BENCH_INT(attr, number)               \
  {                                           \
    attr, {                                   \
      .kind = ND4C_ATTR_INT, .as.i = (number) \
    }                                         \
  }

#endif
