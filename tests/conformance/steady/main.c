/* nd4c_steady: a step that is done again in a workspace allocates nothing. Every op of the table on the CPU, with the
 * operands of the records and with larger ones, made of those: from the third call on the library requests no memory
 * from the system. Requests of vendors' libraries inside their calls are printed. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counter.h"
#include "tests/conformance/prepared.h"

enum { CASES = 3, WARM_CALLS = 2, COUNTED_CALLS = 2, TRIES = 3, GOALS = 2, LIBRARIES = 32, NAME = 48 };

/* of about 484 and 340: failed calls do not count, and slow machines reach fewer large operands */
enum { LEAST_OPS = 450, LEAST_LARGE = 250 };

/* Elements of the largest operand or result: 64 x 128 and 256 x 256. */
static const int64_t goals[GOALS] = {64 * 128, 256 * 256};
/* Processor time: a call that takes more is large enough. */
static const int64_t slow_ns = 3 * 1000 * 1000;
static const int64_t memory_cap = INT64_C(1) << 28; /* limit of the results */
static const int64_t factors[] = {2, 4, 8, 16, 32, 64, 128, 512, 2048, 8192};

typedef struct steady {
  cf_run run;
  const nd4c_op_info *op; /* current */
  nd4c_workspace *workspace;
  int64_t counted, large, failed; /* calls */
  int64_t ops, large_ops;
  struct {
    char name[NAME];
    int64_t count, cases;
  } libraries[LIBRARIES];
} steady;

typedef struct measured {
  int64_t elements, ns, own;
} measured;

static int64_t used_ns(void) {
  struct timespec used;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* -- one call --------------------------------------------------------------------------------------------------- */

/* A step as a program makes it. */
static nd4c_status step(steady *s, const cf_prepared *p, int64_t *elements) {
  nd4c_array *outputs[CF_OUTPUTS] = {NULL};
  nd4c_status status = nd4c_workspace_enter(s->workspace);
  if (status != ND4C_OK) {
    return status;
  }
  status = cf_call(&s->run, p, outputs);
  for (int32_t i = 0; i < p->output_count && status == ND4C_OK; i++) {
    int64_t size = nd4c_array_size(outputs[i]);
    *elements = size > *elements ? size : *elements;
  }
  cf_release_all(outputs);
  nd4c_status left = nd4c_workspace_leave(s->workspace);
  return status != ND4C_OK ? status : left;
}

static void note_libraries(steady *s) {
  int64_t count = 0;
  const char *name = counter_of(1, &count);
  for (int32_t i = 1; name != NULL; name = counter_of(++i, &count)) {
    int32_t k = 0;
    while (k < LIBRARIES - 1 && s->libraries[k].name[0] != '\0' && strcmp(s->libraries[k].name, name) != 0) {
      k++;
    }
    if (count > 0) {
      (void)snprintf(s->libraries[k].name, NAME, "%s", name);
      s->libraries[k].count += count;
      s->libraries[k].cases++;
    }
  }
}

/* Counts over calls that are warm; -1 in own if the op does not take the operands. */
static measured measure(steady *s, const cf_prepared *p, bool count) {
  const nd4c_workspace_options options = {.struct_size = sizeof options, .outliving = ND4C_OUTLIVING_REFUSED};
  measured m = {.own = -1};
  for (int32_t i = 0; i < p->c.input_count; i++) {
    m.elements = p->c.inputs[i].size > m.elements ? p->c.inputs[i].size : m.elements;
  }
  if (nd4c_workspace_create(&options, &s->workspace) != ND4C_OK) {
    return m;
  }
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < (count ? WARM_CALLS : 1) && status == ND4C_OK; i++) {
    int64_t begun = used_ns();
    status = step(s, p, &m.elements);
    m.ns = used_ns() - begun;
  }
  m.own = status == ND4C_OK ? 0 : -1;
  if (status == ND4C_OK && count) {
    counter_refresh();
    counter_start();
    for (int32_t i = 0; i < COUNTED_CALLS && status == ND4C_OK; i++) {
      status = step(s, p, &m.elements);
    }
    counter_stop();
    m.own = counter_own();
    note_libraries(s);
  }
  (void)nd4c_workspace_destroy(s->workspace);
  return m;
}

