/* What tests/accuracy measures: functions, how far off their results may be, and where to look. */
#ifndef ACCURACY_FUNCTIONS_H
#define ACCURACY_FUNCTIONS_H

#include <stdbool.h>

enum { CENTERS = 6 };

typedef struct function {
  const char *name; /* in the table and in the file of points */
  const char *op;
  bool approximate;        /* attribute of gelu */
  bool pair;               /* two operands */
  double float32, float64; /* units in the last place that results may be off by; 0.5: correctly rounded */
  long double (*oracle)(long double, long double);
  double doubt; /* units of float64 that the oracle itself may be off by */
  /* Where float64 results are too near a zero for the oracle's 64 bits; NULL: nowhere. */
  bool (*unsure)(long double, long double);
  double low, high;        /* where values are spread evenly */
  double centers[CENTERS]; /* zeros and turning points, whose neighbours are all tried; 0 ends the list */
} function;

/* What the faster tier (nd4c.cpu.math) may be off by in float32; of gelu in units of the last place of 1 where its
 * results are smaller. */
typedef struct fast_function {
  const char *name;
  double bar;
  bool absolute;
} fast_function;
/* NULL: there is none. */
const fast_function *accuracy_fast_find(const char *name);

extern const function functions[];
extern const int function_count;

#endif
