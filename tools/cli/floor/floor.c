/* nd4c info --floor: the pairs of op and dtype that run on scalar loops on the CPU, that is: the kernels of all other
 * engines decline every sample call of the pair, so the engine `reference` takes it. The sample calls are those of
 * `nd4c selftest`, so a new op appears here by itself. Nothing is computed: nd4c_explain asks the kernels. */
#include "floor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reasons.h"
#include "selftest.h"

static const nd4c_dtype asked[] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_BFLOAT16, ND4C_FLOAT16,
                                   ND4C_INT32,   ND4C_INT64,   ND4C_UINT8,    ND4C_BOOL};
enum { ASKED = sizeof asked / sizeof asked[0], ENGINE_SIZE = 64, WHY_SIZE = 192 };

/* What takes the calls of a pair: the best of its sample calls. */
typedef enum pair_state { NOT_DECLARED, NO_SAMPLE, ON_REFERENCE, ON_ENGINE } pair_state;

typedef struct pair {
  pair_state state;
  int32_t on_reference;    /* calls that the engine reference takes */
  char declined[WHY_SIZE]; /* what the last other kernel said of the last sample; "": there is no other kernel */
} pair;

typedef struct floor_row {
  const nd4c_op_info *op;
  pair pairs[ASKED];
} floor_row;

typedef struct floor_counts {
  int32_t declared, without_sample, on_reference, with_reason, partly;
} floor_counts;

typedef struct floor_report {
  floor_row *rows; /* in the op table's order */
  int32_t count;
} floor_report;

enum { REASONS = sizeof floor_reasons / sizeof floor_reasons[0] };

/* -- asking ------------------------------------------------------------------------------------------------------- */

/* Reads "  simd.add.avx512 (engine simd): taken"; a text without such a line is about a view or about an op that the
 * library computes itself. False: no kernel takes the call. */
static bool read_engine(const char *text, char *engine) {
  static const char taken[] = "): taken", mark[] = "(engine ";
  const char *end = strstr(text, taken);
  engine[0] = '\0';
  if (end == NULL) {
    return strstr(text, "no kernel") != NULL && strstr(text, "no kernel or compiler computes") == NULL;
  }
  const char *begin = NULL;
  for (const char *at = text; (at = strstr(at, mark)) != NULL && at < end; at++) {
    begin = at + strlen(mark);
  }
  (void)snprintf(engine, ENGINE_SIZE, "%.*s", begin != NULL ? (int)(end - begin) : 0, begin != NULL ? begin : "");
  return true;
}

/* The line before that of the kernel that is taken: what the last kernel before it said. The first line names the op.
 */
static void read_declined(const char *text, char *why) {
  const char *taken = strstr(text, "): taken"), *line = text, *before = NULL;
  why[0] = '\0';
  for (const char *at = text; (at = strchr(at, '\n')) != NULL && at < taken; at++) {
    before = line;
    line = at + 1;
  }
  if (before != NULL && before != text) {
    before += strspn(before, " ");
    (void)snprintf(why, WHY_SIZE, "%.*s", (int)strcspn(before, "\n"), before);
  }
}

static void note(pair *p, const char *text) {
  char engine[ENGINE_SIZE];
  if (!read_engine(text, engine)) {
    return;
  }
  if (strcmp(engine, "reference") != 0) {
    p->state = ON_ENGINE;
    return;
  }
  p->on_reference++;
  if (p->state != ON_ENGINE) {
    p->state = ON_REFERENCE;
    read_declined(text, p->declined);
  }
}

/* The sample's extents but 1 are multiplied by these: kernels decline calls that are too small for them, and relations
 * between extents stay. */
static const int64_t scales[] = {1, 8, 32};
enum { SCALES = sizeof scales / sizeof scales[0], MOST_ELEMENTS = 1 << 18 };