/* A thread of the pool may get its first piece of an op in a counted call. An op that allocates in each call does so
 * again when counted a second time. */
static measured measure_steady(steady *s, const cf_prepared *p) {
  measured m = measure(s, p, true);
  for (int32_t i = 1; i < TRIES && m.own > 0; i++) {
    m = measure(s, p, true);
  }
  return m;
}

/* -- operands --------------------------------------------------------------------------------------------------- */

/* The same elements again and again along every axis that is longer than 1. */
static void enlarge(cf_tensor *tensor, int64_t factor) {
  cf_tensor large;
  int64_t shape[CF_RANK], bytes = cf_size_of(tensor->dtype), position[CF_RANK] = {0};
  for (int32_t axis = 0; axis < tensor->rank; axis++) {
    shape[axis] = tensor->shape[axis] > 1 ? tensor->shape[axis] * factor : tensor->shape[axis];
  }
  cf_tensor_make(&large, tensor->dtype, tensor->rank, shape);
  for (int64_t i = 0; i < large.size; i++) {
    int64_t from = 0;
    for (int32_t axis = 0; axis < tensor->rank; axis++) {
      from = from * tensor->shape[axis] + position[axis] % tensor->shape[axis];
    }
    memcpy(large.data + i * bytes, tensor->data + from * bytes, (size_t)bytes);
    for (int32_t axis = tensor->rank - 1; axis >= 0 && ++position[axis] == shape[axis]; axis--) {
      position[axis] = 0;
    }
  }
  cf_tensor_clear(tensor);
  *tensor = large;
}

/* False where an operand would be far too large. */
static bool can_enlarge(const cf_case *c, int64_t factor) {
  for (int32_t i = 0; i < c->input_count; i++) {
    double size = 1;
    for (int32_t axis = 0; axis < c->inputs[i].rank; axis++) {
      int64_t extent = c->inputs[i].shape[axis];
      size *= (double)(extent > 1 ? extent * factor : extent);
    }
    if (size > 4.0 * (double)goals[GOALS - 1]) {
      return false;
    }
  }
  return true;
}

/* The case of that number, its operands `factor` times as long. False if there is no such case. */
static bool make(const steady *s, const cf_record *record, nd4c_dtype dtype, int32_t number, int64_t factor,
                 cf_prepared *p) {
  nd4c_status status = ND4C_OK;
  memset(p, 0, sizeof *p);
  if (!cf_sample_case(&s->run, record, dtype, number, &p->c)) {
    return false;
  }
  p->output_count = p->c.golden != NULL ? p->c.golden->output_count : 1;
  bool made = factor == 1 || can_enlarge(&p->c, factor);
  for (int32_t i = 0; i < p->c.input_count && made && status == ND4C_OK; i++) {
    cf_tensor *tensor = &p->c.inputs[i];
    cf_placement placement;
    if (tensor->dtype == ND4C_DTYPE_NONE) {
      continue;
    }
    if (factor > 1) {
      enlarge(tensor, factor);
    }
    (void)cf_place(tensor->dtype, CF_LAYOUT_contiguous, tensor->rank, tensor->shape, &placement);
    status = cf_array_make(tensor, &placement, s->run.device, &p->arrays[i]);
    p->inputs[i] = p->arrays[i].view;
  }
  if (!made || status != ND4C_OK) {
    cf_unprepare(p);
    return false;
  }
  return true;
}

/* -- judging ---------------------------------------------------------------------------------------------------- */

static void judge(steady *s, const cf_prepared *p, const measured *m) {
  const char *op = s->op->name;
  s->counted++;
  s->large += m->elements >= goals[0];
  if (m->own == 0) {
    return;
  }
  s->failed++;
  (void)printf("%s %s: %lld allocations in %d warm calls, operands and results of up to %lld elements\n", op,
               nd4c_dtype_name(p->c.dtype), (long long)m->own, COUNTED_CALLS, (long long)m->elements);
}

