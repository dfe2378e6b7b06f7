/* The ops string_split and string_normalizer, whose results have shapes that depend on the strings. dispatch/host_ops.c
 * lists them. */
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/status.h"
#include "dispatch/text/text.h"

/* -- string_split ------------------------------------------------------------------------------------------------- */

/* The rest of a string to split. */
typedef struct cutter {
  nd4c_string rest, delimiter; /* delimiter of length 0: runs of white space */
  int64_t cuts;                /* that may still be made, -1: any number */
  bool done;
} cutter;

static nd4c_string skip_space(nd4c_string string) {
  for (int64_t at = 0, next = 0; at < string.length; at = next) {
    if (!nd4c_code_is_space(nd4c_string_next(string, &next))) {
      return (nd4c_string){string.bytes + at, string.length - at};
    }
  }
  return (nd4c_string){string.bytes, 0};
}

/* The next part between white space; false if there is none. */
static bool cut_space(cutter *c, nd4c_string *part) {
  nd4c_string rest = skip_space(c->rest);
  c->rest = rest;
  if (rest.length == 0) {
    return false;
  }
  int64_t at = 0;
  for (int64_t next = 0; at < rest.length && c->cuts != 0; at = next) {
    if (nd4c_code_is_space(nd4c_string_next(rest, &next))) {
      break;
    }
  }
  if (c->cuts == 0) {
    at = rest.length;
  }
  c->cuts -= c->cuts > 0;
  *part = (nd4c_string){rest.bytes, at};
  c->rest = (nd4c_string){rest.bytes + at, rest.length - at};
  return true;
}

/* The next part between delimiters. */
static bool cut_delimiter(cutter *c, nd4c_string *part) {
  if (c->done) {
    return false;
  }
  for (int64_t at = 0; c->cuts != 0 && at + c->delimiter.length <= c->rest.length; at++) {
    if (memcmp(c->rest.bytes + at, c->delimiter.bytes, (size_t)c->delimiter.length) == 0) {
      int64_t next = at + c->delimiter.length;
      *part = (nd4c_string){c->rest.bytes, at};
      c->rest = (nd4c_string){c->rest.bytes + next, c->rest.length - next};
      c->cuts -= c->cuts > 0;
      return true;
    }
  }
  *part = c->rest;
  c->done = true;
  return true;
}

static bool cut(cutter *c, nd4c_string *part) {
  return c->delimiter.length > 0 ? cut_delimiter(c, part) : cut_space(c, part);
}

static cutter cutter_for(const nd4c_pending *p, nd4c_string string) {
  const char *delimiter = p->attrs[ND4C_ATTR_string_split_delimiter].as.string;
  delimiter = delimiter != NULL ? delimiter : "";
  return (cutter){.rest = string,
                  .delimiter = {delimiter, (int64_t)strlen(delimiter)},
                  .cuts = p->attrs[ND4C_ATTR_string_split_maxsplit].as.i};
}

/* Counts parts; the most of any string is the last extent of the result. */
enum { PARTS_LIMIT = 1 << 28 };

static nd4c_status count_parts(nd4c_pending *p, const nd4c_string *strings, int64_t *counts, int64_t *most) {
  int64_t total = 0;
  *most = 0;
  for (int64_t i = 0; i < p->inputs[0]->size; i++) {
    cutter c = cutter_for(p, strings[i]);
    nd4c_string part;
    counts[i] = 0;
    while (cut(&c, &part)) {
      counts[i]++;
    }
    *most = counts[i] > *most ? counts[i] : *most;
  }
  /* One long string among many makes all rows long. */
  if (!nd4c_checked_multiply(*most, p->inputs[0]->size, &total) || total > PARTS_LIMIT) {
    return nd4c_fail(ND4C_OVERFLOW, "%s: %lld strings of up to %lld parts, expected at most %d parts in all",
                     p->def->info.name, (long long)p->inputs[0]->size, (long long)*most, (int)PARTS_LIMIT);
  }
  p->inferred[0].shape[p->inferred[0].rank - 1] = *most;
  return ND4C_OK;
}

static nd4c_status fill_parts(nd4c_pending *p, const nd4c_string *strings, int64_t most, nd4c_string_list *list) {
  for (int64_t i = 0; i < p->inputs[0]->size; i++) {
    cutter c = cutter_for(p, strings[i]);
    for (int64_t k = 0; k < most; k++) {
      nd4c_string part = {"", 0};
      if (!cut(&c, &part)) {
        part.length = 0;
      }
      ND4C_TRY(nd4c_string_list_add(list, part));
    }
  }
  return nd4c_string_list_take(list, p, 0);
}

