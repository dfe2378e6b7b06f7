/* nd4c_calibration_save and _load: the ranges of a calibration as JSON. Programs, `nd4c calibrate` and the Python
 * package call them.
 *
 *   {"nd4c_calibration": 1, "method": "min_max", "samples": 8, "fingerprint": "0123456789abcdef",
 *    "float32": ["conv_7"], "ranges": {"conv_1": [-1.5, 2.25]}}
 *
 * A reader ignores other members; "float32" may be left out. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "array/decimal.h"
#include "base/alloc.h"
#include "base/os.h"
#include "base/status.h"
#include "base/text.h"
#include "graph/calibration/table.h"
#include "io/blob.h"
#include "io/json.h"

static const char format_key[] = "nd4c_calibration", method_key[] = "method", samples_key[] = "samples",
                  fingerprint_key[] = "fingerprint", kept_key[] = "float32", ranges_key[] = "ranges";
enum { VERSION = 1, DIGITS = 16 };

/* -- reading ------------------------------------------------------------------------------------------------------- */

static nd4c_status fail_member(const char *key, const char *expected) {
  return nd4c_fail(ND4C_FORMAT, "member '%s': expected %s", key, expected);
}

/* The member of an object; FORMAT if it comes twice. *found NULL: there is none. */
static nd4c_status find_member(const nd4c_json *object, const char *key, const nd4c_json **found) {
  *found = NULL;
  for (const nd4c_json *at = object->child; at != NULL; at = at->next) {
    if (strcmp(at->key, key) == 0) {
      if (*found != NULL) {
        return nd4c_fail(ND4C_FORMAT, "member '%s' comes twice", key);
      }
      *found = at;
    }
  }
  return ND4C_OK;
}

static bool is_type(const nd4c_json *value, int type) {
  return value != NULL && (value->type & UINT8_MAX) == type;
}

static nd4c_status read_version(const nd4c_json *root) {
  const nd4c_json *at = NULL;
  ND4C_TRY(find_member(root, format_key, &at));
  if (!is_type(at, ND4C_JSON_NUMBER)) {
    return fail_member(format_key, "the number of the format");
  }
  return at->number == (double)VERSION
             ? ND4C_OK
             : nd4c_fail(ND4C_FORMAT, "member '%s': format %g, expected %d", format_key, at->number, (int)VERSION);
}

static nd4c_status read_method(const nd4c_json *root, nd4c_calibration *calibration) {
  const nd4c_json *at = NULL;
  ND4C_TRY(find_member(root, method_key, &at));
  if (!is_type(at, ND4C_JSON_STRING)) {
    return fail_member(method_key, "the name of a method");
  }
  for (int32_t i = 0; nd4c_calibration_method_name((nd4c_calibration_method)i) != NULL; i++) {
    if (strcmp(nd4c_calibration_method_name((nd4c_calibration_method)i), at->text) == 0) {
      calibration->how.method = (nd4c_calibration_method)i;
      return ND4C_OK;
    }
  }
  return nd4c_fail(ND4C_FORMAT, "member '%s': there is no method %s", method_key,
                   nd4c_span_show(nd4c_span_of_text(at->text)).text);
}

static nd4c_status read_samples(const nd4c_json *root, nd4c_calibration *calibration) {
  const nd4c_json *at = NULL;
  ND4C_TRY(find_member(root, samples_key, &at));
  if (!is_type(at, ND4C_JSON_NUMBER) || !(at->number >= 1 && at->number <= 0x1p53) || at->number != floor(at->number)) {
    return fail_member(samples_key, "a whole number from 1 to 2^53");
  }
  calibration->samples = (int64_t)at->number;
  return ND4C_OK;
}

static nd4c_status read_fingerprint(const nd4c_json *root, nd4c_calibration *calibration) {
  const nd4c_json *at = NULL;
  ND4C_TRY(find_member(root, fingerprint_key, &at));
  if (!is_type(at, ND4C_JSON_STRING) || strlen(at->text) != DIGITS || strspn(at->text, "0123456789abcdef") != DIGITS) {
    return fail_member(fingerprint_key, "16 hexadecimal digits in small letters");
  }
  calibration->fingerprint = strtoull(at->text, NULL, 16);
  return ND4C_OK;
}

