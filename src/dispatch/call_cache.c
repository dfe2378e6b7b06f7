/* Implements call_cache.h. call.c finds and adds entries; routed.c notes its decisions in them. */
#include "dispatch/call_cache.h"

#include <string.h>

#include "array/narrow.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/compiler.h"
#include "base/config/config.h"
#include "base/recycle.h"
#include "device/stream/thread.h"

/* As many chains as entries, so that most have one entry. The number is fixed, so a lookup reads no size. */
typedef struct call_cache {
  nd4c_cached_call *chains[ND4C_CACHE_ENTRIES];
  int32_t count;
  uint32_t epoch; /* of all entries */
  uint32_t hand;  /* the chain from which the next entry is evicted */
} call_cache;

static inline uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9fb21c651e98df25);
  return hash ^ hash >> 32;
}

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (; size >= sizeof(uint64_t); at += sizeof(uint64_t), size -= sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    hash = mix(hash, word);
  }
  uint64_t rest = size;
  memcpy(&rest, at, size);
  return mix(hash, rest);
}

/* Bytes behind the value's pointer; -1 for kinds that are not cached. */
static int64_t payload_bytes(const nd4c_attr_value *value) {
  switch (value->kind) {
    case ND4C_ATTR_UNSET:
    case ND4C_ATTR_INT:
    case ND4C_ATTR_BOOL:
    case ND4C_ATTR_FLOAT:
    case ND4C_ATTR_DTYPE:
      return 0;
    case ND4C_ATTR_INTS:
    case ND4C_ATTR_FLOATS:
      /* Inference refuses a list that is missing or has a negative length. */
      return value->as.ints != NULL && value->count > 0 ? (int64_t)sizeof(int64_t) * value->count : 0;
    case ND4C_ATTR_STRING:
      return value->as.string != NULL ? (int64_t)strlen(value->as.string) + 1 : 0;
    default:
      return -1;
  }
}

static bool is_list(const nd4c_attr_value *value) {
  return value->kind == ND4C_ATTR_INTS || value->kind == ND4C_ATTR_FLOATS;
}

static uint64_t mix_attrs(uint64_t hash, const nd4c_attr_value *attrs, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    int64_t bytes = payload_bytes(&attrs[i]);
    hash = mix(hash, (uint64_t)attrs[i].kind << 32 | (uint32_t)attrs[i].count);
    uint64_t plain = is_list(&attrs[i]) ? attrs[i].as.ints != NULL : (uint64_t)attrs[i].as.i;
    hash = bytes > 0 ? mix_bytes(hash, attrs[i].as.ints, (size_t)bytes) : mix(hash, plain);
  }
  return hash;
}

uint64_t nd4c_call_key(nd4c_op op, const nd4c_array *const *inputs, int32_t input_count, const nd4c_attr_value *attrs,
                       int32_t attr_count, const nd4c_array *output) {
  /* Signatures are hashes already, so a rotation between them suffices. */
  uint64_t hash = op * UINT64_C(0x9fb21c651e98df25);
  for (int32_t i = 0; i < input_count; i++) {
    hash = (hash << 11 | hash >> 53) + (inputs[i] != NULL ? inputs[i]->signature : 1);
  }
  hash = (hash << 11 | hash >> 53) + (output != NULL ? output->signature : 2);
  return ND4C_UNLIKELY(attr_count > 0) ? mix_attrs(hash, attrs, attr_count) : hash;
}

/* Signatures end in a multiplication: their high bits are the mixed ones. */
static inline uint64_t slot_of(uint64_t key) {
  return (key ^ key >> 32) >> 7 & (ND4C_CACHE_ENTRIES - 1);
}

/* The hash selects the chain; equality decides. */
static inline bool same_layout(const nd4c_array *array, const nd4c_tensor *tensor) {
  if (array == NULL) {
    return tensor->dtype == ND4C_DTYPE_NONE;
  }
  if (array->dtype != tensor->dtype || array->rank != tensor->rank) {
    return false;
  }
  bool same = true;
  for (int32_t axis = 0; axis < array->rank; axis++) {
    same &= array->shape[axis] == tensor->shape[axis] && array->strides[axis] == tensor->strides[axis];
  }
  return same;
}