/* The input, larger: zeros, since kernels are asked about shapes. *array NULL: it would be too large. */
static nd4c_status make_input(const selftest_input *input, nd4c_dtype dtype, int64_t scale, nd4c_device *device,
                              nd4c_array **array) {
  int64_t shape[SELFTEST_RANK], count = 1;
  for (int32_t i = 0; i < input->rank; i++) {
    shape[i] = input->shape[i] == 1 ? 1 : input->shape[i] * scale;
    count = count > MOST_ELEMENTS ? count : count * shape[i];
  }
  if (count == input->count) {
    return selftest_array(input, dtype, device, array);
  }
  return count > MOST_ELEMENTS
             ? ND4C_OK
             : nd4c_array_zeros(input->varies ? dtype : input->dtype, input->rank, shape, device, array);
}

/* What a sample's attributes of dtypes become: they stay, take the dtype under test, or are left out. */
typedef enum dtype_attr { ATTR_STAYS, ATTR_FOLLOWS, ATTR_LEFT_OUT, DTYPE_ATTRS } dtype_attr;

/* The case's attributes; returns their number. */
static int32_t make_attrs(const selftest_case *c, nd4c_dtype dtype, dtype_attr how, nd4c_attr *attrs) {
  int32_t made = 0;
  for (int32_t i = 0; i < c->attr_count; i++) {
    const bool is_dtype = c->attrs[i].value.kind == ND4C_ATTR_DTYPE;
    if (is_dtype && how == ATTR_LEFT_OUT) {
      continue;
    }
    attrs[made] = c->attrs[i];
    if (is_dtype && how == ATTR_FOLLOWS) {
      attrs[made].value.as.i = dtype;
    }
    made++;
  }
  return made;
}

static bool has_dtype_attr(const selftest_case *c) {
  bool has = false;
  for (int32_t i = 0; i < c->attr_count; i++) {
    has = has || c->attrs[i].value.kind == ND4C_ATTR_DTYPE;
  }
  return has;
}

/* A sample that is refused (a dtype that cannot hold its numbers, an attribute that does not fit larger extents) tells
 * nothing about kernels. */
static nd4c_status ask(nd4c_context *context, const selftest_case *c, nd4c_dtype dtype, int64_t scale, pair *p) {
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL};
  nd4c_attr attrs[SELFTEST_ATTRS];
  nd4c_status status = ND4C_OK;
  bool whole = true;
  for (int32_t i = 0; i < c->input_count && status == ND4C_OK; i++) {
    if (c->inputs[i].dtype != ND4C_DTYPE_NONE) {
      status = make_input(&c->inputs[i], dtype, scale, nd4c_context_device(context), &inputs[i]);
      whole = whole && inputs[i] != NULL;
    }
  }
  for (dtype_attr how = ATTR_STAYS; how < (has_dtype_attr(c) ? DTYPE_ATTRS : ATTR_FOLLOWS) && whole; how++) {
    char *text = NULL;
    const int32_t count = make_attrs(c, dtype, how, attrs);
    if (status == ND4C_OK && nd4c_explain(context, c->op->op, (const nd4c_array *const *)inputs, c->input_count, attrs,
                                          count, &text) == ND4C_OK) {
      note(p, text);
    }
    nd4c_free(text);
  }
  for (int32_t i = 0; i < c->input_count; i++) {
    nd4c_array_release(inputs[i]);
  }
  return status == ND4C_MEMORY || status == ND4C_MEMORY_CAP ? status : ND4C_OK;
}

static floor_row *find_row(const floor_report *report, const nd4c_op_info *op) {
  for (int32_t i = 0; i < report->count; i++) {
    if (report->rows[i].op == op) {
      return &report->rows[i];
    }
  }
  return NULL;
}

static nd4c_status ask_all(nd4c_context *context, floor_report *report) {
  const char *position = selftest_cases;
  selftest_case c;
  nd4c_status status = ND4C_OK;
  while (status == ND4C_OK && selftest_sample_next(&position, &c, &status)) {
    floor_row *row = status == ND4C_OK ? find_row(report, c.op) : NULL;
    for (int d = 0; row != NULL && d < ASKED && status == ND4C_OK; d++) {
      if (row->pairs[d].state != NOT_DECLARED) {
        for (int k = 0; k < SCALES && status == ND4C_OK; k++) {
          status = ask(context, &c, asked[d], scales[k], &row->pairs[d]);
        }
      }
    }
    selftest_case_clear(&c);
  }
  return status;
}

