/* Implements handle_cache.h; a debug build also keeps released handles for a while to detect their use. Only array.c
 * calls it. */
#include "array/handle_cache.h"

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/recycle.h"

#if defined(NDEBUG)

/* Number of handles that a thread keeps: enough for a few nested expressions. Further ones, and those made by another
 * thread, are recycled like other records. */
enum { KEPT_AT_MOST = 64 };

/* The thread's list, linked through `storage`. `watched`: a destructor frees it at the thread's end. */
typedef struct handle_list {
  nd4c_array *first;
  int32_t count;
  bool watched;
} handle_list;

static ND4C_FAST_THREAD_LOCAL handle_list kept;

static void list_free(void *argument) {
  handle_list *list = argument;
  while (list->first != NULL) {
    nd4c_array *array = list->first;
    list->first = (nd4c_array *)(void *)array->storage;
    nd4c_deallocate(array);
  }
  list->count = 0;
  list->watched = false; /* a later thread-local destructor may still release arrays; the list is then watched again */
}

static nd4c_thread_key list_key;
static bool list_key_made;
static nd4c_once list_key_once = ND4C_ONCE_INIT;

static void list_key_make(void) {
  list_key_made = nd4c_thread_key_make(&list_key, list_free);
}

/* False if the list could not be freed at the thread's end: then nothing is kept. */
static ND4C_NOINLINE bool list_watch(handle_list *list) {
  nd4c_once_run(&list_key_once, list_key_make);
  list->watched = list_key_made && nd4c_thread_key_set(list_key, list);
  return list->watched;
}

/* The thread that ends the process does not run thread-local destructors. */
static ND4C_AT_UNLOAD void list_end(void) {
  list_free(&kept);
}

nd4c_array *nd4c_handle_take(void) {
  nd4c_array *array = kept.first;
  if (ND4C_UNLIKELY(array == NULL)) {
    return nd4c_recycle_take_raw(sizeof *array);
  }
  kept.first = (nd4c_array *)(void *)array->storage;
  kept.count--;
  return array;
}

void nd4c_handle_recycle(nd4c_array *array) {
  array->magic = ND4C_ARRAY_DEAD;
  if (ND4C_UNLIKELY(kept.count >= KEPT_AT_MOST || (!kept.watched && !list_watch(&kept)))) {
    nd4c_recycle_give(array, sizeof *array);
    return;
  }
  array->storage = (nd4c_storage *)(void *)kept.first;
  kept.first = array;
  kept.count++;
}

#else

/* Released handles stay here, marked dead, until as many others were released. A use after release is then detected,
 * instead of reaching another array in the same memory. */
enum { QUARANTINE_SIZE = 1024 };

static nd4c_lock quarantine_lock = ND4C_LOCK_INIT;
static nd4c_array *quarantine[QUARANTINE_SIZE];
static unsigned quarantine_next;
static nd4c_once quarantine_once = ND4C_ONCE_INIT;

/* In a child of fork, a thread of the parent may have held the lock. */
static void fork_in_child(void) {
  nd4c_lock_init(&quarantine_lock);
}

static void quarantine_start(void) {
  nd4c_os_on_fork(fork_in_child);
}

nd4c_array *nd4c_handle_take(void) {
  return nd4c_allocate(sizeof(nd4c_array));
}

void nd4c_handle_recycle(nd4c_array *array) {
  nd4c_once_run(&quarantine_once, quarantine_start);
  nd4c_lock_acquire(&quarantine_lock);
  array->magic = ND4C_ARRAY_DEAD;
  array->storage = NULL;
  array->shape = array->strides = NULL;
  nd4c_array *oldest = quarantine[quarantine_next];
  quarantine[quarantine_next] = array;
  quarantine_next = (quarantine_next + 1) % QUARANTINE_SIZE;
  nd4c_lock_release(&quarantine_lock);
  nd4c_deallocate(oldest);
}

#endif