_Static_assert((ND4C_CACHE_ENTRIES & (ND4C_CACHE_ENTRIES - 1)) == 0, "a mask picks the slot");

static bool same_attrs(const nd4c_attr_value *a, const nd4c_attr_value *b, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    if (a[i].kind != b[i].kind || a[i].count != b[i].count) {
      return false;
    }
    int64_t bytes = payload_bytes(&a[i]);
    if (bytes != payload_bytes(&b[i])) {
      return false;
    }
    if (is_list(&a[i]) && (a[i].as.ints == NULL) != (b[i].as.ints == NULL)) {
      return false; /* one is omitted, the other is given and empty */
    }
    if (bytes == 0 ? a[i].as.i != b[i].as.i && !is_list(&a[i])
                   : memcmp(a[i].as.ints, b[i].as.ints, (size_t)bytes) != 0) {
      return false;
    }
  }
  return true;
}

/* The entry with this key, which is one at most. */
static inline nd4c_cached_call *entry_of(uint64_t key) {
  const nd4c_thread *thread = nd4c_thread_get();
  if (ND4C_UNLIKELY(thread == NULL || thread->calls == NULL)) {
    return NULL;
  }
  nd4c_cached_call *entry = ((call_cache *)thread->calls)->chains[slot_of(key)];
  while (ND4C_LIKELY(entry != NULL) && ND4C_UNLIKELY(entry->key != key)) {
    entry = entry->next;
  }
  return entry;
}

/* Compares everything except the key, the device, the width and the routing object. */
static inline bool is_same_call(const nd4c_cached_call *entry, const nd4c_context *context, nd4c_op op,
                                const nd4c_array *const *inputs, int32_t input_count, const nd4c_attr_value *attrs,
                                int32_t attr_count, const nd4c_array *output) {
  if (entry->op != op || entry->input_count != input_count || entry->fresh != (output == NULL) ||
      entry->deterministic != context->deterministic || entry->strict != context->strict ||
      entry->epoch != atomic_load_explicit(&nd4c_config_epoch, memory_order_relaxed)) {
    return false;
  }
  for (int32_t i = 0; i < input_count; i++) {
    if (!same_layout(inputs[i], &entry->tensors[i])) {
      return false;
    }
  }
  if (output != NULL && !same_layout(output, &entry->tensors[input_count])) {
    return false;
  }
  return attr_count == 0 || same_attrs(attrs, entry->attrs, attr_count);
}

nd4c_cached_call *nd4c_call_cache_find(uint64_t key, const nd4c_context *context, nd4c_op op,
                                       const nd4c_array *const *inputs, int32_t input_count,
                                       const nd4c_attr_value *attrs, int32_t attr_count, const nd4c_array *output) {
  nd4c_cached_call *entry = entry_of(key);
  bool same = entry != NULL && entry->device == context->device && entry->width == context->width &&
              is_same_call(entry, context, op, inputs, input_count, attrs, attr_count, output);
  return same ? entry : NULL;
}

nd4c_cached_call *nd4c_call_cache_find_decided(uint64_t key, const nd4c_context *context, uint32_t routing, nd4c_op op,
                                               const nd4c_array *const *inputs, int32_t input_count,
                                               const nd4c_attr_value *attrs, int32_t attr_count,
                                               const nd4c_array *output) {
  nd4c_cached_call *entry = entry_of(key);
  bool same = entry != NULL && entry->routing == routing && entry->uses > 0 &&
              (entry->device != context->device || entry->width == context->width) &&
              is_same_call(entry, context, op, inputs, input_count, attrs, attr_count, output);
  return same ? entry : NULL;
}

bool nd4c_call_cache_decide(uint64_t key, const nd4c_device *device, uint32_t routing, int32_t uses) {
  nd4c_cached_call *entry = key != 0 ? entry_of(key) : NULL;
  if (entry == NULL || entry->device != device) {
    return false;
  }
  entry->routing = routing;
  entry->uses = uses;
  return true;
}

/* Takes the first of a chain out of it. */
static void drop(call_cache *cache, nd4c_cached_call **link) {
  nd4c_cached_call *entry = *link;
  *link = entry->next;
  cache->count--;
  nd4c_choice_release(entry->choice);
  nd4c_recycle_give(entry, entry->block_bytes);
}

