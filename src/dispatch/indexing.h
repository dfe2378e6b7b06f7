/* Types and functions that nd4c_array_get (indexing.c) and nd4c_array_set (indexing_set.c) share. Only the three
 * indexing files include it. */
#ifndef ND4C_DISPATCH_INDEXING_H
#define ND4C_DISPATCH_INDEXING_H

#include "array/array.h"
#include "nd4c/indexing.h"

/* A mask or an array of indices among the items. */
typedef struct nd4c_index_choice {
  const nd4c_array *array;
  bool is_mask;
  int32_t axis;  /* first axis of the plan's view that it chooses from */
  int32_t given; /* the same axis in the caller's numbering of the array's axes */
} nd4c_index_choice;

/* The plan of an indexing: the view that the basic items make, in which axes under choices are whole. */
typedef struct nd4c_index_plan {
  const char *name; /* of the function, for texts */
  const nd4c_array *array;
  int32_t next; /* axis of the array that the next item covers */
  int32_t rank;
  int64_t offset;
  bool empty;
  int32_t choice_count;
  int32_t chosen_axes;   /* of the view */
  int32_t position;      /* of the chosen axes in the result */
  int32_t neighbourhood; /* of the choices: see take_neighbour */
  int64_t shape[ND4C_MAX_RANK], strides[ND4C_MAX_RANK];
  nd4c_index_choice choices[ND4C_MAX_RANK];
} nd4c_index_plan;

nd4c_status nd4c_index_plan_make(const char *name, const nd4c_array *array, const nd4c_index *items, int32_t count,
                                 nd4c_index_plan *plan);
nd4c_status nd4c_index_plan_view(const nd4c_index_plan *plan, nd4c_array **view);

/* Choices as arrays of indices that are ready for ops. */
typedef struct nd4c_index_places {
  const char *name;
  int32_t count; /* axes chosen from; 0 if all choices are 0-d masks */
  int32_t axes[ND4C_MAX_RANK], given[ND4C_MAX_RANK];
  int64_t extents[ND4C_MAX_RANK];
  nd4c_array *indices[ND4C_MAX_RANK]; /* int32 or int64, of the common shape */
  int32_t rank;                       /* the common shape */
  int64_t shape[ND4C_MAX_RANK];
  int32_t position; /* of the common shape's axes in the result */
} nd4c_index_places;

/* Reads masks. nd4c_index_places_clear must follow, also after a failure. */
nd4c_status nd4c_index_places_make(const nd4c_index_plan *plan, nd4c_index_places *places);
void nd4c_index_places_clear(nd4c_index_places *places);
/* All indices in one array, positions in its last axis. */
nd4c_status nd4c_index_places_pack(const nd4c_index_places *places, nd4c_array **packed);
/* The view with the axes chosen from in front. */
nd4c_status nd4c_index_places_front(const nd4c_index_places *places, const nd4c_array *view, nd4c_array **front);
/* After an op has found an index out of range: names it in the caller's numbering of axes. Returns `status`. */
nd4c_status nd4c_index_places_blame(const nd4c_index_places *places, nd4c_status status);

/* *out = array with the `count` axes at `from` moved to `to`, both counted among the other axes; a view. */
nd4c_status nd4c_index_move_axes(const nd4c_array *array, int32_t from, int32_t count, int32_t to, nd4c_array **out);

#endif
