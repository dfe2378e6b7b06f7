/* The op regex_full_match, by PCRE2, which is loaded when it is first needed. PCRE2's limits keep a hostile pattern
 * from running for long. dispatch/host_ops.c lists the op. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/memory/host.h"
#include "dispatch/text/text.h"

#define LIBRARY_NAME "libpcre2-8.so.0"

/* Of pcre2.h 10.x, whose ABI is stable. */
enum { MATCH_LIMIT = 1000000, HEAP_LIMIT_KIB = 65536, PATTERN_LIMIT = 65536, ERROR_NOMATCH = -1 };
static const uint32_t compile_options = 0x80000000U   /* PCRE2_ANCHORED */
                                        | 0x20000000U /* PCRE2_ENDANCHORED */
                                        | 0x00080000U /* PCRE2_UTF */
                                        | 0x00100000U /* PCRE2_NEVER_BACKSLASH_C */;
static const uint32_t match_options = 0x40000000U /* PCRE2_NO_UTF_CHECK: arrays hold only UTF-8 */;

/* X(name, result, parameters) */
#define FUNCTIONS(X)                                                                                                \
  X(compile, void *, (const char *pattern, size_t length, uint32_t options, int *error, size_t *offset, void *))    \
  X(code_free, void, (void *code))                                                                                  \
  X(match_context_create, void *, (void *))                                                                         \
  X(match_context_free, void, (void *context))                                                                      \
  X(set_match_limit, int, (void *context, uint32_t limit))                                                          \
  X(set_depth_limit, int, (void *context, uint32_t limit))                                                          \
  X(set_heap_limit, int, (void *context, uint32_t kib))                                                             \
  X(match_data_create, void *, (uint32_t pairs, void *))                                                            \
  X(match_data_free, void, (void *data))                                                                            \
  X(match, int,                                                                                                     \
    (const void *code, const char *text, size_t length, size_t start, uint32_t options, void *data, void *context)) \
  X(get_error_message, int, (int error, char *text, size_t size))

typedef struct pcre2 {
#define MEMBER(name, result, parameters) result(*name) parameters;
  FUNCTIONS(MEMBER)
#undef MEMBER
} pcre2;

/* Converts the data pointer that the loader returns to a function's address. */
typedef union symbol {
  void *address;
#define MEMBER(name, result, parameters) result(*name) parameters;
  FUNCTIONS(MEMBER)
#undef MEMBER
} symbol;

static nd4c_status load(pcre2 *functions) {
  const nd4c_host *host = nd4c_host_table();
  void *library = NULL;
  nd4c_status status = host->library_open(LIBRARY_NAME, &library);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(ND4C_LIBRARY, "regex_full_match needs " LIBRARY_NAME " (Debian: libpcre2-8-0)");
  }
  symbol found;
#define LOAD(name, result, parameters)                                                           \
  found.address = host->library_symbol(library, "pcre2_" #name "_8");                            \
  functions->name = found.name;                                                                  \
  if (found.address == NULL) {                                                                   \
    return nd4c_fail(ND4C_SYMBOL, "regex_full_match: " LIBRARY_NAME " lacks pcre2_" #name "_8"); \
  }
  FUNCTIONS(LOAD)
#undef LOAD
  return ND4C_OK;
}

static nd4c_status get_pcre2(const pcre2 **functions) {
  static nd4c_lock lock = ND4C_LOCK_INIT;
  static pcre2 loaded;
  static bool done;
  nd4c_lock_acquire(&lock);
  nd4c_status status = done ? ND4C_OK : load(&loaded);
  done = done || status == ND4C_OK;
  nd4c_lock_release(&lock);
  *functions = &loaded;
  return status;
}

/* One pattern with what matching needs. */
typedef struct matcher {
  const pcre2 *api;
  void *code, *data, *context;
} matcher;

static nd4c_status prepare(matcher *m, const char *pattern) {
  int error = 0;
  size_t offset = 0, length = strlen(pattern);
  char text[128] = "";
  if (length > PATTERN_LIMIT) {
    return nd4c_fail(ND4C_ARGUMENT, "regex_full_match: a pattern of %zu bytes, expected at most %d", length,
                     (int)PATTERN_LIMIT);
  }
  ND4C_TRY(get_pcre2(&m->api));
  m->code = m->api->compile(pattern, length, compile_options, &error, &offset, NULL);
  if (m->code == NULL) {
    (void)m->api->get_error_message(error, text, sizeof text);
    return nd4c_fail(ND4C_ARGUMENT, "regex_full_match: pattern '%.200s' at byte %zu: %s", pattern, offset, text);
  }
  m->context = m->api->match_context_create(NULL);
  m->data = m->api->match_data_create(1, NULL);
  if (m->context == NULL || m->data == NULL) {
    return nd4c_fail_memory("a regular expression", length);
  }
  (void)m->api->set_match_limit(m->context, MATCH_LIMIT);
  (void)m->api->set_depth_limit(m->context, MATCH_LIMIT);
  (void)m->api->set_heap_limit(m->context, HEAP_LIMIT_KIB);
  return ND4C_OK;
}

static void release(matcher *m) {
  if (m->code != NULL) {
    m->api->code_free(m->code);
  }
  if (m->context != NULL) {
    m->api->match_context_free(m->context);
  }
  if (m->data != NULL) {
    m->api->match_data_free(m->data);
  }
}

static nd4c_status match_all(nd4c_pending *p, const matcher *m, const nd4c_string *strings) {
  void *data = NULL;
  ND4C_TRY(nd4c_numbers_make(p, 0, &data));
  for (int64_t i = 0; i < p->inputs[0]->size; i++) {
    int result =
        m->api->match(m->code, strings[i].bytes, (size_t)strings[i].length, 0, match_options, m->data, m->context);
    ((uint8_t *)data)[i] = result >= 0;
    if (result < 0 && result != ERROR_NOMATCH) {
      char text[128] = "";
      (void)m->api->get_error_message(result, text, sizeof text);
      return nd4c_fail(ND4C_ARGUMENT, "regex_full_match: string %" PRId64 ": %s", i, text);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_host_regex_full_match(nd4c_pending *p) {
  const char *pattern = p->attrs[ND4C_ATTR_regex_full_match_pattern].as.string;
  matcher m = {NULL, NULL, NULL, NULL};
  nd4c_string *strings = NULL;
  nd4c_status status = prepare(&m, pattern != NULL ? pattern : "");
  if (status == ND4C_OK) {
    status = nd4c_strings_read(p, 0, &strings);
  }
  if (status == ND4C_OK) {
    status = match_all(p, &m, strings);
  }
  release(&m);
  return status;
}