static void empty(call_cache *cache) {
  for (int i = 0; i < ND4C_CACHE_ENTRIES; i++) {
    while (cache->chains[i] != NULL) {
      drop(cache, &cache->chains[i]);
    }
  }
}

static void destroy_cache(void *calls) {
  empty(calls);
  nd4c_deallocate(calls);
}

/* Evicts in an almost random order. If a program repeats more calls than there is room for, most of them are still
 * found; evicting the oldest would always evict the call that comes next. */
static void make_room(call_cache *cache) {
  while (cache->count >= ND4C_CACHE_ENTRIES) {
    nd4c_cached_call **chain = &cache->chains[cache->hand];
    cache->hand = (cache->hand + 1) & (ND4C_CACHE_ENTRIES - 1);
    if (*chain != NULL) {
      drop(cache, chain);
    }
  }
}

/* The chain for a new entry with this key. Drops the entry that has the key, and makes room for the new one. */
static nd4c_cached_call **make_place(call_cache *cache, uint64_t key, uint32_t epoch) {
  if (cache->epoch != epoch) {
    empty(cache);
    cache->epoch = epoch;
  }
  nd4c_cached_call **chain = &cache->chains[slot_of(key)];
  for (nd4c_cached_call **link = chain; *link != NULL; link = &(*link)->next) {
    if ((*link)->key == key) { /* of the same call on another device or with another width */
      drop(cache, link);
      break;
    }
  }
  make_room(cache);
  return chain;
}

static call_cache *get_cache(void) {
  nd4c_thread *thread = nd4c_thread_get();
  if (thread == NULL) {
    return NULL;
  }
  if (thread->calls == NULL) {
    thread->calls = nd4c_allocate_zeroed(1, sizeof(call_cache));
    thread->calls_destroy = destroy_cache;
  }
  return thread->calls;
}

/* Bytes that follow the entry: attributes with their lists, then shapes and strides. */
static int64_t tail_bytes(const nd4c_array *const *inputs, int32_t input_count, const nd4c_array *output,
                          const nd4c_attr_value *attrs, int32_t attr_count) {
  int64_t bytes = (int64_t)sizeof(nd4c_attr_value) * attr_count;
  for (int32_t i = 0; i < attr_count; i++) {
    int64_t payload = payload_bytes(&attrs[i]);
    if (payload < 0) {
      return -1;
    }
    bytes += (payload + 7) / 8 * 8;
  }
  int64_t ranks = output->rank;
  for (int32_t i = 0; i < input_count; i++) {
    ranks += inputs[i] != NULL ? inputs[i]->rank : 0;
  }
  return bytes + ranks * 2 * (int64_t)sizeof(int64_t);
}

static char *copy_attrs(nd4c_cached_call *entry, const nd4c_attr_value *attrs, char *tail) {
  entry->attrs = (nd4c_attr_value *)(void *)tail;
  tail += sizeof(nd4c_attr_value) * (size_t)entry->attr_count;
  for (int32_t i = 0; i < entry->attr_count; i++) {
    int64_t bytes = payload_bytes(&attrs[i]);
    entry->attrs[i] = attrs[i];
    if (bytes > 0) {
      memcpy(tail, attrs[i].as.ints, (size_t)bytes);
      entry->attrs[i].as.ints = (const int64_t *)(const void *)tail;
      tail += (bytes + 7) / 8 * 8;
    }
  }
  return tail;
}

static char *copy_operand(nd4c_cached_call *entry, int32_t at, const nd4c_array *array, char *tail) {
  nd4c_tensor *tensor = &entry->tensors[at];
  if (array == NULL) {
    *tensor = (nd4c_tensor){.dtype = ND4C_DTYPE_NONE};
    return tail;
  }
  size_t bytes = (size_t)array->rank * sizeof(int64_t);
  int64_t *shape = (int64_t *)(void *)tail, *strides = shape + array->rank;
  memcpy(shape, array->shape, bytes);
  memcpy(strides, array->strides, bytes);
  *tensor = (nd4c_tensor){.dtype = array->dtype,
                          .rank = array->rank,
                          .flags = array->contiguous ? ND4C_TENSOR_CONTIGUOUS : 0U,
                          .layout = ND4C_LAYOUT_STRIDED,
                          .shape = shape,
                          .strides = strides,
                          .size = array->size};
  int64_t element = nd4c_dtype_size(array->dtype), low = 0, high = -1;
  (void)nd4c_layout_bounds(array->rank, shape, strides, &low, &high);
  entry->signatures[at] = array->signature;
  entry->element_bytes[at] = element;
  entry->low[at] = low * element;
  entry->high[at] = low <= high ? (high + 1) * element : entry->low[at];
  return tail + 2 * bytes;
}