static nd4c_status read_kept(const nd4c_json *root, nd4c_calibration *calibration) {
  const nd4c_json *list = NULL;
  ND4C_TRY(find_member(root, kept_key, &list));
  if (list == NULL) {
    return ND4C_OK;
  }
  if (!is_type(list, ND4C_JSON_ARRAY)) {
    return fail_member(kept_key, "a list of names");
  }
  for (const nd4c_json *at = list->child; at != NULL; at = at->next) {
    if (!is_type(at, ND4C_JSON_STRING) || at->text[0] == '\0' ||
        calibration->kept.count == (int32_t)ND4C_CALIBRATION_MOST_KEPT) {
      return fail_member(kept_key, "at most 65536 names that are not empty");
    }
    ND4C_TRY(nd4c_calibration_add_kept(calibration, at->text));
  }
  return ND4C_OK;
}

static nd4c_status read_range(const nd4c_json *at, nd4c_calibration *calibration) {
  const nd4c_json *low = is_type(at, ND4C_JSON_ARRAY) ? at->child : NULL, *high = low == NULL ? NULL : low->next;
  if (!is_type(low, ND4C_JSON_NUMBER) || !is_type(high, ND4C_JSON_NUMBER) || high->next != NULL ||
      !(fabs(low->number) <= (double)FLT_MAX) || !(fabs(high->number) <= (double)FLT_MAX) ||
      low->number > high->number) {
    return nd4c_fail(ND4C_FORMAT, "the range of %s: expected two finite numbers of float32, the lower one first",
                     nd4c_span_show(nd4c_span_of_text(at->key)).text);
  }
  return nd4c_calibration_add(calibration, at->key, low->number, high->number);
}

static nd4c_status read_ranges(const nd4c_json *root, nd4c_calibration *calibration) {
  const nd4c_json *object = NULL;
  ND4C_TRY(find_member(root, ranges_key, &object));
  if (!is_type(object, ND4C_JSON_OBJECT)) {
    return fail_member(ranges_key, "an object of ranges by name");
  }
  for (const nd4c_json *at = object->child; at != NULL; at = at->next) {
    if (calibration->ranges.count == (int32_t)ND4C_CALIBRATION_MOST_RANGES) {
      return fail_member(ranges_key, "at most 2^20 ranges");
    }
    if (at->key == NULL || at->key[0] == '\0') { /* no value has such a name */
      return fail_member(ranges_key, "names that are not empty");
    }
    ND4C_TRY(read_range(at, calibration));
  }
  return nd4c_calibration_seal(calibration);
}

static nd4c_status read_root(const nd4c_json *root, nd4c_calibration *calibration) {
  if (!is_type(root, ND4C_JSON_OBJECT)) {
    return nd4c_fail(ND4C_FORMAT, "expected a JSON object");
  }
  ND4C_TRY(read_version(root));
  ND4C_TRY(read_method(root, calibration));
  ND4C_TRY(read_samples(root, calibration));
  ND4C_TRY(read_fingerprint(root, calibration));
  ND4C_TRY(read_kept(root, calibration));
  return read_ranges(root, calibration);
}

static nd4c_status read_text(nd4c_span text, nd4c_calibration **calibration) {
  nd4c_json *root = NULL;
  nd4c_calibration *made = NULL;
  ND4C_TRY(nd4c_json_parse(text, &root));
  nd4c_status status = nd4c_calibration_allocate(&made);
  status = status == ND4C_OK ? read_root(root, made) : status;
  nd4c_json_free(root);
  if (status != ND4C_OK) {
    nd4c_calibration_release(made);
    return status;
  }
  *calibration = made;
  return ND4C_OK;
}

nd4c_status nd4c_calibration_load_memory(const void *bytes, size_t size, nd4c_calibration **calibration) {
  if (bytes == NULL || calibration == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_calibration_load_memory: %s is NULL",
                     bytes == NULL ? "bytes" : "calibration");
  }
  const nd4c_status status = read_text((nd4c_span){bytes, size}, calibration);
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "calibration");
}

