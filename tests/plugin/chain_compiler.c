/* A plug-in that brings two compilers for cpu:0 and no device: chains of additions, and chains of subtractions and
 * multiplications, of float32 arrays of one size. A run computes a chain block by block, so that intermediate values
 * stay in the cache. It includes only nd4c/plugin.h of nd4c. */
#include <stdlib.h>
#include <string.h>

#include "nd4c/plugin.h"

ND4C_PLUGIN_EXPORT nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider);

static const nd4c_host *the_host;

enum { BLOCK = 256, NODES = 32, VALUES = 3 * NODES };

/* The nodes that one of the compilers takes. */
typedef struct taste {
  const char *ops[2];
} taste;
static taste sums = {{"add", NULL}}, others = {{"subtract", "multiply"}};

typedef struct instruction {
  char op; /* first letter */
  int32_t a, b, y;
} instruction;

struct nd4c_executable_handle {
  int32_t count, input_count, value_count;
  instruction instructions[NODES];
  int32_t output_count;
  int32_t outputs[VALUES];
};

/* -- asking ------------------------------------------------------------------------------------------------------- */

static bool likes(const taste *of, const nd4c_call *node) {
  bool known =
      getenv("CHAIN_GREEDY") != NULL && (strcmp(node->op->name, "add") == 0 || strcmp(node->op->name, "subtract") == 0);
  for (int i = 0; i < 2; i++) {
    known = known || (of->ops[i] != NULL && strcmp(of->ops[i], node->op->name) == 0);
  }
  for (int i = 0; known && i < 2; i++) {
    const nd4c_tensor *x = &node->inputs[i];
    known = x->dtype == ND4C_FLOAT32 && x->size == node->outputs[0].size && (x->flags & ND4C_TENSOR_CONTIGUOUS) != 0;
  }
  return known;
}

/* Consecutive nodes in running order form a piece that no path leaves and enters again. */
static nd4c_status partition(void *data, void *device, const nd4c_segment *region, const nd4c_compile_options *options,
                             nd4c_partition *answer) {
  int32_t run[NODES], count = 0;
  (void)device;
  (void)options;
  for (int32_t i = 0; i <= region->node_count; i++) {
    const bool liked = i < region->node_count && likes(data, region->nodes[i]);
    if (count > 0 &&
        (!liked || count == NODES || region->nodes[i]->outputs[0].size != region->nodes[run[0]]->outputs[0].size)) {
      nd4c_status status = answer->take(answer, run, count, ND4C_COST_UNKNOWN, 0);
      if (status != ND4C_OK) {
        return status;
      }
      count = 0;
    }
    if (liked) {
      run[count++] = i;
    } else if (i < region->node_count) {
      nd4c_status status = answer->decline(answer, i, "no part of a chain");
      if (status != ND4C_OK) {
        return status;
      }
    }
  }
  return ND4C_OK;
}

/* -- compiling and running ----------------------------------------------------------------------------------------- */

static nd4c_status compile(void *data, void *device, const nd4c_segment *piece, const nd4c_compile_options *options,
                           nd4c_executable *executable) {
  (void)device;
  (void)options;
  const char *declines = getenv("CHAIN_DECLINES"), *fails = getenv("CHAIN_FAILS");
  if (declines != NULL && strcmp(declines, data == &others ? "chain_others" : "chain_sums") == 0) {
    return the_host->fail(ND4C_UNSUPPORTED, "chain: told to decline %d nodes", (int)piece->node_count);
  }
  if (fails != NULL) {
    return the_host->fail((nd4c_status)atoi(fails), "chain: told to fail");
  }
  if (piece->node_count > NODES || piece->value_count > VALUES) {
    return the_host->fail(ND4C_UNSUPPORTED, "chain: %d nodes", (int)piece->node_count);
  }
  struct nd4c_executable_handle *made = the_host->allocate(sizeof *made);
  if (made == NULL) {
    return the_host->fail(ND4C_MEMORY, "chain: no memory for an executable");
  }
  made->count = piece->node_count;
  made->input_count = piece->input_count;
  made->value_count = piece->value_count;
  made->output_count = piece->output_count;
  memcpy(made->outputs, piece->outputs, (size_t)piece->output_count * sizeof *made->outputs);
  for (int32_t i = 0; i < piece->node_count; i++) {
    made->instructions[i] = (instruction){.op = piece->nodes[i]->op->name[0],
                                          .a = piece->node_inputs[i][0],
                                          .b = piece->node_inputs[i][1],
                                          .y = piece->node_outputs[i][0]};
  }
  *executable = made;
  return ND4C_OK;
}

static void release(void *data, nd4c_executable executable) {
  (void)data;
  the_host->free(executable);
}

static nd4c_status describe(void *data, nd4c_executable executable, nd4c_executable_info *info) {
  (void)data;
  info->scratch_bytes = (int64_t)executable->value_count * BLOCK * (int64_t)sizeof(float);
  /* A lie: only the provider of cpu:0 may return its buffers. */
  info->flags |= getenv("CHAIN_RETURNS") != NULL ? ND4C_EXECUTABLE_RETURNS_OUTPUTS : 0U;
  return ND4C_OK;
}

/* -- keeping ------------------------------------------------------------------------------------------------------ */