static nd4c_cached_call *make_entry(const nd4c_context *context, const nd4c_op_def *def,
                                    const nd4c_array *const *inputs, int32_t input_count, const nd4c_attr_value *attrs,
                                    const nd4c_array *output) {
  int32_t attr_count = def->info.attr_count;
  int64_t tail_size = tail_bytes(inputs, input_count, output, attrs, attr_count);
  /* If more calls repeat than there is room for, entries replace each other; reusing the memory avoids an allocation
   * each time. */
  nd4c_cached_call *entry = tail_size < 0 ? NULL : nd4c_recycle_take(sizeof *entry + (size_t)tail_size);
  if (entry == NULL) {
    return NULL;
  }
  entry->block_bytes = sizeof *entry + (size_t)tail_size;
  entry->op = def->info.op;
  entry->def = def;
  entry->device = context->device;
  entry->width = context->width;
  entry->deterministic = context->deterministic;
  entry->strict = context->strict;
  entry->input_count = input_count;
  entry->attr_count = attr_count;
  char *tail = copy_attrs(entry, attrs, (char *)(entry + 1));
  for (int32_t i = 0; i < input_count; i++) {
    tail = copy_operand(entry, i, inputs[i], tail);
  }
  (void)copy_operand(entry, input_count, output, tail);
  entry->output_bytes = output->size * nd4c_dtype_size(output->dtype);
  entry->call = (nd4c_call){.struct_size = ND4C_SIZE_OF(nd4c_call),
                            .flags = context->deterministic ? ND4C_CALL_DETERMINISTIC : 0U,
                            .op = &def->info,
                            .input_count = input_count,
                            .output_count = 1,
                            .inputs = entry->tensors,
                            .outputs = entry->tensors + input_count,
                            .attrs = entry->attrs,
                            .device = context->device->handle,
                            .width = context->width};
  return entry;
}

/* Packed elements have no byte address, and encoded arrays may have none: such calls take the slow path. */
static bool has_packed(const nd4c_array *const *inputs, int32_t input_count, const nd4c_array *output) {
  bool packed = nd4c_dtype_is_packed(output->dtype);
  for (int32_t i = 0; i < input_count; i++) {
    packed = packed || (inputs[i] != NULL && (nd4c_dtype_is_packed(inputs[i]->dtype) ||
                                              (inputs[i]->storage->flags & ND4C_STORAGE_ENCODED) != 0));
  }
  return packed;
}

void nd4c_call_cache_add(uint64_t key, const nd4c_context *context, const nd4c_op_def *def,
                         const nd4c_array *const *inputs, int32_t input_count, const nd4c_attr_value *attrs,
                         const nd4c_array *output, bool fresh, bool shape_from_data, nd4c_choice *choice) {
  bool cacheable = input_count <= ND4C_CACHED_INPUTS && def->info.output_count == 1 && !context->unasked &&
                   !has_packed(inputs, input_count, output);
  call_cache *cache = cacheable ? get_cache() : NULL;
  nd4c_cached_call *entry = cache != NULL ? make_entry(context, def, inputs, input_count, attrs, output) : NULL;
  if (entry == NULL) {
    nd4c_choice_release(choice);
    return;
  }
  entry->key = key;
  entry->epoch = atomic_load(&nd4c_config_epoch);
  entry->fresh = fresh;
  entry->shape_from_data = shape_from_data;
  entry->choice = choice;
  entry->call.data = choice->kernel != NULL ? choice->kernel->data : NULL;
  entry->call.state = choice->state;
  nd4c_cached_call **chain = make_place(cache, key, entry->epoch);
  entry->next = *chain;
  *chain = entry;
  cache->count++;
}
