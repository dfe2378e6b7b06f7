/* Elements at indices and under masks (indexing.h). Engine reference calls these. */
#include "kernels/reference/indexing/indexing.h"

enum { MAX_RANK = 32 };

/* -- slices -------------------------------------------------------------------------------------------------------- */

/* Elements instead of slices: a row of indices, `here` walked along, `there` found by them. Steps in bytes. */
typedef struct index_row {
  const nd4c_ref_slices *args;
  int64_t at, step, count; /* of indices, in elements */
  char *there, *here;
  int64_t there_step, here_step;
} index_row;

/* The loop uses local variables: the compiler must assume that stores of bytes change all other memory. */
#define INDEX_ROW(name, bytes)                                                                \
  static void name(const index_row *row) {                                                    \
    const nd4c_ref_slices *args = row->args;                                                  \
    const int64_t extent = args->whole.shape[args->axis], count = row->count;                 \
    const int64_t there_step = row->there_step, here_step = row->here_step, step = row->step; \
    const nd4c_dtype dtype = args->indices.dtype;                                             \
    const nd4c_ref_index_mode mode = args->mode;                                              \
    const bool to_whole = args->to_whole;                                                     \
    const char *data = args->indices.data;                                                    \
    char *whole = row->there, *here = row->here;                                              \
    for (int64_t i = 0, at = row->at; i < count; i++, at += step, here += here_step) {        \
      int64_t index = nd4c_ref_resolve_index(mode, nd4c_ref_index(dtype, data, at), extent);  \
      char *there = whole + index * there_step;                                               \
      memcpy(to_whole ? there : here, to_whole ? here : there, bytes);                        \
    }                                                                                         \
  }
INDEX_ROW(index_row_1, 1)
INDEX_ROW(index_row_2, 2)
INDEX_ROW(index_row_4, 4)
INDEX_ROW(index_row_8, 8)
INDEX_ROW(index_row_16, 16)

static void index_row_run(const index_row *row, int64_t bytes) {
  void (*run)(const index_row *) = bytes == 1   ? index_row_1
                                   : bytes == 2 ? index_row_2
                                   : bytes == 4 ? index_row_4
                                   : bytes == 8 ? index_row_8
                                                : index_row_16;
  run(row);
}

/* All slices behind one position of the axes before the axis. */
static void move_indexed(const nd4c_ref_slices *args, const nd4c_ref_plan *plan, char *whole, char *part) {
  const nd4c_ref_tensor *indices = &args->indices;
  const int64_t *strides[2] = {indices->strides, args->part.strides + args->axis};
  int64_t extent = args->whole.shape[args->axis], stride = args->whole.strides[args->axis];
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, indices->rank, indices->shape, 2, strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    if (plan->size == 1 && args->row == NULL) {
      index_row row = {args,
                       walk.at[0],
                       walk.step[0],
                       walk.length,
                       whole,
                       part + walk.at[1] * plan->bytes,
                       stride * plan->bytes,
                       walk.step[1] * plan->bytes};
      index_row_run(&row, plan->bytes);
      continue;
    }
    for (int64_t i = 0; i < walk.length; i++) {
      int64_t index = nd4c_ref_index(indices->dtype, indices->data, walk.at[0] + i * walk.step[0]);
      char *there = whole + nd4c_ref_resolve_index(args->mode, index, extent) * stride * plan->bytes;
      char *here = part + (walk.at[1] + i * walk.step[1]) * plan->bytes;
      nd4c_ref_plan_run(plan, args->to_whole ? here : there, args->to_whole ? there : here);
    }
  }
}

void nd4c_ref_move_slices(const nd4c_ref_slices *args) {
  const nd4c_ref_tensor *whole = &args->whole, *part = &args->part;
  const int64_t *outer[2] = {whole->strides, part->strides};
  const int64_t *whole_strides = whole->strides + args->axis + 1;
  const int64_t *part_strides = part->strides + args->axis + args->indices.rank;
  nd4c_ref_plan plan;
  nd4c_ref_walk walk;
  nd4c_ref_plan_make(&plan, args->row, whole->dtype, whole->rank - args->axis - 1, whole->shape + args->axis + 1,
                     args->to_whole ? part_strides : whole_strides, args->to_whole ? whole_strides : part_strides);
  for (bool more = nd4c_ref_walk_start(&walk, args->axis, whole->shape, 2, outer); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++) {
      move_indexed(args, &plan, whole->data + (walk.at[0] + i * walk.step[0]) * plan.bytes,
                   part->data + (walk.at[1] + i * walk.step[1]) * plan.bytes);
    }
  }
}

