/* Cases recorded by tests/records: read once, handed out by op and dtype. The format is described in
 * tests/records/framework.py, which writes it; both are of one commit, so a damaged file is a broken build. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance.h"

/* Cases and refusals of one op in the order of the file. */
typedef struct golden_list {
  cf_golden **items;
  int32_t count;
} golden_list;
static golden_list cases[CF_OPS], refusals[CF_OPS]; /* by the place of the op */
static bool wanted[CF_OPS];                         /* ops whose cases are kept */

/* -- reading ---------------------------------------------------------------------------------------------------- */

typedef struct reader {
  const unsigned char *at, *end;
  const char *path;
  bool damaged;
  bool passes; /* skips the elements of an unwanted case, which an emulator would take a minute to read */
} reader;

static void take(reader *r, void *to, size_t bytes) {
  if ((size_t)(r->end - r->at) < bytes) {
    r->damaged = true;
    memset(to, 0, bytes);
    return;
  }
  memcpy(to, r->at, bytes);
  r->at += bytes;
}

static void pass(reader *r, int64_t bytes) {
  r->damaged = r->damaged || bytes < 0 || bytes > r->end - r->at;
  r->at += r->damaged ? 0 : bytes;
}

#define TAKE(type, name)           \
  static type name(reader *r) {    \
    type value;                    \
    take(r, &value, sizeof value); \
    return value;                  \
  }
TAKE(uint8_t, take_byte)
TAKE(int32_t, take_int)
TAKE(int64_t, take_long)
TAKE(double, take_double)

static char *take_text(reader *r) {
  int32_t length = take_int(r);
  if (length < 0 || length > r->end - r->at) {
    r->damaged = true;
    length = 0;
  }
  char *text = cf_need((size_t)length + 1);
  take(r, text, (size_t)length);
  return text;
}

static nd4c_dtype take_dtype(reader *r) {
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  char *name = take_text(r);
  for (nd4c_dtype i = 1; i < ND4C_DTYPE_END; i++) {
    if (strcmp(nd4c_dtype_name(i), name) == 0) {
      dtype = i;
    }
  }
  r->damaged = r->damaged || (dtype == ND4C_DTYPE_NONE && name[0] != '\0');
  free(name);
  return dtype;
}

static void take_shape(reader *r, int32_t *rank, int64_t *shape, int64_t *size) {
  *rank = take_int(r);
  *size = 1;
  if (*rank < 0 || *rank > CF_RANK) {
    r->damaged = true;
    *rank = 0;
  }
  for (int32_t i = 0; i < *rank; i++) {
    shape[i] = take_long(r);
    r->damaged = r->damaged || shape[i] < 0 || shape[i] > INT64_C(1) << 32;
    *size = r->damaged ? 0 : *size * shape[i];
  }
}

static void take_elements(reader *r, cf_tensor *tensor) {
  if (tensor->dtype != ND4C_UTF8) {
    take(r, tensor->data, (size_t)(tensor->size * cf_size_of(tensor->dtype)));
    return;
  }
  for (int64_t i = 0; i < tensor->size && !r->damaged; i++) {
    char *text = take_text(r);
    cf_set(tensor, i, (cf_value){.i = cf_string_number(text, (int64_t)strlen(text))});
    free(text);
  }
}

static void take_input(reader *r, cf_case *c) {
  nd4c_dtype dtype = take_dtype(r);
  int32_t rank = 0;
  int64_t shape[CF_RANK], size = 0;
  if (dtype == ND4C_DTYPE_NONE) {
    cf_absent(c);
    return;
  }
  take_shape(r, &rank, shape, &size);
  if (r->passes && dtype != ND4C_UTF8) {
    pass(r, size * cf_size_of(dtype));
  } else if (!r->damaged) {
    take_elements(r, cf_input(c, dtype, rank, shape));
  }
}

static void take_attr(reader *r, cf_case *c) {
  nd4c_attr *attr = &c->attrs[c->attr_count++];
  attr->name = take_text(r);
  attr->value.kind = (nd4c_attr_kind)take_byte(r);
  switch (attr->value.kind) {
    case ND4C_ATTR_INT:
    case ND4C_ATTR_BOOL:
      attr->value.as.i = take_long(r);
      break;
    case ND4C_ATTR_DTYPE:
      attr->value.as.i = take_dtype(r);
      break;
    case ND4C_ATTR_FLOAT:
      attr->value.as.f = take_double(r);
      break;
    case ND4C_ATTR_STRING:
      attr->value.as.string = take_text(r);
      break;
    case ND4C_ATTR_INTS:
    case ND4C_ATTR_FLOATS: {
      attr->value.count = take_int(r);
      r->damaged = r->damaged || attr->value.count < 0 || attr->value.count > 1 << 20;
      int64_t *list = cf_need(r->damaged ? 1 : (size_t)attr->value.count * sizeof *list);
      take(r, list, r->damaged ? 0 : (size_t)attr->value.count * sizeof *list);
      attr->value.as.ints = list; /* doubles are as long */
      break;
    }
    default:
      r->damaged = true;
  }
}

