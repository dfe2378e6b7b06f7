/* Arenas that the bindings of a plan with dims share: a run in mode direct takes one and gives it back, so there are as
 * many as runs at once, each as large as the largest binding that is kept. Bindings keep offsets alone.
 *
 * dynamic.c makes and frees the arenas, plan_memory.c and dynamic_bindings.c say how large they must be, modes/direct.c
 * takes them. */
#ifndef ND4C_GRAPH_PLAN_ARENAS_H
#define ND4C_GRAPH_PLAN_ARENAS_H

#include "base/os_lock.h"
#include "device/storage/storage.h"

enum { ND4C_ARENAS_IDLE = 16 }; /* so many are kept that no run has; others are freed */

typedef struct nd4c_plan_arenas {
  nd4c_device *device; /* synchronous, and the host reads its memory */
  nd4c_lock lock;      /* guards the rest */
  int64_t wanted;      /* bytes of the largest binding that is kept */
  int64_t bytes;       /* of all arenas, also of those that runs have */
  nd4c_storage *idle[ND4C_ARENAS_IDLE];
  int32_t idle_count;
} nd4c_plan_arenas;

void nd4c_arenas_init(nd4c_plan_arenas *arenas, nd4c_device *device);
void nd4c_arenas_free(nd4c_plan_arenas *arenas);

/* Makes sure that a run that needs `bytes` finds an arena, if no other run takes it. MEMORY, MEMORY_CAP. */
nd4c_status nd4c_arenas_reserve(nd4c_plan_arenas *arenas, int64_t bytes);
/* An arena of at least `bytes` that no other run has. The thread must give it back. MEMORY, MEMORY_CAP. */
nd4c_status nd4c_arenas_take(nd4c_plan_arenas *arenas, int64_t bytes, nd4c_storage **arena);
void nd4c_arenas_give(nd4c_plan_arenas *arenas, nd4c_storage *arena);
/* The largest binding that is kept wants so many bytes. Arenas of more than four times as many go: nd4c_arenas_shrink
 * frees those that no run has, nd4c_arenas_give the others. */
void nd4c_arenas_want(nd4c_plan_arenas *arenas, int64_t bytes);
/* Another binding is kept, too. */
void nd4c_arenas_want_too(nd4c_plan_arenas *arenas, int64_t bytes);
void nd4c_arenas_shrink(nd4c_plan_arenas *arenas);
int64_t nd4c_arenas_bytes(nd4c_plan_arenas *arenas);

#endif