/* All pairs that ops of this library declare. */
static nd4c_status make_rows(floor_report *report) {
  report->rows = calloc((size_t)nd4c_op_count(), sizeof *report->rows);
  if (report->rows == NULL) {
    return ND4C_MEMORY;
  }
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const nd4c_op_info *op = nd4c_op_at(i);
    floor_row *row = &report->rows[report->count];
    row->op = op;
    bool any = false;
    for (int d = 0; d < ASKED; d++) {
      const bool declared = op->provider[0] == '\0' && (op->dtypes & ND4C_DTYPE_BIT(asked[d])) != 0;
      row->pairs[d].state = declared ? NO_SAMPLE : NOT_DECLARED;
      any = any || declared;
    }
    report->count += any;
  }
  return ND4C_OK;
}

/* -- the report of a pair ----------------------------------------------------------------------------------------- */

/* Why a pair is listed; the order of the text's parts. */
typedef enum floor_part { PART_REASON, PART_NO_KERNEL, PART_DECLINED, PART_NO_SAMPLE, PART_NONE } floor_part;

/* The first row of reasons.h for a pair on scalar loops; -1: none. */
static int find_reason(const floor_row *row, int d) {
  for (int i = 0; i < REASONS; i++) {
    if ((floor_reasons[i].dtypes & ND4C_DTYPE_BIT(asked[d])) != 0 && strcmp(floor_reasons[i].op, row->op->name) == 0) {
      return i;
    }
  }
  return -1;
}

static floor_part part_of(const floor_row *row, int d) {
  const pair *p = &row->pairs[d];
  if (p->state == NO_SAMPLE) {
    return PART_NO_SAMPLE;
  }
  if (p->state != ON_REFERENCE) {
    return PART_NONE;
  }
  return find_reason(row, d) >= 0 ? PART_REASON : p->declined[0] == '\0' ? PART_NO_KERNEL : PART_DECLINED;
}

static const char *told_of(const floor_row *row, int d) {
  return part_of(row, d) == PART_REASON ? floor_reasons[find_reason(row, d)].reason : row->pairs[d].declined;
}

static floor_counts count(const floor_report *report) {
  floor_counts counts = {0};
  for (int32_t i = 0; i < report->count; i++) {
    for (int d = 0; d < ASKED; d++) {
      const pair *p = &report->rows[i].pairs[d];
      counts.declared += p->state != NOT_DECLARED;
      counts.without_sample += p->state == NO_SAMPLE;
      counts.partly += p->state == ON_ENGINE && p->on_reference > 0;
      counts.on_reference += p->state == ON_REFERENCE;
      counts.with_reason += part_of(&report->rows[i], d) == PART_REASON;
    }
  }
  return counts;
}

/* Whether a row of reasons.h fits no pair on scalar loops. */
static bool is_stale(const floor_report *report, int reason) {
  for (int32_t i = 0; i < report->count; i++) {
    for (int d = 0; d < ASKED; d++) {
      if (report->rows[i].pairs[d].state == ON_REFERENCE && find_reason(&report->rows[i], d) == reason) {
        return false;
      }
    }
  }
  return true;
}

/* -- text --------------------------------------------------------------------------------------------------------- */

/* A line for the op's pairs of this part, with the text of the first one; prints nothing if there is none. */
static void print_row(const floor_row *row, floor_part part) {
  char dtypes[128] = "";
  int first = -1;
  for (int d = 0; d < ASKED; d++) {
    if (part_of(row, d) == part) {
      const size_t length = strlen(dtypes);
      (void)snprintf(dtypes + length, sizeof dtypes - length, "%s%s", first < 0 ? "" : " ", nd4c_dtype_name(asked[d]));
      first = first < 0 ? d : first;
    }
  }
  if (first >= 0) {
    const char *told = told_of(row, first);
    (void)printf("  %-26s %s%s%s\n", row->op->name, dtypes, told[0] != '\0' ? ": " : "", told);
  }
}

