/* Implements ordering.h: launches the sorts and selections of kernels/opencl/support. The families sorting, indexing
 * and random call it. */
#include "backends/opencl/support/ordering.h"

#include <string.h>

enum { BLOCK = 16, PART = 32, LEAST_CHUNK = 64, CHUNKS = 2048 };

nd4c_cl_options nd4c_cl_order_options(void) {
  nd4c_cl_options options = {""};
  nd4c_cl_define(&options, "BLOCK", "%d", (int)BLOCK);
  nd4c_cl_define(&options, "PART", "%d", (int)PART);
  return options;
}

/* -- sorting ------------------------------------------------------------------------------------------------------- */

int64_t nd4c_cl_sorting_make(nd4c_cl_sorting *sorting, int64_t begin, int64_t lines, int64_t length) {
  int64_t count = lines * length, numbers = nd4c_cl_words_of_numbers(count);
  *sorting = (nd4c_cl_sorting){.lines = lines, .length = length, .keys = begin, .other_keys = begin + count};
  sorting->order = begin + 2 * count;
  sorting->other_order = sorting->order + numbers;
  return sorting->other_order + numbers + 1; /* a buffer even for no keys: kernels look into it */
}

int64_t nd4c_cl_sorting_bytes(int64_t count) {
  nd4c_cl_sorting sorting;
  return nd4c_cl_sorting_make(&sorting, 0, 1, count) * ND4C_CL_WORD;
}

nd4c_status nd4c_cl_sorting_check(const nd4c_cl_step *step, int64_t count, int64_t bytes) {
  if (count > ND4C_CL_MOST_SORTED) {
    return nd4c_cl_step_refuse(step, "%lld elements, more than the %lld that are ordered here", (long long)count,
                               (long long)ND4C_CL_MOST_SORTED);
  }
  int64_t most = nd4c_cl_device_limits(step->call->device)->buffer_bytes;
  if (bytes > most) {
    return nd4c_cl_step_refuse(step, "needs a buffer of %lld bytes, the device's longest has %lld", (long long)bytes,
                               (long long)most);
  }
  return ND4C_OK;
}

static int64_t pieces(int64_t count, int64_t size) {
  return (count + size - 1) / size;
}

nd4c_status nd4c_cl_sort(const nd4c_call *call, nd4c_cl_sorting *s) {
  ND4C_BACKEND_TRY(ND4C_CL_RUN_ORDER(call, "sort_blocks", s->lines * pieces(s->length, BLOCK),
                                     ND4C_CL_LONG(s->keys, s->order, s->length)));
  for (int64_t width = BLOCK; width < s->length; width *= 2) {
    ND4C_BACKEND_TRY(
        ND4C_CL_RUN_ORDER(call, "merge_runs", s->lines * pieces(s->length, PART),
                          ND4C_CL_LONG(s->keys, s->order, s->other_keys, s->other_order, s->length, width)));
    *s = (nd4c_cl_sorting){s->lines, s->length, s->other_keys, s->other_order, s->keys, s->order};
  }
  return ND4C_OK;
}

nd4c_status nd4c_cl_sort_rows(const nd4c_call *call, nd4c_cl_sorting *s, int64_t columns) {
  ND4C_BACKEND_TRY(ND4C_CL_RUN_ORDER(call, "sort_row_blocks", pieces(s->length, BLOCK),
                                     ND4C_CL_LONG(s->keys, columns, s->order, s->length)));
  for (int64_t width = BLOCK; width < s->length; width *= 2) {
    int64_t from = s->order;
    ND4C_BACKEND_TRY(ND4C_CL_RUN_ORDER(call, "merge_rows", pieces(s->length, PART),
                                       ND4C_CL_LONG(s->keys, columns, s->order, s->other_order, s->length, width)));
    s->order = s->other_order;
    s->other_order = from;
  }
  return ND4C_OK;
}

nd4c_status nd4c_cl_make_keys(const nd4c_cl_step *step, const nd4c_tensor *x, int32_t axis, bool flip, bool by_order,
                              int64_t begin, const nd4c_cl_sorting *s) {
  int64_t shape[ND4C_CL_MAX_RANK], strides[ND4C_CL_MAX_RANK];
  const int64_t *walked = strides;
  int32_t rank = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    int32_t place = i == axis ? x->rank - 1 : rank++;
    shape[place] = x->shape[i];
    strides[place] = x->strides[i];
  }
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, x->rank, shape, 1, &walked));
  return ND4C_CL_STEP_TYPED(step, "places+keys", "make_keys", x->dtype, walk.size, ND4C_CL_IN(x),
                            ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(s->keys, s->order, begin), ND4C_CL_VALUE(walk),
                            ND4C_CL_LONG(s->length, flip ? -1 : 0), ND4C_CL_INT(by_order));
}

bool nd4c_cl_nan_key(nd4c_dtype dtype, uint64_t *key) {
#define NAN_KEY(NAME, name, number, build, kind, bits, ...) \
  [number] = ND4C_KIND_##kind == ND4C_KIND_FLOAT ? UINT64_MAX >> (64 - (bits)) : 0,
  static const uint64_t keys[ND4C_DTYPE_END] = {ND4C_DTYPE_TABLE(NAN_KEY)};
#undef NAN_KEY
  *key = keys[dtype];
  return *key != 0;
}

