/* JSON by cJSON, which is loaded when it is first needed. The reader and the writer of .safetensors use it. */
#ifndef ND4C_IO_JSON_H
#define ND4C_IO_JSON_H

#include "io/span.h"
#include "nd4c/status.h"

/* Of cJSON.h: a value; members and items are a list from `child` on. */
typedef struct nd4c_json {
  struct nd4c_json *next, *prev, *child;
  int type;
  char *text; /* of a string */
  int whole;
  double number;
  char *key; /* in an object */
} nd4c_json;
enum { ND4C_JSON_NUMBER = 8, ND4C_JSON_STRING = 16, ND4C_JSON_ARRAY = 32, ND4C_JSON_OBJECT = 64 };

/* Limit of values in a text: each takes about 80 bytes when parsed, however short it is. */
enum { ND4C_JSON_MOST = 1 << 22 };
/* An upper bound of the number of values in a text. */
size_t nd4c_json_count(nd4c_span text);
/* Parses one value, which only white space may follow. LIBRARY, MEMORY, FORMAT with the byte offset. */
nd4c_status nd4c_json_parse(nd4c_span text, nd4c_json **out);
/* NULL is fine. */
void nd4c_json_free(nd4c_json *value);

/* Make an empty object, and add a member: JSON text (`raw`) or a string. MEMORY, LIBRARY. */
nd4c_status nd4c_json_make_object(nd4c_json **out);
nd4c_status nd4c_json_add(nd4c_json *object, const char *key, const char *value, bool raw);
/* Adds `member` to an object, which takes it over. */
nd4c_status nd4c_json_add_object(nd4c_json *object, const char *key, nd4c_json *member);
/* Its text, to be freed with nd4c_deallocate. */
nd4c_status nd4c_json_print(const nd4c_json *value, char **text);

#endif
