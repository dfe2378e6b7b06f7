/* Memory that the stub holds besides arrays, counted by nd4c. Tests hold and release it with commands of stub_control
 * (control.c). */
#include <stdlib.h>
#include <string.h>

#include "stub.h"

typedef struct piece {
  nd4c_device_memory *memory;
  struct piece *next;
} piece;

typedef enum way { OWN, ALL, NONE, GREEDY } way;

/* Guards the list; nd4c is not called under it. */
static nd4c_host_lock lock;
static piece *pieces;
static _Atomic int how = OWN;

static nd4c_status hold(int64_t bytes, bool with_buffer);

/* Takes a piece out of the list and gives it back. wanted NULL: any piece. False: the list has no such piece. */
static bool give(const piece *wanted) {
  stub_lock(&lock);
  piece **link = &pieces;
  while (*link != NULL && wanted != NULL && *link != wanted) {
    link = &(*link)->next;
  }
  piece *found = *link;
  if (found != NULL) {
    *link = found->next;
  }
  stub_unlock(&lock);
  if (found != NULL) {
    stub_host->device_memory->give(found->memory);
    stub_host->free(found);
    stub_count_add(STUB_COUNT_held, -1);
  }
  return found != NULL;
}

static void give_way(void *owner, int64_t bytes) {
  stub_count_add(STUB_COUNT_asked_to_give, 1);
  if (bytes <= 0) {
    (void)stub_violation("nothing is asked for");
  }
  switch ((way)atomic_load(&how)) {
    case OWN:
      (void)give(owner);
      break;
    case ALL:
      while (give(NULL)) {
      }
      break;
    case NONE:
      break;
    case GREEDY:
      if (hold(64, false) == ND4C_OK || hold(64, true) == ND4C_OK) {
        (void)stub_violation("memory is granted while it is being given back");
      }
      (void)give(owner);
      break;
  }
}

static void add(piece *added) {
  stub_lock(&lock);
  added->next = pieces;
  pieces = added;
  stub_unlock(&lock);
  stub_count_add(STUB_COUNT_held, 1);
}

static nd4c_status hold(int64_t bytes, bool with_buffer) {
  piece *added = stub_host->allocate(sizeof *added);
  if (added == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a piece's record");
  }
  nd4c_buffer handle = NULL;
  const nd4c_device_memory_request request = {.struct_size = ND4C_SIZE_OF(nd4c_device_memory_request),
                                              .backend = stub_settings.name,
                                              .device = stub_device_at(0),
                                              .bytes = bytes,
                                              .origin = "stub workspace",
                                              .give_way = give_way,
                                              .owner = added};
  nd4c_status status = with_buffer ? stub_host->device_memory->allocate(&request, &added->memory, &handle, NULL)
                                   : stub_host->device_memory->count(&request, &added->memory);
  if (status != ND4C_OK) {
    stub_host->free(added);
    return status;
  }
  stub_buffer *buffer = with_buffer ? stub_buffer_use(handle) : NULL; /* which counts handles that are not the stub's */
  if (buffer != NULL) {
    if (buffer->size < bytes) {
      (void)stub_violation("a buffer of less than was asked for");
    }
    stub_buffer_done(buffer);
  }
  add(added);
  return ND4C_OK;
}

nd4c_status stub_held_control(const char *command) {
  static const char *const ways[] = {[OWN] = "own", [ALL] = "all", [NONE] = "none", [GREEDY] = "greedy"};
  if (strncmp(command, "hold ", 5) == 0) {
    return hold(strtoll(command + 5, NULL, 10), false);
  }
  if (strncmp(command, "hold_buffer ", 12) == 0) {
    return hold(strtoll(command + 12, NULL, 10), true);
  }
  if (strcmp(command, "unhold") == 0) {
    while (give(NULL)) {
    }
    return ND4C_OK;
  }
  for (int i = 0; i < 4; i++) {
    if (strcmp(command + 9, ways[i]) == 0) {
      atomic_store(&how, i);
      return ND4C_OK;
    }
  }
  return ND4C_ARGUMENT;
}
