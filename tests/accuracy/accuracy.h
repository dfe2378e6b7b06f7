/* What the parts of nd4c_accuracy share: kernels of an engine at a level, calls of them, and distances. */
#ifndef ACCURACY_H
#define ACCURACY_H

#include <stdbool.h>
#include <stdint.h>

#include "functions.h"
#include "nd4c/plugin.h"

enum { LEVELS = 4, PIECE = 4096 };

typedef struct format {
  nd4c_dtype dtype;
  const char *name;
  int digits, lowest, highest; /* of the smallest subnormal's exponent, and of the largest number's plus 1 */
} format;
enum { FORMATS = 4 }; /* the first is float32, the second float64 */
extern const format formats[FORMATS];

/* Distance in units of the last place; beyond the range infinity counts as the number that would follow the largest. */
double accuracy_distance(const format *f, double got, long double high, long double low);

/* Opens the backend with level number i, or says that this processor or build has no such level. Then close. */
bool accuracy_open(int i, const char **name);
void accuracy_close(void);
const nd4c_kernel *accuracy_find_kernel(const char *op, const char *engine);

/* A call for `count` contiguous elements, in the memory given. It must stay where it is. */
typedef struct accuracy_call {
  nd4c_call call;
  nd4c_tensor tensors[3];
  nd4c_attr_value attrs[8];
  int64_t count;
} accuracy_call;
void accuracy_call_make(accuracy_call *c, const function *of, nd4c_dtype dtype, int64_t count, void *x, void *y,
                        void *result);
/* False: the kernel declines or fails. */
bool accuracy_call_run(accuracy_call *c, const nd4c_kernel *kernel);

/* exhaustive.c: float32's bit patterns, every step-th of them, through engines ("" for all). False: beyond a bar. */
bool accuracy_exhaust(const char *name, const char *engine, uint32_t step, uint32_t begin, int32_t threads);

/* half.c: whether results of 16-bit floats are those of float32, rounded. */
bool accuracy_halves(void);

#endif
