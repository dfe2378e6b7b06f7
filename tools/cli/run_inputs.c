/* Inputs of `nd4c run`: read from files, or made at random from a seed. run.c calls it for each model, compile.c for
 * shapes of inputs. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* -- random numbers: splitmix64, the same on every machine ----------------------------------------------------- */

static uint64_t next_bits(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Uniform in (0, 1]. */
static double next_unit(uint64_t *state) {
  return ((double)(next_bits(state) >> 11) + 1) * 0x1p-53;
}

/* Standard normal, by Box and Muller's transform. */
static float next_normal(uint64_t *state) {
  const double radius = sqrt(-2 * log(next_unit(state)));
  return (float)(radius * cos(6.283185307179586 * next_unit(state)));
}

/* Each input has its own sequence, so that adding one does not change the others. */
static uint64_t seed_of(uint64_t seed, const char *name) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char *c = name; *c != '\0'; c++) {
    hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
  }
  return hash ^ (seed * UINT64_C(0xd6e8feb86659fd93));
}

static nd4c_status random_floats(nd4c_array *array, uint64_t *state) {
  void *data = NULL;
  nd4c_status status = nd4c_array_data_mutable(array, &data);
  for (int64_t i = 0; status == ND4C_OK && i < nd4c_array_size(array); i++) {
    ((float *)data)[i] = next_normal(state);
  }
  return status;
}

static nd4c_status random_bits(nd4c_array *array, uint64_t *state) {
  void *data = NULL;
  nd4c_status status = nd4c_array_data_mutable(array, &data);
  for (int64_t i = 0; status == ND4C_OK && i < nd4c_array_size(array); i++) {
    ((uint8_t *)data)[i] = (uint8_t)(next_bits(state) >> 63);
  }
  return status;
}

/* Floating dtypes: standard normal. Integers and booleans: 0 or 1, which is fit for masks, segments and token numbers.
 */
static nd4c_status make_random(const nd4c_model_value *value, const int64_t *shape, uint64_t seed, nd4c_array **out) {
  nd4c_device *host = NULL;
  const nd4c_dtype_info *info = nd4c_dtype_get_info(value->dtype);
  const bool floating = info != NULL && (info->kind == ND4C_KIND_FLOAT || info->kind == ND4C_KIND_COMPLEX);
  const nd4c_dtype made = floating ? ND4C_FLOAT32 : ND4C_UINT8;
  uint64_t state = seed_of(seed, value->name);
  nd4c_array *array = NULL;
  nd4c_status status = nd4c_device_find("cpu:0", &host);
  if (status == ND4C_OK) {
    status = nd4c_array_empty(made, value->rank, shape, host, &array);
  }
  if (status == ND4C_OK) {
    status = floating ? random_floats(array, &state) : random_bits(array, &state);
  }
  if (status == ND4C_OK && made == value->dtype) {
    *out = array;
    return ND4C_OK;
  }
  if (status == ND4C_OK) {
    status = nd4c_cast(array, value->dtype, out);
  }
  nd4c_array_release(array);
  return status;
}

/* -- shapes ---------------------------------------------------------------------------------------------------- */

static const char *find_named(const run_named *list, int count, const char *name) {
  for (int i = 0; i < count; i++) {
    if (strcmp(list[i].name, name) == 0) {
      return list[i].text;
    }
  }
  return NULL;
}

/* "2,3" into extents; -1 if it is not a list of numbers. */
static int32_t parse_shape(const char *text, int64_t *shape) {
  int32_t rank = 0;
  while (*text != '\0') {
    char *end = NULL;
    errno = 0;
    const long long extent = strtoll(text, &end, 10);
    if (end == text || errno != 0 || extent < 0 || rank == ND4C_MAX_RANK || (*end != ',' && *end != '\0')) {
      return -1;
    }
    shape[rank++] = extent;
    text = *end == ',' ? end + 1 : end;
  }
  return rank;
}