void nd4c_ref_take_flat(const nd4c_ref_tensor *x, const nd4c_ref_tensor *indices, nd4c_ref_index_mode mode,
                        const nd4c_ref_tensor *y) {
  const int64_t *strides[2] = {indices->strides, y->strides};
  int64_t bytes = nd4c_reference_bytes(x->dtype), extent = nd4c_ref_size(x);
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, indices->rank, indices->shape, 2, strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++) {
      int64_t index = nd4c_ref_index(indices->dtype, indices->data, walk.at[0] + i * walk.step[0]);
      int64_t from = nd4c_ref_offset(x, x->rank, x->shape, nd4c_ref_resolve_index(mode, index, extent));
      nd4c_ref_move_one(bytes, x->data + from * bytes, y->data + (walk.at[1] + i * walk.step[1]) * bytes);
    }
  }
}

/* -- positions ----------------------------------------------------------------------------------------------------- */

/* Where the position at an offset of indices leads in whole, in elements. */
static int64_t position_offset(const nd4c_ref_positions *args, int64_t at) {
  const nd4c_ref_tensor *indices = &args->indices, *whole = &args->whole;
  int64_t step = indices->strides[indices->rank - 1], offset = 0;
  for (int32_t k = 0; k < args->length; k++) {
    int64_t index = nd4c_ref_index(indices->dtype, indices->data, at + k * step);
    index += index < 0 ? whole->shape[args->batch + k] : 0;
    offset += index * whole->strides[args->batch + k];
  }
  return offset;
}

void nd4c_ref_move_positions(const nd4c_ref_positions *args) {
  const nd4c_ref_tensor *indices = &args->indices, *whole = &args->whole, *part = &args->part;
  int64_t batch_strides[MAX_RANK] = {0};
  const int64_t *strides[3] = {indices->strides, part->strides, batch_strides};
  int32_t inner = args->batch + args->length, places = indices->rank - 1;
  const int64_t *whole_strides = whole->strides + inner, *part_strides = part->strides + places;
  nd4c_ref_plan plan;
  nd4c_ref_walk walk;
  for (int32_t i = 0; i < args->batch; i++) {
    batch_strides[i] = whole->strides[i];
  }
  nd4c_ref_plan_make(&plan, args->row, whole->dtype, whole->rank - inner, whole->shape + inner,
                     args->to_whole ? part_strides : whole_strides, args->to_whole ? whole_strides : part_strides);
  for (bool more = nd4c_ref_walk_start(&walk, places, indices->shape, 3, strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++) {
      int64_t batch = walk.at[2] + i * walk.step[2];
      char *there = whole->data + (batch + position_offset(args, walk.at[0] + i * walk.step[0])) * plan.bytes;
      char *here = part->data + (walk.at[1] + i * walk.step[1]) * plan.bytes;
      if (plan.size == 1 && args->row == NULL) {
        nd4c_ref_move_one(plan.bytes, args->to_whole ? here : there, args->to_whole ? there : here);
      } else {
        nd4c_ref_plan_run(&plan, args->to_whole ? here : there, args->to_whole ? there : here);
      }
    }
  }
}

/* Column by column: one extent and long rows. */
static bool are_positions_in_range(const nd4c_ref_positions *args) {
  nd4c_ref_tensor column = args->indices;
  int64_t bytes = column.dtype == ND4C_INT64 ? 8 : 4;
  column.rank--;
  for (int32_t k = 0; k < args->length; k++) {
    column.data = args->indices.data + k * args->indices.strides[column.rank] * bytes;
    if (!nd4c_ref_all_in_range(&column, args->whole.shape[args->batch + k])) {
      return false;
    }
  }
  return true;
}

bool nd4c_ref_find_bad_position(const nd4c_ref_positions *args, int64_t *flat, int64_t *value) {
  const nd4c_ref_tensor *indices = &args->indices;
  nd4c_ref_walk walk;
  int64_t number = 0;
  if (are_positions_in_range(args)) {
    return false;
  }
  for (bool more = nd4c_ref_walk_start(&walk, indices->rank, indices->shape, 1, &indices->strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t k = 0; k < walk.length; k++, number++) {
      int64_t index = nd4c_ref_index(indices->dtype, indices->data, walk.at[0] + k * walk.step[0]);
      int64_t extent = args->whole.shape[args->batch + k];
      if (index < -extent || index >= extent) {
        *flat = number;
        *value = index;
        return true;
      }
    }
  }
  return false;
}