static int print_text(const floor_report *report) {
  static const char *const titles[] = {
      [PART_REASON] = "on scalar loops for a reason",
      [PART_NO_KERNEL] = "on scalar loops, since only the engine reference has a kernel for these dtypes",
      [PART_DECLINED] = "on scalar loops, since the other kernels decline; what the last one says of the first dtype",
      [PART_NO_SAMPLE] = "not known: there is no sample call that these dtypes take"};
  const floor_counts counts = count(report);
  (void)printf("%" PRId32 " pairs of op and dtype on cpu:0 (", counts.declared);
  for (int d = 0; d < ASKED; d++) {
    (void)printf("%s%s", d == 0 ? "" : " ", nd4c_dtype_name(asked[d]));
  }
  (void)printf("): %" PRId32 " run on scalar loops, %" PRId32 " of them for a reason; of %" PRId32
               " others some calls do; %" PRId32 " are not known\n",
               counts.on_reference, counts.with_reason, counts.partly, counts.without_sample);
  for (floor_part part = PART_REASON; part < PART_NONE; part++) {
    (void)printf("\n%s:\n", titles[part]);
    for (int32_t i = 0; i < report->count; i++) {
      print_row(&report->rows[i], part);
    }
  }
  for (int i = 0; i < REASONS; i++) {
    if (is_stale(report, i)) {
      (void)printf("\nstale: the reason for %s fits no pair that runs on scalar loops here\n", floor_reasons[i].op);
    }
  }
  return cli_finish(&cli_info);
}

/* -- JSON --------------------------------------------------------------------------------------------------------- */

static cJSON *pair_json(const floor_row *row, int d) {
  cJSON *object = cJSON_CreateObject();
  (void)cJSON_AddStringToObject(object, "op", row->op->name);
  (void)cJSON_AddStringToObject(object, "dtype", nd4c_dtype_name(asked[d]));
  (void)cJSON_AddStringToObject(object, "declined", row->pairs[d].declined);
  const int reason = find_reason(row, d);
  (void)cJSON_AddStringToObject(object, "reason", reason >= 0 ? floor_reasons[reason].reason : "");
  return object;
}

static int print_json(const floor_report *report) {
  const floor_counts counts = count(report);
  cJSON *object = cJSON_CreateObject();
  (void)cJSON_AddNumberToObject(object, "pairs", counts.declared);
  (void)cJSON_AddNumberToObject(object, "on_reference", counts.on_reference);
  (void)cJSON_AddNumberToObject(object, "with_reason", counts.with_reason);
  (void)cJSON_AddNumberToObject(object, "partly", counts.partly);
  (void)cJSON_AddNumberToObject(object, "without_sample", counts.without_sample);
  cJSON *floor = cJSON_AddArrayToObject(object, "floor");
  cJSON *unknown = cJSON_AddArrayToObject(object, "unknown");
  for (int32_t i = 0; i < report->count; i++) {
    for (int d = 0; d < ASKED; d++) {
      const floor_part part = part_of(&report->rows[i], d);
      if (part != PART_NONE) {
        (void)cJSON_AddItemToArray(part == PART_NO_SAMPLE ? unknown : floor, pair_json(&report->rows[i], d));
      }
    }
  }
  cJSON *stale = cJSON_AddArrayToObject(object, "stale_reasons");
  for (int i = 0; i < REASONS; i++) {
    if (is_stale(report, i)) {
      (void)cJSON_AddItemToArray(stale, cJSON_CreateString(floor_reasons[i].op));
    }
  }
  return cli_print_json(&cli_info, object, false);
}

int info_print_floor(bool json) {
  floor_report report = {0};
  nd4c_device *host = NULL;
  nd4c_context *context = NULL;
  nd4c_status status = nd4c_device_find("cpu:0", &host);
  const nd4c_context_options options = {.struct_size = sizeof options, .device = host};
  status = status == ND4C_OK ? nd4c_context_create(&options, &context) : status;
  status = status == ND4C_OK ? make_rows(&report) : status;
  status = status == ND4C_OK ? ask_all(context, &report) : status;
  const int code = status != ND4C_OK ? cli_fail_status(&cli_info, status)
                   : json            ? print_json(&report)
                                     : print_text(&report);
  free(report.rows);
  (void)nd4c_context_destroy(context);
  return code;
}