nd4c_status nd4c_calibration_load(const char *path, nd4c_calibration **calibration) {
  nd4c_blob *blob = NULL;
  if (path == NULL || calibration == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_calibration_load: %s is NULL", path == NULL ? "path" : "calibration");
  }
  ND4C_TRY(nd4c_blob_map(path, &blob));
  const nd4c_status status = read_text(blob->bytes, calibration);
  nd4c_blob_release(blob);
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "%s", path);
}

/* -- writing ------------------------------------------------------------------------------------------------------- */

/* A text as JSON in quotes. */
static void print_quoted(nd4c_text *text, const char *bytes) {
  nd4c_text_append(text, "\"", 1);
  for (const char *c = bytes; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\') {
      nd4c_text_print(text, "\\%c", *c);
    } else if ((unsigned char)*c < ' ') {
      nd4c_text_print(text, "\\u%04x", (unsigned)(unsigned char)*c);
    } else {
      nd4c_text_append(text, c, 1);
    }
  }
  nd4c_text_append(text, "\"", 1);
}

/* With a point in every locale, and so many digits that it reads back as it is. */
static void print_number(nd4c_text *text, double number) {
  const nd4c_number_style style = {.scientific = true, .precision = -1, .exponent_digits = 1};
  char digits[ND4C_NUMBER_TEXT];
  nd4c_text_append(text, digits, nd4c_number_text(ND4C_FLOAT64, number, &style, digits));
}

static void print_calibration(const nd4c_calibration *calibration, nd4c_text *text) {
  const nd4c_calibration_range *ranges = calibration->ranges.items;
  const char *const *kept = calibration->kept.items;
  nd4c_text_print(text, "{\n  \"%s\": %d,\n  \"%s\": \"%s\",\n  \"%s\": %" PRId64 ",\n", format_key, (int)VERSION,
                  method_key, nd4c_calibration_method_name(calibration->how.method), samples_key, calibration->samples);
  nd4c_text_print(text, "  \"%s\": \"%016" PRIx64 "\",\n  \"%s\": [", fingerprint_key, calibration->fingerprint,
                  kept_key);
  for (int32_t i = 0; i < calibration->kept.count; i++) {
    nd4c_text_print(text, i > 0 ? ", " : "");
    print_quoted(text, kept[i]);
  }
  nd4c_text_print(text, "],\n  \"%s\": {", ranges_key);
  for (int32_t i = 0; i < calibration->ranges.count; i++) {
    nd4c_text_print(text, i > 0 ? ",\n    " : "\n    ");
    print_quoted(text, ranges[i].name);
    nd4c_text_print(text, ": [");
    print_number(text, ranges[i].low);
    nd4c_text_print(text, ", ");
    print_number(text, ranges[i].high);
    nd4c_text_print(text, "]");
  }
  nd4c_text_print(text, "\n  }\n}\n");
}

/* Names in a file are UTF-8, or the file could not be read again. */
static nd4c_status check_name(const char *name) {
  const nd4c_span text = nd4c_span_of_text(name);
  return nd4c_span_is_text(text)
             ? ND4C_OK
             : nd4c_fail(ND4C_FORMAT, "nd4c_calibration_save: the name %s is not UTF-8", nd4c_span_show(text).text);
}

static nd4c_status check_names(const nd4c_calibration *calibration) {
  const nd4c_calibration_range *ranges = calibration->ranges.items;
  const char *const *kept = calibration->kept.items;
  for (int32_t i = 0; i < calibration->ranges.count; i++) {
    ND4C_TRY(check_name(ranges[i].name));
  }
  for (int32_t i = 0; i < calibration->kept.count; i++) {
    ND4C_TRY(check_name(kept[i]));
  }
  return ND4C_OK;
}

nd4c_status nd4c_calibration_save(const nd4c_calibration *calibration, const char *path) {
  nd4c_text text = {0};
  ND4C_TRY(nd4c_calibration_check_finished(calibration, "nd4c_calibration_save"));
  if (path == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_calibration_save: path is NULL");
  }
  ND4C_TRY(check_names(calibration));
  print_calibration(calibration, &text);
  const nd4c_status status =
      text.failed ? nd4c_fail_memory("a calibration", text.length) : nd4c_os_write_file(path, text.bytes, text.length);
  nd4c_text_free(&text);
  return status;
}