/* -- elements ------------------------------------------------------------------------------------------------------ */

/* Strides of a tensor of the same rank seen with a shape: 0 where it has length 1. */
static void stretch(const nd4c_ref_tensor *tensor, const int64_t *shape, int64_t *strides) {
  for (int32_t i = 0; i < tensor->rank; i++) {
    strides[i] = tensor->shape[i] == 1 && shape[i] != 1 ? 0 : tensor->strides[i];
  }
}

void nd4c_ref_move_elements(const nd4c_ref_elements *args) {
  const nd4c_ref_tensor *whole = &args->whole, *indices = &args->indices, *part = &args->part;
  int64_t whole_strides[MAX_RANK], index_strides[MAX_RANK], part_strides[MAX_RANK];
  const int64_t *strides[3] = {whole_strides, index_strides, part_strides};
  int64_t bytes = nd4c_reference_bytes(whole->dtype);
  int64_t extent = whole->shape[args->axis], stride = whole->strides[args->axis];
  nd4c_ref_walk walk;
  stretch(whole, args->shape, whole_strides);
  stretch(indices, args->shape, index_strides);
  stretch(part, args->shape, part_strides);
  whole_strides[args->axis] = 0;
  for (bool more = nd4c_ref_walk_start(&walk, whole->rank, args->shape, 3, strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++) {
      int64_t index = nd4c_ref_index(indices->dtype, indices->data, walk.at[1] + i * walk.step[1]);
      index += index < 0 ? extent : 0;
      char *there = whole->data + (walk.at[0] + i * walk.step[0] + index * stride) * bytes;
      char *here = part->data + (walk.at[2] + i * walk.step[2]) * bytes;
      if (args->row != NULL) {
        args->row(1, bytes, here, bytes, there, bytes);
      } else {
        nd4c_ref_move_one(bytes, args->to_whole ? here : there, args->to_whole ? there : here);
      }
    }
  }
}

/* -- masks --------------------------------------------------------------------------------------------------------- */

int64_t nd4c_ref_count_true(const nd4c_ref_tensor *mask) {
  nd4c_ref_walk walk;
  int64_t count = 0;
  for (bool more = nd4c_ref_walk_start(&walk, mask->rank, mask->shape, 1, &mask->strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length && walk.step[0] == 1; i++) {
      count += mask->data[walk.at[0] + i] != 0;
    }
    for (int64_t i = 0; i < walk.length && walk.step[0] != 1; i++) {
      count += mask->data[walk.at[0] + i * walk.step[0]] != 0;
    }
  }
  return count;
}

/* A row of single elements where the mask is true, one after the other into y; where the next ones go. Each is written,
 * and counts only if it is wanted: y has room for as many as there are, and there is no branch to mispredict. */
#define MASK_ROW(name, bytes)                                                                                      \
  static char *name(int64_t count, const char *mask, int64_t mask_step, const char *from, int64_t step, char *y) { \
    for (int64_t i = 0; i < count; i++) {                                                                          \
      memcpy(y, from + i * step, bytes);                                                                           \
      y += mask[i * mask_step] != 0 ? bytes : 0;                                                                   \
    }                                                                                                              \
    return y;                                                                                                      \
  }
MASK_ROW(mask_row_1, 1)
MASK_ROW(mask_row_2, 2)
MASK_ROW(mask_row_4, 4)
MASK_ROW(mask_row_8, 8)
MASK_ROW(mask_row_16, 16)
typedef char *(*mask_row)(int64_t count, const char *mask, int64_t mask_step, const char *from, int64_t step, char *y);

static mask_row mask_row_of(int64_t bytes) {
  return bytes == 1   ? mask_row_1
         : bytes == 2 ? mask_row_2
         : bytes == 4 ? mask_row_4
         : bytes == 8 ? mask_row_8
                      : mask_row_16;
}

