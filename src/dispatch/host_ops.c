/* Implements host_ops.h: the table in which call.c and explain.c look each call up. Also lends nd4c_array_read to
 * src/device by a hook. */
#include "dispatch/host_ops.h"

#include "device/provider/contents.h"

typedef enum host_when { ALWAYS, STRINGS } host_when;

typedef struct host_op {
  nd4c_op op;
  nd4c_host_op_function function;
  host_when when;
} host_op;

#define ROW(op, function, when) {ND4C_OP_##op, nd4c_host_##function, when},
static const host_op rows[] = {ND4C_HOST_OPS(ROW)};

static bool has_strings(const nd4c_pending *p) {
  bool has = p->inferred[0].dtype == ND4C_UTF8;
  for (int32_t i = 0; i < p->input_count; i++) {
    has = has || (p->inputs[i] != NULL && p->inputs[i]->dtype == ND4C_UTF8);
  }
  return has;
}

nd4c_host_op_function nd4c_host_op_find(const nd4c_pending *p) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].op == p->def->info.op && (rows[i].when == ALWAYS || has_strings(p))) {
      return rows[i].function;
    }
  }
  return NULL;
}

/* The entry is here because every program that calls ops links this file: in a static library an entry exists only if
 * its file is linked. */
static const nd4c_content_hook contents = {nd4c_array_read};
ND4C_HOOK(content_hooks, nd4c_content_hook, contents);