/* Results: the elements themselves, or numbers in two doubles a part, whose sum is more precise than either. */
static void take_output(reader *r, cf_expected *expected) {
  nd4c_dtype dtype = take_dtype(r);
  int32_t rank = 0;
  int64_t shape[CF_RANK], size = 0;
  take_shape(r, &rank, shape, &size);
  uint8_t is_wide = take_byte(r), has_scale = take_byte(r);
  if (r->damaged) {
    return;
  }
  if (r->passes && dtype != ND4C_UTF8) {
    int64_t doubles = (is_wide != 1 ? 0 : cf_is_complex(dtype) ? 4 : 2) + (has_scale != 0);
    pass(r, size * (doubles * (int64_t)sizeof(double) + (is_wide != 1 ? cf_size_of(dtype) : 0)));
    return;
  }
  cf_expect(expected, dtype, rank, shape, has_scale != 0);
  expected->zero_signs = is_wide == 2;
  if (is_wide != 1) {
    cf_tensor exact;
    cf_tensor_make(&exact, dtype, rank, shape);
    take_elements(r, &exact);
    for (int64_t i = 0; i < size; i++) {
      expected->values[i] = cf_get(&exact, i);
    }
    cf_tensor_clear(&exact);
  }
  for (int64_t i = 0; i < size && is_wide == 1; i++) {
    double high = take_double(r), low = take_double(r);
    expected->values[i].re = (long double)high + (long double)low;
    if (cf_is_complex(dtype)) {
      high = take_double(r);
      low = take_double(r);
      expected->values[i].im = (long double)high + (long double)low;
    }
  }
  for (int64_t i = 0; i < size && has_scale != 0; i++) {
    expected->scale[i] = take_double(r);
  }
}

static void take_results(reader *r, cf_golden *golden) {
  char *property = take_text(r);
  golden->property = cf_property_find(property);
  if (property[0] != '\0' && golden->property == NULL) {
    (void)fprintf(stderr, "%s: property %s is not in tests/conformance/properties.c\n", r->path, property);
    r->damaged = true;
  }
  free(property);
  golden->output_count = take_int(r);
  if (golden->output_count < 0 || golden->output_count > CF_OUTPUTS) {
    r->damaged = true;
    golden->output_count = 0;
  }
  for (int32_t i = 0; i < golden->output_count && !r->damaged; i++) {
    take_output(r, &golden->outputs[i]);
  }
}

static cf_golden *take_golden(reader *r) {
  cf_golden *golden = cf_need(sizeof *golden);
  golden->is_refusal = take_byte(r) == 'R';
  char *name = take_text(r);
  const nd4c_op_info *info = NULL;
  golden->dtype = take_dtype(r);
  if (nd4c_op_find(name, &info) != ND4C_OK) {
    (void)fprintf(stderr, "%s: there is no op %s\n", r->path, name);
    r->damaged = true;
  }
  free(name);
  golden->op = info != NULL ? info->op : ND4C_OP_NONE;
  r->damaged = r->damaged || cf_place_of_op(golden->op) < 0;
  r->passes = r->damaged || !wanted[cf_place_of_op(golden->op)];
  golden->ulps = take_double(r);
  golden->complex_ulps = take_double(r);
  int32_t inputs = take_int(r);
  r->damaged = r->damaged || inputs < 0 || inputs > CF_INPUTS;
  for (int32_t i = 0; i < inputs && !r->damaged; i++) {
    take_input(r, &golden->c);
  }
  int32_t attrs = take_int(r);
  r->damaged = r->damaged || attrs < 0 || attrs > CF_ATTRS;
  for (int32_t i = 0; i < attrs && !r->damaged; i++) {
    take_attr(r, &golden->c);
  }
  golden->c.op = golden->op;
  golden->c.dtype = golden->dtype;
  if (golden->is_refusal) {
    golden->status = take_int(r);
    golden->text = take_text(r);
  } else {
    take_results(r, golden);
  }
  return golden;
}

static void drop(cf_golden *golden) {
  for (int32_t i = 0; i < golden->c.attr_count; i++) {
    const nd4c_attr *attr = &golden->c.attrs[i];
    const bool is_list = attr->value.kind == ND4C_ATTR_INTS || attr->value.kind == ND4C_ATTR_FLOATS;
    free((void *)(uintptr_t)attr->name);
    if (is_list || attr->value.kind == ND4C_ATTR_STRING) {
      free((void *)(uintptr_t)attr->value.as.ints);
    }
  }
  cf_case_clear(&golden->c);
  for (int32_t i = 0; i < golden->output_count; i++) {
    cf_expected_clear(&golden->outputs[i]);
  }
  free(golden->text);
  free(golden);
}

