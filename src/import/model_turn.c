/* The turn of a model, and calls of its progress callback. One thread at a time imports a model; runs need no turn.
 * model_plans.c, model_graph.c, model_parts.c and model_compile.c take the turn and give it back. */
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "import/model_internal.h"

/* Its address names the thread. */
static const char *this_thread(void) {
  static _Thread_local char here;
  return &here;
}

/* A callback that this thread is in. A callback of one model may run another one, whose callback is called, too:
 * `outer` is the one that it was called in, NULL: none. Lives on the stack for as long as the call. */
typedef struct callback_frame {
  const nd4c_model_turn *turn;
  const struct callback_frame *outer;
} callback_frame;

static _Thread_local const callback_frame *innermost;

static bool is_called_back(const nd4c_model_turn *turn) {
  const callback_frame *frame = innermost;
  while (frame != NULL && frame->turn != turn) {
    frame = frame->outer;
  }
  return frame != NULL;
}

void nd4c_model_turn_init(nd4c_model_turn *turn) {
  nd4c_lock_init(&turn->lock);
  nd4c_lock_init(&turn->list);
  atomic_init(&turn->thread, NULL);
}

void nd4c_model_turn_destroy(nd4c_model_turn *turn) {
  nd4c_lock_destroy(&turn->list);
  nd4c_lock_destroy(&turn->lock);
}

nd4c_status nd4c_model_turn_check(const nd4c_model_turn *turn, const char *what) {
  /* Only this thread can have put its own address there, so there is no race in the answer. */
  if (is_called_back(turn) || atomic_load_explicit(&turn->thread, memory_order_relaxed) == this_thread()) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: called by the progress callback of the model's own run", what);
  }
  return ND4C_OK;
}

nd4c_status nd4c_model_turn_take(nd4c_model_turn *turn, const char *what) {
  ND4C_TRY(nd4c_model_turn_check(turn, what));
  ND4C_TRY(nd4c_cancellation_acquire(&turn->lock));
  atomic_store_explicit(&turn->thread, this_thread(), memory_order_relaxed);
  return ND4C_OK;
}

void nd4c_model_turn_give(nd4c_model_turn *turn) {
  atomic_store_explicit(&turn->thread, NULL, memory_order_relaxed);
  nd4c_lock_release(&turn->lock);
}

void nd4c_model_progress(void *user, const char *what, int64_t done, int64_t total) {
  nd4c_model *model = user;
  nd4c_lock_acquire(&model->turn->list);
  const nd4c_progress_callback callback = model->progress;
  void *argument = model->user;
  nd4c_lock_release(&model->turn->list);
  if (callback != NULL) {
    const callback_frame frame = {.turn = model->turn, .outer = innermost};
    innermost = &frame;
    callback(argument, what, done, total);
    innermost = frame.outer;
  }
}
