/* Outputs of `nd4c run`: one file each, named after the value. run.c calls it after the run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "run.h"

/* A value's name may be any text: what is no plain file name character becomes '_', and a name that begins with a dot
 * gets one in front, so that nothing leaves the folder or hides in it. */
static void file_name(const char *name, char *buffer, size_t size) {
  size_t used = 0;
  if (name[0] == '.' || name[0] == '\0') {
    buffer[used++] = '_';
  }
  for (; *name != '\0' && used + 1 < size; name++) {
    const unsigned char c = (unsigned char)*name;
    const bool plain = c > ' ' && c != 0x7f && strchr("/\\:*?\"<>|", c) == NULL;
    buffer[used++] = plain ? *name : '_';
  }
  buffer[used] = '\0';
}

/* The path of output `index`. Two names that become one file name are kept apart by the output's number. */
static int output_path(const run_options *options, const nd4c_model *model, int32_t index, bool tensor, char *path,
                       size_t size) {
  char own[192], other[192];
  nd4c_model_value value = {.struct_size = sizeof value};
  if (nd4c_model_output(model, index, &value) != ND4C_OK) {
    return cli_fail_status(&cli_run, nd4c_error_code());
  }
  file_name(value.name, own, sizeof own);
  bool taken = false;
  for (int32_t i = 0; i < index && !taken; i++) {
    nd4c_model_value earlier = {.struct_size = sizeof earlier};
    if (nd4c_model_output(model, i, &earlier) != ND4C_OK) {
      return cli_fail_status(&cli_run, nd4c_error_code());
    }
    file_name(earlier.name, other, sizeof other);
    taken = strcmp(own, other) == 0;
  }
  char number[16] = "";
  if (taken) {
    (void)snprintf(number, sizeof number, "_%d", (int)index);
  }
  const int length = snprintf(path, size, "%s/%s%s.%s", options->output, own, number, tensor ? "pb" : "npy");
  return length > 0 && (size_t)length < size ? CLI_OK : cli_fail(&cli_run, "--output: the path is too long");
}

static int make_folder(const char *path) {
  struct stat status;
  if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode))) {
    return CLI_OK;
  }
  return cli_fail(&cli_run, "--output %s: %s", path, strerror(errno));
}

/* "float32 (2, 3)", "sequence of 3 float32", "empty optional" */
static void describe(const nd4c_datum *datum, char *text, size_t size) {
  char shape[480];
  const nd4c_array *array = nd4c_datum_array(datum);
  const int count = (int)nd4c_datum_count(datum);
  const char *dtype = nd4c_datum_dtype(datum) != ND4C_DTYPE_NONE ? nd4c_dtype_name(nd4c_datum_dtype(datum)) : "?";
  if (array != NULL) {
    (void)snprintf(text, size, "%s %s", dtype,
                   cli_shape_text(nd4c_array_rank(array), nd4c_array_shape(array), NULL, shape, sizeof shape));
  } else if (nd4c_datum_get_kind(datum) == ND4C_DATUM_SEQUENCE) {
    (void)snprintf(text, size, "sequence of %d %s", count, dtype);
  } else if (count == 0) {
    (void)snprintf(text, size, "empty optional");
  } else {
    describe(nd4c_datum_item(datum, 0), shape, sizeof shape);
    (void)snprintf(text, size, "optional %s", shape);
  }
}

/* The JSON object of one output: its name, kind and file. */
static cJSON *make_entry(const nd4c_model_value *value, const nd4c_datum *datum, const char *path) {
  static const char *const kinds[] = {"nothing", "array", "sequence", "optional"};
  const nd4c_array *array = nd4c_datum_array(datum);
  cJSON *entry = cJSON_CreateObject();
  (void)cJSON_AddStringToObject(entry, "name", value->name);
  (void)cJSON_AddStringToObject(entry, "dtype", nd4c_dtype_name(nd4c_datum_dtype(datum)));
  if (array == NULL) {
    (void)cJSON_AddStringToObject(entry, "kind", kinds[nd4c_datum_get_kind(datum)]);
    (void)cJSON_AddNumberToObject(entry, "count", nd4c_datum_count(datum));
  } else {
    cJSON *extents = cJSON_AddArrayToObject(entry, "shape");
    for (int32_t axis = 0; axis < nd4c_array_rank(array); axis++) {
      (void)cJSON_AddItemToArray(extents, cJSON_CreateNumber((double)nd4c_array_shape(array)[axis]));
    }
  }
  if (path[0] != '\0') {
    (void)cJSON_AddStringToObject(entry, "file", path);
  }
  return entry;
}

static int write_output(const run_options *options, const nd4c_model *model, int32_t index, const nd4c_datum *datum,
                        cJSON *list) {
  char path[4096] = "", text[640];
  const nd4c_array *array = nd4c_datum_array(datum);
  nd4c_model_value value = {.struct_size = sizeof value};
  if (nd4c_model_output(model, index, &value) != ND4C_OK) {
    return cli_fail_status(&cli_run, nd4c_error_code());
  }
  if (options->output != NULL) {
    const bool tensor = options->tensors || array == NULL;
    const int result = output_path(options, model, index, tensor, path, sizeof path);
    if (result != CLI_OK) {
      return result;
    }
    const nd4c_status status = tensor ? nd4c_datum_write(path, datum, value.name) : nd4c_npy_write(path, array);
    if (status != ND4C_OK) {
      return cli_fail_status(&cli_run, status);
    }
  }
  if (list != NULL) {
    (void)cJSON_AddItemToArray(list, make_entry(&value, datum, path));
    return CLI_OK;
  }
  describe(datum, text, sizeof text);
  cli_print_name(stdout, value.name);
  (void)printf("  %s%s", text, path[0] != '\0' ? "  " : "");
  cli_print_name(stdout, path);
  (void)fputc('\n', stdout);
  return CLI_OK;
}

int run_write_outputs(const run_options *options, const nd4c_model *model, nd4c_datum *const *outputs, cJSON *list) {
  int result = options->output != NULL ? make_folder(options->output) : CLI_OK;
  for (int32_t i = 0; result == CLI_OK && i < nd4c_model_output_count(model); i++) {
    result = write_output(options, model, i, outputs[i], list);
  }
  return result;
}