/* The slices behind one position of the axes before the mask's; where the next ones go. */
static char *mask_indexed(const nd4c_ref_tensor *x, const nd4c_ref_tensor *mask, int32_t axis,
                          const nd4c_ref_plan *plan, const char *from, char *y) {
  const int64_t *strides[2] = {mask->strides, x->strides + axis};
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, mask->rank, mask->shape, 2, strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    if (plan->size == 1) {
      y = mask_row_of(plan->bytes)(walk.length, mask->data + walk.at[0], walk.step[0], from + walk.at[1] * plan->bytes,
                                   walk.step[1] * plan->bytes, y);
      continue;
    }
    for (int64_t i = 0; i < walk.length; i++) {
      if (mask->data[walk.at[0] + i * walk.step[0]] != 0) {
        nd4c_ref_plan_run(plan, from + (walk.at[1] + i * walk.step[1]) * plan->bytes, y);
        y += plan->size * plan->bytes;
      }
    }
  }
  return y;
}

void nd4c_ref_mask_slices(const nd4c_ref_tensor *x, const nd4c_ref_tensor *mask, int32_t axis, char *y) {
  int64_t dense[MAX_RANK], stride = 1;
  int32_t inner = axis + mask->rank;
  nd4c_ref_plan plan;
  nd4c_ref_walk walk;
  for (int32_t i = x->rank - 1; i >= inner; i--) {
    dense[i] = stride;
    stride *= x->shape[i];
  }
  nd4c_ref_plan_make(&plan, NULL, x->dtype, x->rank - inner, x->shape + inner, x->strides + inner, dense + inner);
  for (bool more = nd4c_ref_walk_start(&walk, axis, x->shape, 1, &x->strides); more; more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++) {
      y = mask_indexed(x, mask, axis, &plan, x->data + (walk.at[0] + i * walk.step[0]) * plan.bytes, y);
    }
  }
}

void nd4c_ref_mask_elements(const nd4c_ref_tensor *x, const nd4c_ref_tensor *mask, char *y) {
  const int64_t *strides[2] = {x->strides, mask->strides};
  int64_t bytes = nd4c_reference_bytes(x->dtype);
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, x->rank, x->shape, 2, strides); more; more = nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length; i++) {
      if (mask->data[walk.at[1] + i * walk.step[1]] != 0) {
        nd4c_ref_move_one(bytes, x->data + (walk.at[0] + i * walk.step[0]) * bytes, y);
        y += bytes;
      }
    }
  }
}

void nd4c_ref_mask_flat(const nd4c_ref_tensor *x, const nd4c_ref_tensor *condition, char *y) {
  int64_t bytes = nd4c_reference_bytes(x->dtype), number = 0, count = condition->shape[0];
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, x->rank, x->shape, 1, &x->strides); more;
       more = number < count && nd4c_ref_walk_next(&walk)) {
    for (int64_t i = 0; i < walk.length && number < count; i++, number++) {
      if (condition->data[number * condition->strides[0]] != 0) {
        nd4c_ref_move_one(bytes, x->data + (walk.at[0] + i * walk.step[0]) * bytes, y);
        y += bytes;
      }
    }
  }
}

/* y = mask ? value : y, along a row; steps in bytes. Bits instead of a choice: compilers make branches of choices. */
#define FILL_ROW(name, type)                                                                                           \
  static void name(int64_t count, const char *mask, int64_t mask_step, const char *value, int64_t value_step, char *y, \
                   int64_t y_step) {                                                                                   \
    for (int64_t i = 0; i < count; i++) {                                                                              \
      type chosen, old, bits = (type)(0 - (type)(mask[i * mask_step] != 0));                                           \
      memcpy(&chosen, value + i * value_step, sizeof chosen);                                                          \
      memcpy(&old, y + i * y_step, sizeof old);                                                                        \
      old = (type)((old & (type)~bits) | (chosen & bits));                                                             \
      memcpy(y + i * y_step, &old, sizeof old);                                                                        \
    }                                                                                                                  \
  }
FILL_ROW(fill_row_1, uint8_t)
FILL_ROW(fill_row_2, uint16_t)
FILL_ROW(fill_row_4, uint32_t)
FILL_ROW(fill_row_8, uint64_t)
typedef void (*fill_row)(int64_t count, const char *mask, int64_t mask_step, const char *value, int64_t value_step,
                         char *y, int64_t y_step);