nd4c_status nd4c_host_string_split(nd4c_pending *p) {
  nd4c_string *strings = NULL;
  nd4c_string_list list = {.count = 0};
  void *counts = NULL;
  int64_t most = 0;
  nd4c_status status = nd4c_strings_read(p, 0, &strings);
  if (status == ND4C_OK) {
    status = nd4c_numbers_make(p, 1, &counts);
  }
  if (status == ND4C_OK) {
    status = count_parts(p, strings, counts, &most);
  }
  if (status == ND4C_OK) {
    status = fill_parts(p, strings, most, &list);
  }
  nd4c_string_list_free(&list);
  return status;
}

/* -- string_normalizer -------------------------------------------------------------------------------------------- */

/* Stopwords, in lower case where case does not count. */
typedef struct stopwords {
  nd4c_string_list list;
  bool case_sensitive;
} stopwords;

static nd4c_string listed(const nd4c_string_list *list, int64_t number) {
  int64_t begin = number > 0 ? list->ends[number - 1] : 0;
  return (nd4c_string){list->bytes.bytes + begin, list->ends[number] - begin};
}

static nd4c_status read_stopwords(nd4c_pending *p, stopwords *words) {
  enum { WORDS = ND4C_IN_string_normalizer_stopwords };
  nd4c_string *strings = NULL;
  words->case_sensitive = p->attrs[ND4C_ATTR_string_normalizer_case_sensitive].as.i != 0;
  if (p->input_count <= WORDS || p->inputs[WORDS] == NULL) {
    return ND4C_OK;
  }
  nd4c_status status = nd4c_strings_read(p, WORDS, &strings);
  for (int64_t i = 0; status == ND4C_OK && i < p->inputs[WORDS]->size; i++) {
    if (words->case_sensitive) {
      nd4c_text_append(&words->list.bytes, strings[i].bytes, (size_t)strings[i].length);
    } else {
      nd4c_string_put_case(&words->list.bytes, strings[i], false);
    }
    status = nd4c_string_list_end(&words->list);
  }
  return status;
}

static nd4c_status is_stopword(const stopwords *words, nd4c_string string, bool *is) {
  nd4c_text lower = {NULL, 0, 0, false};
  *is = false;
  if (words->list.count == 0) {
    return ND4C_OK;
  }
  if (!words->case_sensitive) {
    nd4c_string_put_case(&lower, string, false);
    string = (nd4c_string){lower.bytes, (int64_t)lower.length};
  }
  bool failed = lower.failed;
  for (int64_t i = 0; !failed && i < words->list.count && !*is; i++) {
    *is = nd4c_string_compare(string, listed(&words->list, i)) == 0;
  }
  nd4c_text_free(&lower);
  return failed ? nd4c_fail_memory("a string", (size_t)string.length) : ND4C_OK;
}

static nd4c_status keep_strings(nd4c_pending *p, const stopwords *words, nd4c_string_list *list) {
  int64_t change = p->attrs[ND4C_ATTR_string_normalizer_change_case].as.i;
  nd4c_string *strings = NULL;
  nd4c_status status = nd4c_strings_read(p, 0, &strings);
  for (int64_t i = 0; status == ND4C_OK && i < p->inputs[0]->size; i++) {
    bool drop = false;
    status = is_stopword(words, strings[i], &drop);
    if (status == ND4C_OK && !drop) {
      if (change == ND4C_LETTER_CASE_NONE) {
        nd4c_text_append(&list->bytes, strings[i].bytes, (size_t)strings[i].length);
      } else {
        nd4c_string_put_case(&list->bytes, strings[i], change == ND4C_LETTER_CASE_UPPER);
      }
      status = nd4c_string_list_end(list);
    }
  }
  return status;
}

nd4c_status nd4c_host_string_normalizer(nd4c_pending *p) {
  stopwords words = {.case_sensitive = false};
  nd4c_string_list list = {.count = 0};
  nd4c_status status = read_stopwords(p, &words);
  if (status == ND4C_OK) {
    status = keep_strings(p, &words, &list);
  }
  if (status == ND4C_OK && list.count == 0) {
    status = nd4c_string_list_end(&list);
  }
  if (status == ND4C_OK) {
    p->inferred[0].shape[p->inferred[0].rank - 1] = list.count;
    status = nd4c_string_list_take(&list, p, 0);
  }
  nd4c_string_list_free(&list);
  nd4c_string_list_free(&words.list);
  return status;
}