nd4c_status nd4c_cl_place_keys(const nd4c_call *call, const nd4c_tensor *indices, const nd4c_cl_walk *walk,
                               const nd4c_cl_target *target, const nd4c_cl_sorting *sorting, bool at_once) {
  const nd4c_cl_given to_stream = ND4C_CL_FAULT, to_scratch = ND4C_CL_SCRATCH(READ_WRITE);
  return ND4C_CL_RUN_UNITS(call, "places+scatter", "place_keys", call->outputs[0].dtype, walk->size,
                           ND4C_CL_IN(indices), ND4C_CL_SCRATCH(READ_WRITE),
                           ND4C_CL_LONG(sorting->keys, sorting->order), ND4C_CL_VALUE(*walk), ND4C_CL_VALUE(*target),
                           at_once ? to_scratch : to_stream);
}

const char *nd4c_cl_kind(nd4c_dtype dtype) {
#define KIND_NAME(NAME, name, number, build, kind, ...) [number] = #kind,
  static const char *const names[ND4C_DTYPE_END] = {ND4C_DTYPE_TABLE(KIND_NAME)};
#undef KIND_NAME
  return names[dtype];
}

/* -- choosing ------------------------------------------------------------------------------------------------------ */

int64_t nd4c_cl_selection_make(nd4c_cl_selection *selection, int64_t begin, int64_t count) {
  int64_t chunk = pieces(count, CHUNKS);
  *selection = (nd4c_cl_selection){.count = count, .chunk = chunk > LEAST_CHUNK ? chunk : LEAST_CHUNK};
  selection->chunks = pieces(count, selection->chunk);
  selection->flags = begin;
  selection->sums = begin + nd4c_cl_words_of_flags(count);
  selection->chosen = selection->sums + selection->chunks + 1;
  selection->ranks = selection->chosen + nd4c_cl_words_of_numbers(count);
  return selection->ranks + nd4c_cl_words_of_numbers(count);
}

nd4c_status nd4c_cl_select(const nd4c_call *call, const nd4c_cl_selection *s, int64_t *total) {
  ND4C_BACKEND_TRY(
      ND4C_CL_RUN_ORDER(call, "scan_count", s->chunks, ND4C_CL_LONG(s->flags, s->count, s->chunk, s->sums)));
  ND4C_BACKEND_TRY(ND4C_CL_RUN_ORDER(call, "scan_sums", 1, ND4C_CL_LONG(s->sums, s->chunks)));
  ND4C_BACKEND_TRY(ND4C_CL_RUN_ORDER(call, "scan_number", s->chunks,
                                     ND4C_CL_LONG(s->flags, s->count, s->chunk, s->sums, s->chosen, s->ranks)));
  return total == NULL ? ND4C_OK
                       : nd4c_cl_read_back(call, call->scratch_buffer, (s->sums + s->chunks) * ND4C_CL_WORD, total,
                                           (int64_t)sizeof *total);
}

nd4c_status nd4c_cl_make_flags(const nd4c_call *call, const nd4c_tensor *x, const nd4c_cl_walk *walk, int64_t flags) {
  return ND4C_CL_RUN_TYPED(call, "places+keys", "make_flags", x->dtype, walk->size, ND4C_CL_IN(x),
                           ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_LONG(flags), ND4C_CL_VALUE(*walk));
}

nd4c_status nd4c_cl_write_numbers(const nd4c_cl_step *step, int64_t list, int64_t first, const nd4c_tensor *y,
                                  const int64_t *places) {
  const int64_t *strides[2] = {y->strides, places};
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, y->rank, y->shape, 2, strides));
  return ND4C_CL_STEP_ORDER(step, "write_numbers", walk.size, ND4C_CL_LONG(list, first), ND4C_CL_OUT(y),
                            ND4C_CL_VALUE(walk));
}

nd4c_status nd4c_cl_move_chosen(const nd4c_call *call, const nd4c_tensor *x, const nd4c_tensor *y, int64_t list,
                                const nd4c_cl_walk *walk, const nd4c_cl_walk *places, bool scatter, int64_t count) {
  return ND4C_CL_RUN_UNITS(call, "places+move", "take_chosen", x->dtype, count,
                           ND4C_CL_TENSOR(x, scatter ? ND4C_CL_WRITE : ND4C_CL_READ, 0),
                           ND4C_CL_TENSOR(y, scatter ? ND4C_CL_READ : ND4C_CL_WRITE, 0), ND4C_CL_SCRATCH(READ),
                           ND4C_CL_LONG(list * 2), ND4C_CL_VALUE(*walk), ND4C_CL_VALUE(*places), ND4C_CL_INT(scatter));
}

nd4c_status nd4c_cl_take_slices(const nd4c_cl_step *step, const nd4c_tensor *x, int32_t axis, int32_t covered,
                                int64_t list, int64_t total) {
  const nd4c_call *call = step->call;
  int64_t shape[ND4C_CL_MAX_RANK + 1], from[ND4C_CL_MAX_RANK + 1], to[ND4C_CL_MAX_RANK + 1];
  int64_t number[ND4C_CL_MAX_RANK + 1] = {0};
  const int64_t *strides[3] = {from, to, number}, *place_strides = x->strides + axis;
  nd4c_cl_walk walk, places;
  int32_t rank = x->rank - covered + 1;
  for (int32_t i = 0; i < rank; i++) {
    int32_t own = i < axis ? i : i + covered - 1;
    shape[i] = i == axis ? total : x->shape[own];
    from[i] = i == axis ? 0 : x->strides[own];
  }
  number[axis] = 1;
  nd4c_dense_strides(rank, shape, to);
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, rank, shape, 3, strides));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &places, covered, x->shape + axis, 1, &place_strides));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  memcpy(call->true_shapes[0], shape, (size_t)rank * sizeof *shape);
  return nd4c_cl_move_chosen(call, x, &call->outputs[0], list, &walk, &places, false, walk.size);
}
