/* Implements nd4c_parallel_copy of parallel.h, with which weights are brought to where kernels read them. */
#include <string.h>

#include "base/threads/parallel.h"

/* Less is copied sooner than threads begin; a piece of that size spans some pages that the system must clear. */
enum { GRAIN = 1 << 18 };

typedef struct copy {
  char *to;
  const char *from;
} copy;

static void copy_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const copy *c = user;
  (void)worker;
  memcpy(c->to + begin, c->from + begin, (size_t)(end - begin));
}

void nd4c_parallel_copy(void *to, const void *from, int64_t bytes) {
  copy c = {to, from};
  nd4c_parallel_for(bytes, GRAIN, nd4c_parallel_width(), copy_range, &c);
}