static void keep(cf_golden *golden) {
  golden_list *list = golden->is_refusal ? &refusals[cf_place_of_op(golden->op)] : &cases[cf_place_of_op(golden->op)];
  if ((list->count & (list->count - 1)) == 0) { /* grows at powers of two */
    cf_golden **grown = realloc(list->items, (size_t)(list->count > 0 ? 2 * list->count : 1) * sizeof(cf_golden *));
    if (grown == NULL) {
      (void)fputs("nd4c_conformance: no memory\n", stderr);
      exit(2);
    }
    list->items = grown;
  }
  list->items[list->count++] = golden;
}

/* Whether this build has all dtypes of a case. */
static bool has_dtypes(const cf_golden *golden) {
  bool has = golden->dtype == ND4C_DTYPE_NONE || cf_has_dtype(golden->dtype);
  for (int32_t i = 0; i < golden->c.input_count; i++) {
    has = has && (golden->c.inputs[i].dtype == ND4C_DTYPE_NONE || cf_has_dtype(golden->c.inputs[i].dtype));
  }
  for (int32_t i = 0; i < golden->output_count; i++) {
    has = has && cf_has_dtype(golden->outputs[i].dtype);
  }
  return has;
}

static bool load_file(const char *path) {
  static const char magic[8] = "ND4CREC1";
  struct stat about;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  bool there = file >= 0 && fstat(file, &about) == 0 && about.st_size >= (off_t)sizeof magic;
  void *mapped = there ? mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
  if (file >= 0) {
    (void)close(file);
  }
  if (mapped == MAP_FAILED) {
    (void)fprintf(stderr, "%s: cannot be read\n", path);
    return false;
  }
  const unsigned char *bytes = mapped;
  reader r = {.at = bytes + sizeof magic, .end = bytes + about.st_size, .path = path};
  r.damaged = memcmp(bytes, magic, sizeof magic) != 0;
  while (!r.damaged && r.at < r.end) {
    cf_golden *golden = take_golden(&r);
    if (!r.damaged && !r.passes && has_dtypes(golden)) {
      keep(golden);
    } else {
      drop(golden);
    }
  }
  if (r.damaged) {
    (void)fprintf(stderr, "%s: damaged at byte %td\n", path, r.at - bytes);
  }
  (void)munmap(mapped, (size_t)about.st_size);
  return !r.damaged;
}

bool cf_golden_load(const char *folder, bool (*wants)(const void *user, nd4c_op op), const void *user) {
  for (int32_t place = 0; place < CF_OPS; place++) {
    wanted[place] = wants(user, (nd4c_op)(place < CF_BUILTIN_OPS ? place : ND4C_OP_PLUGIN + place - CF_BUILTIN_OPS));
  }
  DIR *directory = opendir(folder);
  bool sound = directory != NULL;
  if (!sound) {
    (void)fprintf(stderr, "nd4c_conformance: %s cannot be read; tests/records/generate.py makes it\n", folder);
  }
  for (struct dirent *entry; sound && (entry = readdir(directory)) != NULL;) {
    size_t length = strlen(entry->d_name);
    if (length > 4 && strcmp(entry->d_name + length - 4, ".rec") == 0) {
      char path[4096];
      (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
      sound = load_file(path);
    }
  }
  if (directory != NULL) {
    (void)closedir(directory);
  }
  return sound;
}

/* -- handing out ------------------------------------------------------------------------------------------------ */

int32_t cf_golden_count(nd4c_op op) {
  const int32_t place = cf_place_of_op(op);
  return place >= 0 ? cases[place].count : 0;
}

bool cf_golden_sample(int32_t number, cf_case *c) {
  const golden_list *list = &cases[cf_place_of_op(c->op)];
  for (int32_t i = 0; i < list->count; i++) {
    const cf_golden *golden = list->items[i];
    if (golden->dtype != c->dtype || number-- > 0) {
      continue;
    }
    *c = golden->c;
    c->golden = golden;
    for (int32_t k = 0; k < c->input_count; k++) {
      const cf_tensor *from = &golden->c.inputs[k];
      if (from->dtype != ND4C_DTYPE_NONE) {
        cf_tensor_make(&c->inputs[k], from->dtype, from->rank, from->shape);
        memcpy(c->inputs[k].data, from->data, (size_t)(from->size * cf_size_of(from->dtype)));
      }
    }
    return true;
  }
  return false;
}

const cf_golden *cf_golden_refusal(nd4c_op op, int32_t number) {
  const int32_t place = cf_place_of_op(op);
  return place >= 0 && number < refusals[place].count ? refusals[place].items[number] : NULL;
}
