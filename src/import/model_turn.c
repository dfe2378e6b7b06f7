/* The turn of a model: runs change its plans, so only one thread at a time may run it. model.c, model_run.c and
 * model_compile.c take the turn and give it back. */
#include "base/status.h"
#include "import/model_internal.h"

/* Its address names the thread. */
static const char *this_thread(void) {
  static _Thread_local char here;
  return &here;
}

void nd4c_model_turn_init(nd4c_model_turn *turn) {
  nd4c_lock_init(&turn->lock);
  atomic_init(&turn->thread, NULL);
}

void nd4c_model_turn_destroy(nd4c_model_turn *turn) {
  nd4c_lock_destroy(&turn->lock);
}

nd4c_status nd4c_model_turn_take(nd4c_model_turn *turn, const char *what) {
  /* Only this thread can have put its own address there, so there is no race in the answer. */
  if (atomic_load_explicit(&turn->thread, memory_order_relaxed) == this_thread()) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: called by the progress callback of the model's own run", what);
  }
  nd4c_lock_acquire(&turn->lock);
  atomic_store_explicit(&turn->thread, this_thread(), memory_order_relaxed);
  return ND4C_OK;
}

void nd4c_model_turn_give(nd4c_model_turn *turn) {
  atomic_store_explicit(&turn->thread, NULL, memory_order_relaxed);
  nd4c_lock_release(&turn->lock);
}