/* Small, then with longer and longer operands until both goals are reached, or a call takes too long. */
static void run_case(steady *s, const cf_record *record, nd4c_dtype dtype, int32_t number, bool grows) {
  cf_prepared p;
  int32_t goal = 0;
  if (!make(s, record, dtype, number, 1, &p)) {
    return;
  }
  measured m = measure_steady(s, &p);
  if (m.own >= 0) {
    judge(s, &p, &m);
  }
  cf_unprepare(&p);
  for (size_t i = 0; i < sizeof factors / sizeof *factors && grows && goal < GOALS && m.own >= 0; i++) {
    if (!make(s, record, dtype, number, factors[i], &p)) {
      return;
    }
    m = measure(s, &p, false);
    bool slow = m.ns > slow_ns;
    if (m.own >= 0 && (m.elements >= goals[goal] || slow)) {
      m = measure_steady(s, &p);
      if (m.own >= 0) {
        judge(s, &p, &m);
      }
      while (goal < GOALS && (m.elements >= goals[goal] || slow)) {
        goal++;
      }
    }
    cf_unprepare(&p);
  }
}

static void run_ops(steady *s, const nd4c_op_info *only) {
  for (int32_t position = 0; position < nd4c_op_count(); position++) {
    const nd4c_op_info *info = nd4c_op_at(position);
    const cf_record *record = cf_record_find(info->op);
    int64_t counted = s->counted, large = s->large;
    s->op = info;
    for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END && record != NULL; dtype++) {
      if ((info->dtypes & ND4C_DTYPE_BIT(dtype)) != 0 && cf_has_dtype(dtype) && (only == NULL || only == info)) {
        bool main =
            dtype == ND4C_FLOAT32 || ((info->dtypes & ND4C_DTYPE_BIT(ND4C_FLOAT32)) == 0 && dtype == ND4C_INT64);
        for (int32_t number = 0; number < (main ? CASES : 1); number++) {
          run_case(s, record, dtype, number, main);
        }
      }
    }
    s->ops += s->counted > counted;
    s->large_ops += s->large > large;
  }
}

static bool wants(const void *user, nd4c_op op) {
  const nd4c_op_info *only = user;
  return only == NULL || only->op == op;
}

int main(int argc, char **argv) {
  static steady s;
#if !defined(NDEBUG)
  (void)puts("nd4c_steady: handles are new each time in a debug build");
  return 77;
#endif
  const nd4c_op_info *only = NULL;
  const char *records = NULL;
  nd4c_status status = ND4C_OK;
  s.run.options = (cf_options){.backend = "cpu", .number = -1, .seed = 1};
  for (int i = 1; i + 1 < argc && status == ND4C_OK; i += 2) {
    records = strcmp(argv[i], "--records") == 0 ? argv[i + 1] : records;
    status = strcmp(argv[i], "--op") == 0 ? nd4c_op_find(argv[i + 1], &only) : ND4C_OK;
  }
  const nd4c_context_options options = {.struct_size = sizeof options};
  if (status != ND4C_OK || (records != NULL && !cf_golden_load(records, wants, only)) ||
      nd4c_device_find("cpu:0", &s.run.device) != ND4C_OK || nd4c_memory_set_cap(s.run.device, memory_cap) != ND4C_OK ||
      nd4c_context_create(&options, &s.run.context) != ND4C_OK) {
    (void)fprintf(stderr, "nd4c_steady: %s\n", nd4c_error_message());
    return 2;
  }
  run_ops(&s, only);
  for (int32_t i = 0; i < LIBRARIES && s.libraries[i].name[0] != '\0'; i++) {
    (void)printf("%s itself: %lld allocations in %lld of the cases\n", s.libraries[i].name,
                 (long long)s.libraries[i].count, (long long)s.libraries[i].cases);
  }
  (void)printf("%lld calls of %lld ops, %lld of %lld ops with %lld elements and more: %lld allocate\n",
               (long long)s.counted, (long long)s.ops, (long long)s.large, (long long)s.large_ops, (long long)goals[0],
               (long long)s.failed);
  (void)nd4c_context_destroy(s.run.context);
  if (only == NULL && records != NULL && (s.ops < LEAST_OPS || s.large_ops < LEAST_LARGE)) {
    (void)printf("expected %d ops and %d at least: calls no longer go through\n", (int)LEAST_OPS, (int)LEAST_LARGE);
    return 1;
  }
  return s.failed == 0 && s.counted > 0 ? 0 : 1;
}