static nd4c_status fingerprint(void *data, void *device, const nd4c_compile_options *options, char *text,
                               size_t text_size) {
  static const char words[] = "chains 1, this machine's words";
  (void)data;
  (void)device;
  (void)options;
  if (text_size < sizeof words) {
    return the_host->fail(ND4C_OVERFLOW, "chain: no room for a fingerprint");
  }
  memcpy(text, words, sizeof words);
  return ND4C_OK;
}

static nd4c_status serialise(void *data, nd4c_executable executable, nd4c_sink *sink) {
  (void)data;
  return sink->write(sink, executable, (int64_t)sizeof *executable);
}

static bool is_value(int32_t value, int32_t count) {
  return value >= 0 && value < count;
}

/* A file that passes this check reads and writes only within the scratch. */
static bool is_sound(const struct nd4c_executable_handle *made) {
  bool sound = made->count > 0 && made->count <= NODES && made->value_count > 0 && made->value_count <= VALUES &&
               made->input_count >= 0 && made->input_count <= made->value_count && made->output_count > 0 &&
               made->output_count <= made->value_count;
  for (int32_t i = 0; sound && i < made->count; i++) {
    const instruction *of = &made->instructions[i];
    sound = is_value(of->a, made->value_count) && is_value(of->b, made->value_count) &&
            is_value(of->y, made->value_count) && (of->op == 'a' || of->op == 's' || of->op == 'm');
  }
  for (int32_t i = 0; sound && i < made->output_count; i++) {
    sound = is_value(made->outputs[i], made->value_count);
  }
  return sound;
}

static nd4c_status load(void *data, void *device, const void *bytes, int64_t size, nd4c_executable *executable) {
  (void)data;
  (void)device;
  struct nd4c_executable_handle *made = the_host->allocate(sizeof *made);
  if (made == NULL) {
    return the_host->fail(ND4C_MEMORY, "chain: no memory for an executable");
  }
  if (size == (int64_t)sizeof *made) {
    memcpy(made, bytes, sizeof *made);
  }
  if (size != (int64_t)sizeof *made || !is_sound(made)) {
    the_host->free(made);
    return the_host->fail(ND4C_FORMAT, "chain: no executable of %d bytes", (int)sizeof *made);
  }
  *executable = made;
  return ND4C_OK;
}

static void compute(const instruction *of, const float *a, const float *b, float *y, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    y[i] = of->op == 'a' ? a[i] + b[i] : of->op == 's' ? a[i] - b[i] : a[i] * b[i];
  }
}

static nd4c_status execute(void *data, nd4c_executable executable, const nd4c_execution *run) {
  float *scratch = run->scratch;
  (void)data;
  for (int64_t at = 0; at < run->outputs[0].size; at += BLOCK) {
    const int64_t left = run->outputs[0].size - at, count = left < BLOCK ? left : BLOCK;
    for (int32_t i = 0; i < executable->input_count; i++) {
      memcpy(scratch + (int64_t)i * BLOCK, (const float *)run->inputs[i].data + at, (size_t)count * sizeof(float));
    }
    for (int32_t i = 0; i < executable->count; i++) {
      const instruction *of = &executable->instructions[i];
      compute(of, scratch + (int64_t)of->a * BLOCK, scratch + (int64_t)of->b * BLOCK, scratch + (int64_t)of->y * BLOCK,
              count);
    }
    for (int32_t i = 0; i < executable->output_count; i++) {
      memcpy((float *)run->outputs[i].data + at, scratch + (int64_t)executable->outputs[i] * BLOCK,
             (size_t)count * sizeof(float));
    }
  }
  return ND4C_OK;
}

/* -- tables -------------------------------------------------------------------------------------------------------- */

#define COMPILER(engine_name, table, its_priority) \
  {.struct_size = ND4C_SIZE_OF(nd4c_compiler),     \
   .priority = (its_priority),                     \
   .engine = (engine_name),                        \
   .version = "1",                                 \
   .data = &(table),                               \
   .partition = partition,                         \
   .compile = compile,                             \
   .execute = execute,                             \
   .release = release,                             \
   .describe = describe,                           \
   .fingerprint = fingerprint,                     \
   .serialise = serialise,                         \
   .load = load}
static const nd4c_compiler of_sums = COMPILER("chain_sums", sums, 10), of_others = COMPILER("chain_others", others, 20);
static const nd4c_compiler *const compilers[] = {&of_sums, &of_others};
static const nd4c_engine sums_engine = {.struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "chain_sums"};
static const nd4c_engine others_engine = {.struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "chain_others"};
static const nd4c_engine *const engines[] = {&sums_engine, &others_engine};
static const nd4c_contribution contribution = {.struct_size = ND4C_SIZE_OF(nd4c_contribution),
                                               .backend = "cpu",
                                               .engine_count = 2,
                                               .engines = engines,
                                               .compiler_count = 2,
                                               .compilers = compilers};
static const nd4c_contribution *const contributions[] = {&contribution};
static const nd4c_provider provider = {.struct_size = ND4C_SIZE_OF(nd4c_provider),
                                       .abi_major = ND4C_PLUGIN_ABI_MAJOR,
                                       .abi_minor = ND4C_PLUGIN_ABI_MINOR,
                                       .name = "chains",
                                       .contribution_count = 1,
                                       .contributions = contributions};

nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **out) {
  the_host = host;
  *out = &provider;
  return ND4C_OK;
}
