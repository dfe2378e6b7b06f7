#include "base/alloc.h"
#include "nd4c/array.h"

void nd4c_free(void *memory) { nd4c_deallocate(memory); }