static fill_row fill_row_of(int64_t bytes) {
  return bytes == 1 ? fill_row_1 : bytes == 2 ? fill_row_2 : bytes == 4 ? fill_row_4 : bytes == 8 ? fill_row_8 : NULL;
}

void nd4c_ref_mask_fill(const nd4c_ref_tensor *mask, const nd4c_ref_tensor *value, const nd4c_ref_tensor *y) {
  const int64_t *strides[3] = {mask->strides, value->strides, y->strides};
  int64_t bytes = nd4c_reference_bytes(y->dtype);
  fill_row row = fill_row_of(bytes);
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, y->rank, y->shape, 3, strides); more; more = nd4c_ref_walk_next(&walk)) {
    if (row != NULL) {
      row(walk.length, mask->data + walk.at[0], walk.step[0], value->data + walk.at[1] * bytes, walk.step[1] * bytes,
          y->data + walk.at[2] * bytes, walk.step[2] * bytes);
      continue;
    }
    for (int64_t i = 0; i < walk.length; i++) {
      if (mask->data[walk.at[0] + i * walk.step[0]] != 0) {
        nd4c_ref_move_one(bytes, value->data + (walk.at[1] + i * walk.step[1]) * bytes,
                          y->data + (walk.at[2] + i * walk.step[2]) * bytes);
      }
    }
  }
}

/* The same with the next of the source's elements, of which `last` is the last; gives the number of the next one. */
#define SCATTER_ROW(name, type)                                                                                    \
  static int64_t name(int64_t count, const char *mask, int64_t mask_step, const char *source, int64_t source_step, \
                      int64_t next, int64_t last, char *y, int64_t y_step) {                                       \
    for (int64_t i = 0; i < count; i++) {                                                                          \
      int64_t at = next < last ? next : last;                                                                      \
      type chosen, old, bits = (type)(0 - (type)(mask[i * mask_step] != 0));                                       \
      memcpy(&chosen, source + at * source_step, sizeof chosen);                                                   \
      memcpy(&old, y + i * y_step, sizeof old);                                                                    \
      old = (type)((old & (type)~bits) | (chosen & bits));                                                         \
      memcpy(y + i * y_step, &old, sizeof old);                                                                    \
      next += (int64_t)(bits & 1);                                                                                 \
    }                                                                                                              \
    return next;                                                                                                   \
  }
SCATTER_ROW(scatter_row_1, uint8_t)
SCATTER_ROW(scatter_row_2, uint16_t)
SCATTER_ROW(scatter_row_4, uint32_t)
SCATTER_ROW(scatter_row_8, uint64_t)
typedef int64_t (*scatter_row)(int64_t count, const char *mask, int64_t mask_step, const char *source,
                               int64_t source_step, int64_t next, int64_t last, char *y, int64_t y_step);

/* NULL where elements are moved one by one. */
static scatter_row scatter_row_of(const nd4c_ref_tensor *source, int64_t bytes) {
  if (source->rank != 1 || source->shape[0] == 0) {
    return NULL;
  }
  return bytes == 1   ? scatter_row_1
         : bytes == 2 ? scatter_row_2
         : bytes == 4 ? scatter_row_4
         : bytes == 8 ? scatter_row_8
                      : NULL;
}

void nd4c_ref_mask_scatter(const nd4c_ref_tensor *mask, const nd4c_ref_tensor *source, const nd4c_ref_tensor *y) {
  const int64_t *strides[2] = {mask->strides, y->strides};
  int64_t bytes = nd4c_reference_bytes(y->dtype), next = 0;
  scatter_row row = scatter_row_of(source, bytes);
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, y->rank, y->shape, 2, strides); more; more = nd4c_ref_walk_next(&walk)) {
    if (row != NULL) {
      next = row(walk.length, mask->data + walk.at[0], walk.step[0], source->data, source->strides[0] * bytes, next,
                 source->shape[0] - 1, y->data + walk.at[1] * bytes, walk.step[1] * bytes);
      continue;
    }
    for (int64_t i = 0; i < walk.length; i++) {
      if (mask->data[walk.at[0] + i * walk.step[0]] != 0) {
        int64_t from =
            source->rank == 1 ? next * source->strides[0] : nd4c_ref_offset(source, source->rank, source->shape, next);
        next++;
        nd4c_ref_move_one(bytes, source->data + from * bytes, y->data + (walk.at[1] + i * walk.step[1]) * bytes);
      }
    }
  }
}
