/* One case: open, read the inputs, run, compare; once, or for a random law many times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_cases.h"

enum { PATH = 1024 };

typedef struct case_files {
  const char *folder;
  onnx_case *one;
  nd4c_model *model;
  int32_t input_count, output_count;
  const char **names;
  nd4c_datum **inputs, **outputs;
} case_files;

/* Keeps the library's text as the reason, on one line. */
static bool fail_status(onnx_case *one, nd4c_status status, const char *what) {
  one->result = status == ND4C_UNSUPPORTED ? CASE_UNSUPPORTED : CASE_FAILED;
  const char *message = nd4c_error_message();
  const char *after_path = strstr(message, "/model.onnx: ");
  message = after_path != NULL ? after_path + strlen("/model.onnx: ") : message;
  (void)snprintf(one->reason, sizeof one->reason, "%s: %s", what, message);
  for (char *c = one->reason; *c != '\0'; c++) {
    *c = *c == '\n' ? ' ' : *c;
  }
  return false;
}

static void fail_law(onnx_case *one, const char *reason) {
  one->result = CASE_FAILED;
  (void)snprintf(one->reason, sizeof one->reason, "by its law: %s", reason);
}

static void path_of(const case_files *files, const char *what, int32_t index, char *path) {
  if (index < 0) {
    (void)snprintf(path, PATH, "%s/%s/%s", files->folder, files->one->name, what);
  } else {
    (void)snprintf(path, PATH, "%s/%s/%s_%d.pb", files->folder, files->one->name, what, (int)index);
  }
}

static bool open_case(case_files *files) {
  char path[PATH];
  path_of(files, "model.onnx", -1, path);
  const nd4c_status status = nd4c_model_open(path, NULL, &files->model);
  if (status != ND4C_OK) {
    return fail_status(files->one, status, "open");
  }
  files->input_count = nd4c_model_input_count(files->model);
  files->output_count = nd4c_model_output_count(files->model);
  files->names = calloc((size_t)files->input_count + 1, sizeof *files->names);
  files->inputs = calloc((size_t)files->input_count + 1, sizeof *files->inputs);
  files->outputs = calloc((size_t)files->output_count + 1, sizeof *files->outputs);
  if (files->names == NULL || files->inputs == NULL || files->outputs == NULL) {
    (void)fprintf(stderr, "out of memory\n");
    exit(2);
  }
  return true;
}

/* The format of a value's file. */
static nd4c_datum_kind kind_of(const nd4c_model_value *value) {
  return value->kind_count > 0 ? value->kinds[0] : ND4C_DATUM_ARRAY;
}

static bool read_inputs(case_files *files) {
  for (int32_t i = 0; i < files->input_count; i++) {
    char path[PATH];
    nd4c_model_value value = {.struct_size = sizeof value};
    nd4c_status status = nd4c_model_input(files->model, i, &value);
    path_of(files, "input", i, path);
    if (status == ND4C_OK) {
      files->names[i] = value.name;
      status = nd4c_datum_read(path, kind_of(&value), &files->inputs[i]);
    }
    if (status != ND4C_OK) {
      return fail_status(files->one, status, "input");
    }
  }
  return true;
}

/* Compares output `index` with the expected one: by value, or only by type if values are random. */
static bool compare_output(const case_files *files, int32_t index, const nd4c_datum *expected, const onnx_law *law,
                           char *reason) {
  const nd4c_array *given = nd4c_datum_array(files->outputs[index]), *wanted = nd4c_datum_array(expected);
  return law != NULL && given != NULL && wanted != NULL
             ? case_same_type(given, wanted, reason)
             : case_compare(files->outputs[index], expected, files->one, reason);
}

