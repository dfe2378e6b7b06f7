/* Implements thread_text.h with a thread key of the system. status.c asks for the error text,
 * device/registry/registry.c for the second text. */
#include "base/thread_text.h"

#include <stdlib.h>

#include "base/os_lock.h"

enum { SPARE_SIZE = 128 };

typedef struct thread_texts {
  char error[ND4C_THREAD_TEXT_SIZE];
  char state[ND4C_THREAD_STATE_SIZE];
} thread_texts;

static _Thread_local thread_texts *texts;
/* Receives a failure's text if there is no memory for one. */
static _Thread_local char spare[SPARE_SIZE];

static nd4c_once key_once = ND4C_ONCE_INIT;
static nd4c_thread_key key;
static bool key_made;

static void end_thread(void *memory) {
  texts = NULL; /* a later destructor of this thread may still fail, which creates a new text */
  free(memory);
}

static void make_key(void) {
  key_made = nd4c_thread_key_make(&key, end_thread);
}

/* NULL if memory is exhausted. Uses calloc directly, because a test's failing allocation is reported here. */
static thread_texts *get_texts(void) {
  if (texts == NULL) {
    nd4c_once_run(&key_once, make_key);
    thread_texts *made = key_made ? calloc(1, sizeof *made) : NULL;
    if (made != NULL && !nd4c_thread_key_set(key, made)) {
      free(made);
      made = NULL;
    }
    texts = made;
  }
  return texts;
}

char *nd4c_thread_error_text(size_t *size) {
  thread_texts *own = get_texts();
  *size = own != NULL ? sizeof own->error : sizeof spare;
  return own != NULL ? own->error : spare;
}

char *nd4c_thread_state_text(size_t *size) {
  thread_texts *own = get_texts();
  *size = own != NULL ? sizeof own->state : sizeof spare;
  return own != NULL ? own->state : spare;
}