/* What --dim calls a free extent: its symbol or, without one, the input and the axis, as the dims of graphs are called.
 */
static void dim_name(const nd4c_model_value *value, int32_t axis, char *name, size_t size) {
  const char *symbol = value->symbols != NULL ? value->symbols[axis] : NULL;
  if (symbol != NULL) {
    (void)snprintf(name, size, "%s", symbol);
  } else {
    (void)snprintf(name, size, "%s.%" PRId32, value->name, axis);
  }
}

/* The text of --dim for an axis that is free; NULL: none was given. */
static const char *find_dim(const run_options *options, const nd4c_model_value *value, int32_t axis) {
  char name[512];
  dim_name(value, axis, name, sizeof name);
  return find_named(options->dims, options->dim_count, name);
}

/* Whether an input leaves free what is called so; adds the names of what it leaves free to the list. */
static bool has_dim(const nd4c_model_value *value, const char *wanted, char *list, size_t size) {
  bool found = false;
  for (int32_t axis = 0; axis < value->rank; axis++) {
    char name[512];
    if (value->shape[axis] >= 0) {
      continue;
    }
    dim_name(value, axis, name, sizeof name);
    found = found || strcmp(name, wanted) == 0;
    const size_t used = strlen(list);
    (void)snprintf(list + used, size - used, "%s'%s'", used > 0 ? ", " : "", name);
  }
  return found;
}

int run_check_dims(const cli_command *command, const run_options *options, const nd4c_model *model) {
  for (int i = 0; i < options->dim_count; i++) {
    const run_named *dim = &options->dims[i];
    char list[1024] = "";
    bool found = false;
    int64_t number = 0;
    for (int32_t m = 0; m < nd4c_model_input_count(model); m++) {
      nd4c_model_value value = {.struct_size = sizeof value};
      if (nd4c_model_input(model, m, &value) != ND4C_OK) {
        return cli_fail_status(command, nd4c_error_code());
      }
      found = has_dim(&value, dim->name, list, sizeof list) || found;
    }
    if (!found) {
      return cli_usage(command, "--dim %s=%s: the model's inputs have no such dim, %s%s", dim->name, dim->text,
                       list[0] != '\0' ? "only " : "and leave no extent free", list);
    }
    if (!cli_read_integer(dim->text, 0, INT64_MAX, &number)) {
      return cli_usage(command, "--dim %s=%s: a number from 0 on was expected", dim->name, dim->text);
    }
    if (find_named(options->dims, i, dim->name) != NULL) {
      return cli_usage(command, "--dim %s is given twice", dim->name);
    }
  }
  return CLI_OK;
}

int run_find_shape(const cli_command *command, const run_options *options, const nd4c_model_value *value,
                   int64_t *shape, int32_t *rank) {
  char text[512];
  const char *given = find_named(options->shapes, options->shape_count, value->name);
  if (given != NULL) {
    *rank = parse_shape(given, shape);
    return *rank >= 0
               ? CLI_OK
               : cli_usage(command, "--shape %s=%s: extents separated by commas were expected", value->name, given);
  }
  if (value->rank < 0) {
    return cli_usage(command, "input '%s' may have any rank: give --shape %s=...", value->name, value->name);
  }
  bool assumed = false;
  *rank = value->rank;
  for (int32_t axis = 0; axis < value->rank; axis++) {
    const char *number = value->shape[axis] < 0 ? find_dim(options, value, axis) : NULL;
    shape[axis] = value->shape[axis] < 0 ? 1 : value->shape[axis];
    if (number != NULL) {
      (void)cli_read_integer(number, 0, INT64_MAX, &shape[axis]); /* run_check_dims has read it */
    }
    assumed = assumed || (value->shape[axis] < 0 && number == NULL);
  }
  if (assumed) {
    cli_note("input '%s' is %s in the model: 1 is taken for what is free (--shape %s=... sets it)", value->name,
             cli_shape_text(value->rank, value->shape, value->symbols, text, sizeof text), value->name);
  }
  return CLI_OK;
}

