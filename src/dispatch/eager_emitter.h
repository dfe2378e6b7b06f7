/* The emitter that computes each op at once (ops/emitter.h). Today only tests/graph/test_emitter.c opens one. */
#ifndef ND4C_DISPATCH_EAGER_EMITTER_H
#define ND4C_DISPATCH_EAGER_EMITTER_H

#include "nd4c/context.h"
#include "ops/emitter.h"

typedef struct nd4c_eager_emitter {
  nd4c_emitter emitter;
  nd4c_context *context; /* borrowed; NULL: the thread's default */
  nd4c_array **arrays;   /* by value, one reference each */
  int32_t count, capacity;
} nd4c_eager_emitter;

/* nd4c_eager_emitter_close must follow. */
void nd4c_eager_emitter_open(nd4c_eager_emitter *eager, nd4c_context *context);
/* Adds an input; the emitter retains the array. */
nd4c_status nd4c_eager_emitter_add(nd4c_eager_emitter *eager, nd4c_array *array, nd4c_emitted *value);
/* The array of a value, borrowed. */
nd4c_array *nd4c_eager_emitter_array(const nd4c_eager_emitter *eager, nd4c_emitted value);
/* Releases all arrays. */
void nd4c_eager_emitter_close(nd4c_eager_emitter *eager);

#endif
