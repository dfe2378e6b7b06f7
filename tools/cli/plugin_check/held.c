/* Device memory that a plug-in holds besides arrays: lists the pieces in place of the library, which is not loaded.
 * direct.c puts it into the host table, kernels.c asks for the list. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"

/* What the plug-in takes for nd4c's record. */
typedef struct piece {
  struct piece *next;
  nd4c_device_memory_request request;
  nd4c_buffer buffer;
  char origin[64];
  bool asked; /* to give way */
} piece;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static piece *pieces;
static plugin_direct *devices[2];

void plugin_direct_held_for(plugin_direct *d) {
  devices[devices[0] == NULL ? 0 : 1] = d;
}

static plugin_direct *device_of(const void *device) {
  for (int32_t i = 0; i < 2; i++) {
    if (devices[i] != NULL && devices[i]->device == device) {
      return devices[i];
    }
  }
  return NULL;
}

static nd4c_status add(const nd4c_device_memory_request *request, nd4c_buffer buffer, nd4c_device_memory **memory) {
  piece *made = calloc(1, sizeof *made);
  if (made == NULL) {
    return nd4c_plugin_get_host()->fail(ND4C_MEMORY, "no memory for a piece");
  }
  made->request = *request;
  made->buffer = buffer;
  strncpy(made->origin, request->origin != NULL ? request->origin : "?", sizeof made->origin - 1);
  (void)pthread_mutex_lock(&lock);
  made->next = pieces;
  pieces = made;
  (void)pthread_mutex_unlock(&lock);
  *memory = (nd4c_device_memory *)made;
  return ND4C_OK;
}

static nd4c_status count(const nd4c_device_memory_request *request, nd4c_device_memory **memory) {
  return device_of(request->device) != NULL ? add(request, NULL, memory)
                                            : nd4c_plugin_get_host()->fail(ND4C_ARGUMENT, "a piece of no open device");
}

static nd4c_status allocate(const nd4c_device_memory_request *request, nd4c_device_memory **memory, nd4c_buffer *buffer,
                            void **address) {
  plugin_direct *d = device_of(request->device);
  nd4c_status status = d != NULL ? plugin_direct_buffer(d, request->bytes, buffer)
                                 : nd4c_plugin_get_host()->fail(ND4C_ARGUMENT, "a piece of no open device");
  status = status == ND4C_OK ? add(request, *buffer, memory) : status;
  if (status == ND4C_OK && address != NULL) {
    *address = d->about.addressable ? d->ops->buffers->address(d->device, *buffer) : NULL;
  }
  return status;
}

static void give(nd4c_device_memory *memory) {
  piece *given = (piece *)memory;
  if (given == NULL) {
    return;
  }
  (void)pthread_mutex_lock(&lock);
  piece **link = &pieces;
  while (*link != NULL && *link != given) {
    link = &(*link)->next;
  }
  *link = given->next;
  (void)pthread_mutex_unlock(&lock);
  if (given->buffer != NULL) {
    plugin_direct *d = device_of(given->request.device);
    d->ops->buffers->free(d->device, given->buffer);
  }
  free(given);
}

const nd4c_host_device_memory *plugin_direct_memory(void) {
  static const nd4c_host_device_memory table = {
      .struct_size = sizeof table, .count = count, .allocate = allocate, .give = give};
  return &table;
}

static int32_t count_pieces(const void *device) {
  int32_t number = 0;
  (void)pthread_mutex_lock(&lock);
  for (const piece *at = pieces; at != NULL; at = at->next) {
    number += at->request.device == device;
  }
  (void)pthread_mutex_unlock(&lock);
  return number;
}

/* The first piece that can be asked for and was not asked yet; they are asked in the order of the list. */
static bool next_piece(const void *device, piece *copy) {
  bool found = false;
  (void)pthread_mutex_lock(&lock);
  for (piece *at = pieces; at != NULL && !found; at = at->next) {
    found = at->request.device == device && at->request.give_way != NULL && !at->asked;
    if (found) {
      at->asked = true;
      *copy = *at;
    }
  }
  (void)pthread_mutex_unlock(&lock);
  return found;
}

void plugin_direct_ask(plugin_direct *d) {
  const int32_t before = count_pieces(d->device);
  int32_t asked = 0;
  piece copy = {.origin = ""};
  for (; next_piece(d->device, &copy); asked++) {
    plugin_check_at("give_way of '%s' on %s", copy.origin, d->name);
    copy.request.give_way(copy.request.owner, copy.request.bytes);
  }
  (void)plugin_check_that(d->check, asked == 0 || count_pieces(d->device) < before,
                          "%s: give_way gives nothing of %d pieces while nothing is computed, one of them for '%s'",
                          d->name, (int)asked, copy.origin);
}
