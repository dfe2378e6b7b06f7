/* Which pairs of op and dtype a backend computes itself, by category. A call counts as computed on the device if it
 * copies only bytes to the host that the op may read back, whatever the size of its operands. The library's tracer
 * counts the library's copies, and the loader of tests/opencl counts the bytes of all commands of OpenCL. */
#include <stdio.h>
#include <string.h>

#include "opencl/faulty_loader.h"
#include "run.h"

/* The dtypes that are counted. */
#define CF_COVERED(X) X(FLOAT32) X(FLOAT64) X(INT32) X(INT64) X(UINT8) X(BOOL)

typedef struct cf_category_count {
  int32_t whole, partly, copied, declined;
} cf_category_count;

static const struct {
  nd4c_category category;
  const char *name;
} categories[] = {
#define CATEGORY_ROW(NAME, number) {ND4C_CATEGORY_##NAME, #NAME},
    ND4C_CATEGORY_TABLE(CATEGORY_ROW)
#undef CATEGORY_ROW
};
enum { CATEGORIES = sizeof categories / sizeof categories[0] };

static cf_category_count counts[CATEGORIES];

bool cf_is_covered(nd4c_dtype dtype) {
#define IS_COVERED(NAME)      \
  if (dtype == ND4C_##NAME) { \
    return true;              \
  }
  CF_COVERED(IS_COVERED)
#undef IS_COVERED
  return false;
}

static cf_category_count *find_count(const nd4c_op_info *info) {
  for (int i = 0; i < CATEGORIES; i++) {
    if (categories[i].category == info->category) {
      return &counts[i];
    }
  }
  return NULL;
}

/* -- bytes between host and device -------------------------------------------------------------------------------- */

/* A record that the host must read for every op: whether an index was out of range, with the index and the extent. Its
 * buffer is written once for each queue and read with each call that may report an index. */
enum { FAULT_BYTES = 20 };

/* X(op, bytes, what): what else an op may read back in one call. */
// clang-format off
#define CF_READ_BACKS(X) \
  X(boolean_mask, 8, "how many elements are chosen") \
  X(compress, 8, "how many elements are chosen") \
  X(masked_select, 8, "how many elements are chosen") \
  X(masked_scatter, 8, "how many elements are chosen") \
  X(nonzero, 8, "how many elements are chosen") \
  X(argwhere, 8, "how many elements are chosen") \
  X(unique, 8, "how many values there are") \
  X(unique_all, 8, "how many values there are") \
  X(unique_counts, 8, "how many values there are") \
  X(unique_inverse, 8, "how many values there are") \
  X(unique_values, 8, "how many values there are") \
  X(isin, 8, "how many values there are") \
  X(union1d, 16, "how many values there are, and how many of them are wanted") \
  X(intersect1d, 16, "how many values there are, and how many of them are wanted") \
  X(setdiff1d, 16, "how many values there are, and how many of them are wanted") \
  X(setxor1d, 16, "how many values there are, and how many of them are wanted") \
  X(segment_sum, 8, "the largest number of a segment") \
  X(segment_mean, 8, "the largest number of a segment") \
  X(segment_max, 8, "the largest number of a segment") \
  X(segment_min, 8, "the largest number of a segment") \
  X(segment_prod, 8, "the largest number of a segment") \
  X(segment_sqrt_n, 8, "the largest number of a segment") \
  X(bincount, 8, "the largest number, and the first that is out of range") \
  X(confusion_matrix, 16, "the first number of either input that is out of range") \
  X(histogram, 24, "the range of the elements, and whether it is finite") \
  X(histogram_bin_edges, 24, "the range of the elements, and whether it is finite") \
  X(digitize, 8, "whether the bins ascend or descend") \
  X(repeat, 24, "the first count that is wrong") \
  X(random_bernoulli, 16, "the first parameter that is out of range") \
  X(random_binomial, 32, "the first of either parameter that is out of range") \
  X(random_gamma, 16, "the first parameter that is out of range") \
  X(random_poisson, 16, "the first parameter that is out of range") \
  X(random_categorical, 4, "the first row that has no chances") \
  X(nms, 8, "how many boxes are chosen") \
  X(roi_align, 8, "the first roi that is none, or of no image") \
  X(max_roi_pool, 16, "the first roi of no image")
// clang-format on

static struct {
  nd4c_op op;
  int64_t allowed;
  const char *what;
  int64_t read, operands; /* the most of all calls */
} read_backs[] = {
#define READ_BACK_ROW(name, bytes, what) {ND4C_OP_##name, bytes, what, 0, 0},
    CF_READ_BACKS(READ_BACK_ROW)
#undef READ_BACK_ROW
};
enum { READ_BACKS = sizeof read_backs / sizeof read_backs[0] };

static bool counted; /* by the loader */
static long read_before, written_before;

