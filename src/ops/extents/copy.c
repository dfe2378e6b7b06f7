/* Copies a table of extents. Every expression keeps its number, so shapes of the one table mean the same in the other.
 * graph/ir/clone.c copies a graph's table with it. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ops/extents/table.h"

static nd4c_status copy_list(const void *from, int32_t count, size_t size, void *to) {
  void *list = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)count + 1, size, "a table of extents", &list));
  if (count > 0) {
    memcpy(list, from, (size_t)count * size);
  }
  memcpy(to, &list, sizeof list);
  return ND4C_OK;
}

static nd4c_status copy_lists(const nd4c_extents *from, nd4c_extents *to) {
  ND4C_TRY(copy_list(from->atoms, from->atom_count, sizeof *from->atoms, &to->atoms));
  ND4C_TRY(copy_list(from->monomials, from->monomial_count, sizeof *from->monomials, &to->monomials));
  ND4C_TRY(copy_list(from->factors, from->factor_count, sizeof *from->factors, &to->factors));
  ND4C_TRY(copy_list(from->terms, from->term_count, sizeof *from->terms, &to->terms));
  ND4C_TRY(copy_list(from->expressions, from->expression_count, sizeof *from->expressions, &to->expressions));
  return copy_list(from->guards, from->guard_count, sizeof *from->guards, &to->guards);
}

static nd4c_status copy_names(nd4c_extents *to) {
  for (int32_t i = 0; i < to->atom_count; i++) {
    const char *name = to->atoms[i].name;
    to->atoms[i].name = nd4c_region_text(&to->region, name);
    if (name != NULL && to->atoms[i].name == NULL) {
      return nd4c_error_code();
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_extents_copy(const nd4c_extents *extents, nd4c_extents **copy) {
  nd4c_extents *made = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *made, "a table of extents", &made));
  *made = *extents;
  made->region = (nd4c_region){0};
  made->atoms = NULL;
  made->monomials = NULL;
  made->factors = NULL;
  made->terms = NULL;
  made->expressions = NULL;
  made->guards = NULL;
  made->atom_capacity = extents->atom_count;
  made->monomial_capacity = extents->monomial_count;
  made->factor_capacity = extents->factor_count;
  made->term_capacity = extents->term_count;
  made->expression_capacity = extents->expression_count;
  made->guard_capacity = extents->guard_count;
  made->failure = ND4C_OK;
  nd4c_status status = copy_lists(extents, made);
  status = status == ND4C_OK ? copy_names(made) : status;
  if (status != ND4C_OK) {
    nd4c_extents_destroy(made);
    return status;
  }
  *copy = made;
  return ND4C_OK;
}
