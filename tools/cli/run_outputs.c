/* Outputs of `nd4c run`: one file each, named after the value. */
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
static int output_path(const run_options *options, const nd4c_model *model, int32_t index, char *path, size_t size) {
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
  const int length = snprintf(path, size, "%s/%s%s.%s", options->output, own, number, options->tensors ? "pb" : "npy");
  return length > 0 && (size_t)length < size ? CLI_OK : cli_fail(&cli_run, "--output: the path is too long");
}

static int make_folder(const char *path) {
  struct stat status;
  if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &status) == 0 && S_ISDIR(status.st_mode))) {
    return CLI_OK;
  }
  return cli_fail(&cli_run, "--output %s: %s", path, strerror(errno));
}

static int write_output(const run_options *options, const nd4c_model *model, int32_t index, nd4c_array *array,
                        cJSON *list) {
  char path[4096] = "", shape[512];
  nd4c_model_value value = {.struct_size = sizeof value};
  if (nd4c_model_output(model, index, &value) != ND4C_OK) {
    return cli_fail_status(&cli_run, nd4c_error_code());
  }
  if (options->output != NULL) {
    const int result = output_path(options, model, index, path, sizeof path);
    if (result != CLI_OK) {
      return result;
    }
    const nd4c_status status =
        options->tensors ? nd4c_tensor_write(path, array, value.name) : nd4c_npy_write(path, array);
    if (status != ND4C_OK) {
      return cli_fail_status(&cli_run, status);
    }
  }
  if (list == NULL) {
    (void)printf("%s  %s %s%s%s\n", value.name, nd4c_dtype_name(nd4c_array_dtype(array)),
                 cli_shape_text(nd4c_array_rank(array), nd4c_array_shape(array), NULL, shape, sizeof shape),
                 path[0] != '\0' ? "  " : "", path);
    return CLI_OK;
  }
  cJSON *entry = cJSON_CreateObject();
  (void)cJSON_AddStringToObject(entry, "name", value.name);
  (void)cJSON_AddStringToObject(entry, "dtype", nd4c_dtype_name(nd4c_array_dtype(array)));
  cJSON *extents = cJSON_AddArrayToObject(entry, "shape");
  for (int32_t axis = 0; axis < nd4c_array_rank(array); axis++) {
    (void)cJSON_AddItemToArray(extents, cJSON_CreateNumber((double)nd4c_array_shape(array)[axis]));
  }
  if (path[0] != '\0') {
    (void)cJSON_AddStringToObject(entry, "file", path);
  }
  (void)cJSON_AddItemToArray(list, entry);
  return CLI_OK;
}

int run_write_outputs(const run_options *options, const nd4c_model *model, nd4c_array *const *outputs, cJSON *list) {
  int result = options->output != NULL ? make_folder(options->output) : CLI_OK;
  for (int32_t i = 0; result == CLI_OK && i < nd4c_model_output_count(model); i++) {
    result = write_output(options, model, i, outputs[i], list);
  }
  return result;
}
