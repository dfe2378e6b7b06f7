/* The vote: scores the devices for one call. dispatch/routed.c calls it for each eager call that is routed, routing.c
 * for fresh arrays. include/nd4c/routing.h has the weights. */
#include <math.h>
#include <string.h>

#include "device/context/routing.h"
#include "device/storage/storage.h"

/* Weights of a device's properties. */
typedef struct weights {
  double local, free, rank, gpu, cpu;
} weights;

static const weights by_policy[] = {[ND4C_ROUTING_VOTE] = {4, 1, 2, 0, 0},
                                    [ND4C_ROUTING_PREFER_GPU] = {4, 1, 2, 16, 0},
                                    [ND4C_ROUTING_PREFER_CPU] = {4, 1, 2, 0, 16},
                                    [ND4C_ROUTING_FOLLOW_DATA] = {16, 0, 1, 0, 0},
                                    [ND4C_ROUTING_MEMORY] = {0, 16, 1, 0, 0}};
static const double own_list_rank = 200, no_room = -32;

static const nd4c_route_list *list_for(const nd4c_routing *routing, const nd4c_op_info *op, bool *own) {
  *own = true;
  for (int32_t i = 0; op != NULL && i < routing->op_count; i++) {
    if (routing->ops[i] == op->op && routing->op_lists[i].count > 0) {
      return &routing->op_lists[i];
    }
  }
  nd4c_category category = op != NULL ? op->category : ND4C_CATEGORY_CREATION;
  if ((int)category < ND4C_ROUTING_CATEGORIES && routing->categories[category].count > 0) {
    return &routing->categories[category];
  }
  *own = false;
  return &routing->devices;
}

static int64_t bytes_of(const nd4c_array *array) {
  return array == NULL ? 0 : nd4c_dtype_bytes(array->dtype, array->size);
}

static bool is_current(const nd4c_array *array, const nd4c_device *device) {
  if (nd4c_storage_ready_address(array->storage, device) != NULL) {
    return true;
  }
  if (atomic_load(&array->storage->address) != NULL) {
    return false; /* current only on another device; small storages have no further state */
  }
  char state = nd4c_storage_state(array->storage, device);
  return state == 'M' || state == 'S';
}

/* -1: unknown. */
static int64_t free_bytes(const nd4c_device *device) {
  int64_t bytes = 0;
  return nd4c_memory_remaining(device, &bytes) == ND4C_OK && bytes < INT64_MAX ? bytes : -1;
}

enum { COMPARED = 64 };

/* The inputs with the same bytes as an earlier one, one bit each, which count once. Only for the first inputs, since
 * each is compared with all before it. */
static uint64_t find_repeated(const nd4c_array *const *inputs, int32_t count) {
  uint64_t repeated = 0;
  for (int32_t i = 1; i < count && i < COMPARED; i++) {
    for (int32_t k = 0; k < i && inputs[i] != NULL; k++) {
      bool same = inputs[k] != NULL && inputs[k]->storage == inputs[i]->storage &&
                  inputs[k]->offset == inputs[i]->offset && bytes_of(inputs[k]) == bytes_of(inputs[i]);
      repeated |= (uint64_t)same << i;
    }
  }
  return repeated;
}

static bool is_repeated(uint64_t repeated, int32_t input) {
  return input < COMPARED && (repeated >> input & 1) != 0;
}

static void count_inputs(nd4c_vote *vote, const nd4c_array *const *inputs, int32_t count, uint64_t repeated) {
  vote->has_all = true;
  for (int32_t i = 0; i < count; i++) {
    if (is_repeated(repeated, i)) {
      continue;
    }
    if (inputs[i] != NULL && is_current(inputs[i], vote->device)) {
      bool beside = atomic_load(&inputs[i]->storage->device) != vote->device;
      vote->local_bytes += bytes_of(inputs[i]);
      vote->beside_bytes += beside ? bytes_of(inputs[i]) : 0;
    } else if (inputs[i] != NULL) {
      vote->has_all = false;
    }
  }
}

static void sort(nd4c_ballot *ballot) {
  for (int32_t i = 1; i < ballot->count; i++) {
    nd4c_vote vote = ballot->votes[i];
    int32_t at = i;
    for (; at > 0 && ballot->votes[at - 1].score < vote.score; at--) {
      ballot->votes[at] = ballot->votes[at - 1];
    }
    ballot->votes[at] = vote;
  }
}

/* Reading a value on another device makes a replica there, which must not attract the next op: of two devices with all
 * inputs, the one where they were written leads. */
static double score(const nd4c_ballot *ballot, const nd4c_vote *vote, const weights *w, int64_t most_free) {
  double bytes = (double)vote->local_bytes - (double)vote->beside_bytes / 8;
  double local = ballot->input_bytes > 0 ? bytes / (double)ballot->input_bytes : 0;
  double free = vote->free_bytes < 0 ? 0.5 : most_free > 0 ? (double)vote->free_bytes / (double)most_free : 0;
  double rank = 1 - (double)vote->rank / ballot->count;
  bool is_cpu = vote->device->description.type == ND4C_DEVICE_CPU;
  return w->local * local + w->free * free + (ballot->own_list ? own_list_rank : w->rank) * rank +
         (is_cpu ? w->cpu : w->gpu);
}

void nd4c_routing_vote(const nd4c_routing *routing, const nd4c_op_info *op, const nd4c_array *const *inputs,
                       int32_t input_count, int64_t bytes, nd4c_ballot *ballot) {
  *ballot = (nd4c_ballot){0};
  const nd4c_route_list *list = list_for(routing, op, &ballot->own_list);
  const uint64_t repeated = find_repeated(inputs, input_count);
  int64_t largest = bytes, most_free = 0;
  for (int32_t i = 0; i < input_count; i++) {
    ballot->input_bytes += is_repeated(repeated, i) ? 0 : bytes_of(inputs[i]);
    largest = bytes_of(inputs[i]) > largest ? bytes_of(inputs[i]) : largest;
  }
  ballot->count = list->count;
  for (int32_t i = 0; i < list->count; i++) {
    nd4c_vote *vote = &ballot->votes[i];
    *vote = (nd4c_vote){.device = list->devices[i], .rank = i, .free_bytes = free_bytes(list->devices[i])};
    count_inputs(vote, inputs, input_count, repeated);
    vote->fits = vote->free_bytes < 0 || vote->free_bytes >= largest;
    most_free = vote->free_bytes > most_free ? vote->free_bytes : most_free;
  }
  bool gives_way = routing->policy == ND4C_ROUTING_VOTE || routing->policy == ND4C_ROUTING_MEMORY;
  ballot->small =
      gives_way && !ballot->own_list && ballot->input_bytes > 0 && ballot->input_bytes <= routing->small_bytes;
  const weights *w = &by_policy[ballot->small ? ND4C_ROUTING_FOLLOW_DATA : routing->policy];
  for (int32_t i = 0; i < ballot->count; i++) {
    nd4c_vote *vote = &ballot->votes[i];
    vote->wanted = score(ballot, vote, w, most_free);
    vote->score = vote->wanted + (vote->fits ? 0 : no_room);
  }
  sort(ballot);
}