/* Reports a name that no input has, with the names of the inputs. */
static int check_names(const cli_command *command, const nd4c_model *model, const run_named *list, int count,
                       const char *option) {
  for (int i = 0; i < count; i++) {
    char names[1024] = "";
    bool known = false;
    for (int32_t m = 0; m < nd4c_model_input_count(model) && !known; m++) {
      nd4c_model_value value = {.struct_size = sizeof value};
      if (nd4c_model_input(model, m, &value) != ND4C_OK) {
        return cli_fail_status(command, nd4c_error_code());
      }
      known = strcmp(value.name, list[i].name) == 0;
      const size_t used = strlen(names);
      (void)snprintf(names + used, sizeof names - used, "%s'%s'", m > 0 ? ", " : "", value.name);
    }
    if (!known) {
      return cli_usage(command, "%s %s=%s: the model has no such input, only %s", option, list[i].name, list[i].text,
                       names);
    }
    if (find_named(list, i, list[i].name) != NULL) {
      return cli_usage(command, "%s %s is given twice", option, list[i].name);
    }
  }
  return CLI_OK;
}

int run_find_shapes(const cli_command *command, const run_options *options, const nd4c_model *model,
                    run_shapes *shapes) {
  const size_t count = (size_t)nd4c_model_input_count(model) + 1; /* one more: no memory for none is no failure */
  *shapes = (run_shapes){calloc(count, sizeof *shapes->ranks), calloc(count * ND4C_MAX_RANK, sizeof *shapes->extents),
                         calloc(count, sizeof *shapes->shapes)};
  if (shapes->ranks == NULL || shapes->extents == NULL || shapes->shapes == NULL) {
    return cli_fail(command, "no memory");
  }
  int result = check_names(command, model, options->shapes, options->shape_count, "--shape");
  result = result == CLI_OK ? run_check_dims(command, options, model) : result;
  for (int32_t i = 0; i < nd4c_model_input_count(model) && result == CLI_OK; i++) {
    nd4c_model_value value = {.struct_size = sizeof value};
    int64_t *shape = shapes->extents + (ptrdiff_t)i * ND4C_MAX_RANK;
    const nd4c_status status = nd4c_model_input(model, i, &value);
    result = status == ND4C_OK ? run_find_shape(command, options, &value, shape, &shapes->ranks[i])
                               : cli_fail_status(command, status);
    shapes->shapes[i] = shape;
  }
  return result;
}

void run_free_shapes(run_shapes *shapes) {
  free(shapes->ranks);
  free(shapes->extents);
  free((void *)shapes->shapes);
}

/* -- files ----------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The file's value as the model declares the input. */
static nd4c_status read_file(const char *path, const nd4c_model_value *value, nd4c_datum **input) {
  if (ends_with(path, ".pb")) {
    return nd4c_datum_read(path, value->kind_count > 0 ? value->kinds[0] : ND4C_DATUM_ARRAY, input);
  }
  nd4c_array *array = NULL;
  nd4c_status status = nd4c_npy_read(path, &array);
  if (status == ND4C_OK) {
    status = nd4c_datum_of_array(array, input);
    nd4c_array_release(array);
  }
  return status;
}

/* Filling memory takes a minute, and a model writes about as much as it reads: an input of gigabytes that takes more
 * than half of the memory is not begun. Other sizes are left to the allocation, whose text names the limit. */