static bool compare_outputs(case_files *files, const onnx_law *law) {
  for (int32_t i = 0; i < files->output_count; i++) {
    char path[PATH], reason[CASE_REASON] = "";
    nd4c_datum *expected = NULL;
    nd4c_model_value value = {.struct_size = sizeof value};
    path_of(files, "output", i, path);
    nd4c_status status = nd4c_model_output(files->model, i, &value);
    if (status == ND4C_OK) {
      status = nd4c_datum_read(path, kind_of(&value), &expected);
    }
    if (status != ND4C_OK) {
      return fail_status(files->one, status, "expected output");
    }
    const bool same = compare_output(files, i, expected, law, reason);
    nd4c_datum_release(expected);
    if (!same) {
      files->one->result = CASE_FAILED;
      (void)snprintf(files->one->reason, sizeof files->one->reason, "output %d: %s", (int)i, reason);
      return false;
    }
  }
  return true;
}

static void close_case(case_files *files) {
  for (int32_t i = 0; files->inputs != NULL && i < files->input_count; i++) {
    nd4c_datum_release(files->inputs[i]);
  }
  for (int32_t i = 0; files->outputs != NULL && i < files->output_count; i++) {
    nd4c_datum_release(files->outputs[i]);
  }
  free(files->names);
  free(files->inputs);
  free(files->outputs);
  nd4c_model_close(files->model);
}

/* Notes how the model was imported. The reason loses the node's name and place, so that equal ones are counted
 * together. */
static void note_import(case_files *files) {
  static const char alone[] = "imported for these shapes alone: ";
  onnx_case *one = files->one;
  char *report = NULL;
  if (nd4c_model_report(files->model, &report) != ND4C_OK) {
    one->import = CASE_REFUSED;
    return;
  }
  const char *found = strstr(report, alone);
  one->import = report[0] == '\0'                         ? CASE_REFUSED
                : found != NULL                           ? CASE_ALONE
                : strstr(report, "interpreted") == report ? CASE_INTERPRETED
                                                          : CASE_DIMS;
  if (found != NULL) {
    const char *why = found + strlen(alone), *place = strstr(why, " at byte ");
    const char *colon = place != NULL ? strstr(place, ": ") : NULL;
    (void)snprintf(one->alone, sizeof one->alone, "%s", colon != NULL ? colon + 2 : why);
    one->alone[strcspn(one->alone, "\n")] = '\0';
  }
  nd4c_free(report);
}

/* One run of the model; its draw joins `draws` if there are any. */
static void run_once(const char *folder, onnx_case *one, const onnx_law *law, onnx_draws *draws) {
  case_files files = {.folder = folder, .one = one};
  char reason[CASE_REASON] = "";
  if (open_case(&files) && read_inputs(&files)) {
    const nd4c_status status =
        nd4c_model_run_data(files.model, NULL, files.names, (const nd4c_datum *const *)files.inputs, files.input_count,
                            files.outputs, files.output_count);
    note_import(&files);
    if (status != ND4C_OK) {
      (void)fail_status(one, status, "run");
    } else if (compare_outputs(&files, law) && draws != NULL &&
               !case_draws_add(draws, one, files.inputs, files.outputs, files.output_count, reason)) {
      fail_law(one, reason);
    }
  }
  close_case(&files);
}

void case_run(const char *folder, onnx_case *one) {
  const onnx_law *law = case_law_find(one->name);
  char reason[CASE_REASON] = "";
  const char *lacking = case_lacks(one->name);
  if (lacking != NULL) {
    one->result = CASE_SKIPPED;
    one->import = CASE_REFUSED;
    (void)snprintf(one->reason, sizeof one->reason, "this machine lacks %s", lacking);
    return;
  }
  one->result = CASE_PASSED;
  if (law == NULL) {
    run_once(folder, one, NULL, NULL);
    return;
  }
  onnx_draws *draws = case_draws_new(law);
  if (draws == NULL) {
    (void)fprintf(stderr, "out of memory\n");
    exit(2);
  }
  while (one->result == CASE_PASSED && case_draws_want_more(draws)) {
    run_once(folder, one, law, draws);
  }
  if (one->result == CASE_PASSED && !case_draws_judge(draws, reason)) {
    fail_law(one, reason);
  }
  free(draws);
}