void cf_coverage_prepare(const cf_options *options) {
  const char *library = NULL;
  bool is_opencl = strncmp(options->backend, "opencl", strlen("opencl")) == 0;
  counted = options->coverage && !options->ask && is_opencl &&
            nd4c_config_get("nd4c.opencl.library", &library) == ND4C_OK &&
            (library[0] == '\0' || strcmp(library, FAULTY_PATH) == 0) && faulty_find() &&
            nd4c_config_set("nd4c.opencl.library", FAULTY_PATH) == ND4C_OK;
}

void cf_coverage_begin_call(void) {
  (void)nd4c_trace_start(NULL);
  read_before = counted ? faulty_count("read_bytes") : 0;
  written_before = counted ? faulty_count("written_bytes") : 0;
}

const char *cf_coverage_end_call(nd4c_op op, nd4c_status status, int64_t bytes, char *text, size_t size) {
  nd4c_trace_totals totals = {.struct_size = sizeof totals};
  bool traced = nd4c_trace_get_totals(NULL, NULL, &totals) == ND4C_OK;
  int64_t read = counted ? faulty_count("read_bytes") - read_before : 0, allowed = FAULT_BYTES;
  int64_t written = counted ? faulty_count("written_bytes") - written_before : 0;
  (void)nd4c_trace_stop(NULL);
  if (status != ND4C_OK) {
    return NULL;
  }
  for (int i = 0; i < READ_BACKS; i++) {
    if (read_backs[i].op == op) {
      allowed += read_backs[i].allowed;
      read_backs[i].read = read > read_backs[i].read ? read : read_backs[i].read;
      read_backs[i].operands = bytes > read_backs[i].operands ? bytes : read_backs[i].operands;
    }
  }
  if (!traced || totals.copies != 0) {
    (void)snprintf(text, size, "the call copied between devices");
    return text;
  }
  if (read > allowed || written > FAULT_BYTES) {
    (void)snprintf(text, size, "the call read %lld bytes back to the host and wrote %lld: expected at most %lld and %d",
                   (long long)read, (long long)written, (long long)allowed, (int)FAULT_BYTES);
    return text;
  }
  return NULL;
}

/* -- the table ---------------------------------------------------------------------------------------------------- */

void cf_coverage_note(cf_run *run, nd4c_op op, nd4c_dtype dtype) {
  const nd4c_op_info *info = nd4c_op_get(op);
  cf_category_count *count = find_count(info);
  int64_t computed = run->pair_computed, declined = run->pair_declined, copied = run->pair_copied;
  run->pair_computed = run->pair_declined = run->pair_copied = 0;
  if (!run->options.coverage || !cf_is_covered(dtype) || count == NULL || computed + declined == 0) {
    return;
  }
  count->copied += copied > 0;
  count->whole += copied == 0 && declined == 0;
  count->partly += copied == 0 && declined > 0 && computed > 0;
  count->declined += computed == 0;
  if (copied > 0) {
    (void)printf("host copy %s %s: %lld of %lld cases\n", info->name, nd4c_dtype_name(dtype), (long long)copied,
                 (long long)computed);
  }
  if (declined > 0) {
    (void)printf("%s %s %s: %lld of %lld cases\n", computed == 0 ? "declined" : "partly", info->name,
                 nd4c_dtype_name(dtype), (long long)computed, (long long)(computed + declined));
  }
}

/* The bytes read back by each op, which do not grow with the operands. */
static void print_read_backs(const cf_run *run) {
  if (!counted) {
    (void)printf("what the kernels of %s read back themselves was not counted\n", run->options.backend);
    return;
  }
  (void)printf("read back in one call, with the %d bytes that tell of an index out of range where there are any:\n",
               (int)FAULT_BYTES);
  for (int i = 0; i < READ_BACKS; i++) {
    if (read_backs[i].read > 0) {
      (void)printf("  %s reads back %lld bytes at most, of calls with up to %lld bytes of operands: %s\n",
                   nd4c_op_get(read_backs[i].op)->name, (long long)read_backs[i].read,
                   (long long)read_backs[i].operands, read_backs[i].what);
    }
  }
}

void cf_coverage_print(const cf_run *run) {
  cf_category_count all = {0};
  if (!run->options.coverage) {
    return;
  }
  (void)printf("pairs of op and dtype (of");
#define PRINT_COVERED(NAME) (void)printf(" %s", nd4c_dtype_name(ND4C_##NAME));
  CF_COVERED(PRINT_COVERED)
#undef PRINT_COVERED
  (void)printf(") that %s computes in every case, in some, by way of the host, in none:\n", run->options.backend);
  for (int i = 0; i <= CATEGORIES; i++) {
    cf_category_count c = i < CATEGORIES ? counts[i] : all;
    int32_t pairs = c.whole + c.partly + c.copied + c.declined;
    if (pairs > 0) {
      (void)printf("  %-13s %5d of %5d (%5.1f %%), %d, %d, %d\n", i < CATEGORIES ? categories[i].name : "all", c.whole,
                   pairs, 100.0 * c.whole / pairs, c.partly, c.copied, c.declined);
    }
    all.whole += c.whole;
    all.partly += c.partly;
    all.copied += c.copied;
    all.declined += c.declined;
  }
  if (!run->options.ask) {
    print_read_backs(run);
  }
}