static int check_room(const nd4c_model_value *value, int32_t rank, const int64_t *shape) {
  const double large = 1e9;
  nd4c_device *host = NULL;
  int64_t free_bytes = INT64_MAX;
  double bytes = (double)nd4c_dtype_bytes(value->dtype, 1);
  char text[512];
  for (int32_t i = 0; i < rank; i++) {
    bytes *= (double)shape[i];
  }
  if (bytes < large || bytes >= (double)INT64_MAX) {
    return CLI_OK;
  }
  nd4c_status status = nd4c_device_find("cpu:0", &host);
  status = status == ND4C_OK ? nd4c_memory_remaining(host, &free_bytes) : status;
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_run, status);
  }
  if (bytes <= (double)free_bytes / 2) {
    return CLI_OK;
  }
  (void)cli_shape_text(rank, shape, NULL, text, sizeof text);
  return cli_fail(&cli_run,
                  "--random-inputs: input '%s', %s %s, would take %.3g MB, and %.3g MB are free: smaller extents were "
                  "expected (--shape, --dim)",
                  value->name, nd4c_dtype_name(value->dtype), text, bytes / 1e6, (double)free_bytes / 1e6);
}

static int random_input(const run_options *options, const nd4c_model_value *value, nd4c_datum **input) {
  int64_t shape[ND4C_MAX_RANK];
  nd4c_model_value shaped = *value;
  nd4c_array *array = NULL;
  int result = run_find_shape(&cli_run, options, value, shape, &shaped.rank);
  result = result == CLI_OK ? check_room(value, shaped.rank, shape) : result;
  if (result != CLI_OK) {
    return result;
  }
  nd4c_status status = make_random(&shaped, shape, options->seed, &array);
  if (status == ND4C_OK) {
    status = nd4c_datum_of_array(array, input);
    nd4c_array_release(array);
  }
  return status == ND4C_OK ? CLI_OK : cli_fail_status(&cli_run, status);
}

/* A file of a kind that nd4c does not read is no matter of ops: what helps is another file. */
static int fail_read(const nd4c_model_value *value, nd4c_status status) {
  if (status != ND4C_UNSUPPORTED) {
    return cli_fail_status(&cli_run, status);
  }
  const char *dtype = value->dtype == ND4C_DTYPE_NONE ? "float32" : nd4c_dtype_name(value->dtype);
  return cli_fail_hint(&cli_run, status,
                       "input '%s' is %s; in NumPy, save('%s.npy', array.astype('%s')) writes a file that nd4c reads",
                       value->name, dtype, value->name, dtype);
}

static int make_input(const run_options *options, const nd4c_model_value *value, nd4c_datum **input) {
  char text[512];
  const char *path = find_named(options->inputs, options->input_count, value->name);
  const bool odd = value->kind_count > 1;
  if (path != NULL && odd && !ends_with(path, ".pb")) {
    return cli_usage(&cli_run, "--input %s=%s: the input is a sequence or optional: a .pb was expected", value->name,
                     path);
  }
  if (path != NULL) {
    const nd4c_status status = read_file(path, value, input);
    return status == ND4C_OK ? CLI_OK : fail_read(value, status);
  }
  if (odd) {
    return cli_usage(&cli_run, "input '%s', a sequence or optional, is not given: --input %s=FILE.pb", value->name,
                     value->name);
  }
  if (!options->random) {
    return cli_usage(&cli_run, "input '%s', %s %s, is not given: --input %s=FILE, or --random-inputs", value->name,
                     nd4c_dtype_name(value->dtype),
                     cli_shape_text(value->rank, value->shape, value->symbols, text, sizeof text), value->name);
  }
  return random_input(options, value, input);
}

int run_make_inputs(const run_options *options, const nd4c_model *model, nd4c_datum **inputs) {
  int result = check_names(&cli_run, model, options->inputs, options->input_count, "--input");
  if (result == CLI_OK) {
    result = check_names(&cli_run, model, options->shapes, options->shape_count, "--shape");
  }
  if (result == CLI_OK) {
    result = run_check_dims(&cli_run, options, model);
  }
  for (int32_t i = 0; result == CLI_OK && i < nd4c_model_input_count(model); i++) {
    nd4c_model_value value = {.struct_size = sizeof value};
    const nd4c_status status = nd4c_model_input(model, i, &value);
    result = status == ND4C_OK ? make_input(options, &value, &inputs[i]) : cli_fail_status(&cli_run, status);
  }
  return result;
}
