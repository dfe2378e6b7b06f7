/* nd4c_array_format: copies the shown elements to the host, where src/array/format.c makes the text. Programs call it;
 * Python's repr of an array does. */
#include "array/array.h"
#include "array/format.h"
#include "array/narrow.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/status.h"
#include "device/access/write.h"
#include "device/memory/host.h"
#include "device/storage/storage.h"

/* State of `gather`, which reads only the elements that a summary shows, run by run along the last axis. */
typedef struct gathering {
  const nd4c_array *array;
  int64_t element; /* bytes */
  int64_t counts[ND4C_MAX_RANK];
  char *to;
} gathering;

static bool is_cut(const gathering *g, int32_t axis) {
  return g->counts[axis] < g->array->shape[axis];
}

/* The number of elements that one read takes from the last axis. */
static int64_t run_length(const gathering *g) {
  int32_t last = g->array->rank - 1;
  return g->array->strides[last] != 1 ? 1 : is_cut(g, last) ? g->counts[last] / 2 : g->counts[last];
}

static nd4c_status gather(gathering *g, int32_t axis, int64_t offset) {
  const nd4c_array *array = g->array;
  bool last = axis == array->rank - 1;
  int64_t count = g->counts[axis], run = last ? run_length(g) : 1;
  for (int64_t n = 0; n < count; n += run) {
    int64_t index = is_cut(g, axis) && n >= count / 2 ? array->shape[axis] - count + n : n;
    int64_t at = offset + index * array->strides[axis] * g->element;
    if (!last) {
      ND4C_TRY(gather(g, axis + 1, at));
      continue;
    }
    ND4C_TRY(nd4c_storage_read_piece(array->storage, at, run * g->element, g->to));
    g->to += run * g->element;
  }
  return ND4C_OK;
}

/* Formats the array from its shown elements alone. *done: false if the caller must copy the whole storage, because all
 * elements are shown or because that is as cheap. */
static nd4c_status format_gathered(const nd4c_array *array, const nd4c_print_options *options, char **text,
                                   bool *done) {
  gathering g = {.array = array, .element = nd4c_dtype_size(array->dtype)};
  bool all = true;
  *done = false;
  if (atomic_load(&array->storage->address) != NULL || array->rank == 0 || array->dtype == ND4C_UTF8 ||
      nd4c_dtype_is_packed(array->dtype)) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_format_shown(array, options, g.counts, &all));
  int64_t shown = 1;
  for (int32_t axis = 0; axis < array->rank; axis++) {
    if (!nd4c_checked_multiply(shown, g.counts[axis], &shown) || shown > array->storage->bytes) {
      return ND4C_OK; /* a broadcast view, which shows elements of the storage repeatedly */
    }
  }
  int64_t bytes = shown * g.element;
  if (all || !nd4c_storage_reads_apart(array->storage, bytes, shown / run_length(&g))) {
    return ND4C_OK;
  }
  *done = true;
  void *elements = nd4c_host_table()->allocate_pages((size_t)bytes);
  if (elements == NULL) {
    return nd4c_fail_memory("printing an array", (size_t)bytes);
  }
  g.to = elements;
  nd4c_status status = gather(&g, 0, nd4c_array_offset_bytes(array));
  status = status == ND4C_OK ? nd4c_format_gathered(array, elements, options, text) : status;
  nd4c_host_table()->free_pages(elements, (size_t)bytes);
  return status;
}

nd4c_status nd4c_array_format(const nd4c_array *array, const nd4c_print_options *options, char **text) {
  ND4C_TRY(nd4c_array_check(array, "nd4c_array_format: array"));
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_array_format: text is NULL");
  }
  if (options != NULL && options->struct_size < sizeof(nd4c_print_options)) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_print_options)", options->struct_size);
  }
  bool done = false;
  nd4c_status status = format_gathered(array, options, text, &done);
  if (done || status != ND4C_OK) {
    return status;
  }
  nd4c_look look;
  ND4C_TRY(nd4c_array_look_at(array, &look));
  status = nd4c_format_text(array, look.element0, options, text);
  nd4c_array_look_away(&look);
  return status;
}
