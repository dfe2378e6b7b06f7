/* Functions that ops on strings share: reading operands as lists on the host, and making results from lists. The files
 * of this folder include it. */
#ifndef ND4C_DISPATCH_TEXT_TEXT_H
#define ND4C_DISPATCH_TEXT_TEXT_H

#include "base/text.h"
#include "dispatch/host_ops.h"

/* One string; not NUL-terminated, borrowed from its array. */
typedef struct nd4c_string {
  const char *bytes;
  int64_t length;
} nd4c_string;

/* The strings of input `index` in C order, in the call's scratch. */
nd4c_status nd4c_strings_read(nd4c_pending *p, int32_t index, nd4c_string **strings);
/* The elements of a numeric input in C order, likewise. */
nd4c_status nd4c_numbers_read(nd4c_pending *p, int32_t index, void **numbers);
/* Below 0, 0 or above as strcmp says, by bytes: the order of code points. */
int nd4c_string_compare(nd4c_string a, nd4c_string b);

/* Sorts `count` items of `size` bytes, stably, by a comparison like qsort's. It takes memory from the call's scratch,
 * whereas qsort allocates for more than a kilobyte. */
nd4c_status nd4c_text_sort(nd4c_pending *p, void *items, int64_t count, size_t size,
                           int (*compare)(const void *, const void *));

/* Position, in C order, in input `index` of the element that is broadcast to element `number` of output 0. */
int64_t nd4c_broadcast_number(const nd4c_pending *p, int32_t index, int64_t number);

/* A list of strings under construction. Zero-initialised is empty. */
typedef struct nd4c_string_list {
  nd4c_text bytes;
  int64_t *ends;
  int64_t count, capacity;
} nd4c_string_list;
/* Ends the string whose bytes were appended to list->bytes since the previous string. */
nd4c_status nd4c_string_list_end(nd4c_string_list *list);
nd4c_status nd4c_string_list_add(nd4c_string_list *list, nd4c_string string);
/* Makes target `output` of as many strings as its inferred shape has. */
nd4c_status nd4c_string_list_take(const nd4c_string_list *list, nd4c_pending *p, int32_t output);
void nd4c_string_list_free(nd4c_string_list *list);
/* Frees the list, after output 0 was made of it if `status` is OK. */
nd4c_status nd4c_string_list_finish(nd4c_string_list *list, nd4c_pending *p, nd4c_status status);

/* Makes output 0 of the strings of input 0, each changed by a function that adds one string to the list. */
typedef nd4c_status (*nd4c_string_change)(nd4c_string_list *list, nd4c_string string, nd4c_op op);
nd4c_status nd4c_strings_change(nd4c_pending *p, nd4c_string_change change);

/* Makes target `output` of numbers, of the inferred dtype and shape, and gives its elements to be written. */
nd4c_status nd4c_numbers_make(nd4c_pending *p, int32_t output, void **data);

/* The code point at bytes[*at], which is UTF-8 (arrays hold nothing else); steps over it. */
uint32_t nd4c_string_next(nd4c_string string, int64_t *at);
void nd4c_string_put(nd4c_text *text, uint32_t code);
/* White space as defined by Unicode (and Python's str.split). */
bool nd4c_code_is_space(uint32_t code);
/* Appends a string in upper or lower case, by Unicode's simple, language-independent mapping of single code points. */
void nd4c_string_put_case(nd4c_text *text, nd4c_string string, bool upper);

#endif
