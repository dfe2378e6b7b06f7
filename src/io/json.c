/* Implements json.h: loads cJSON, and refuses texts that cJSON would truncate. safetensors.c and safetensors_write.c
 * call it. */
#include "io/json.h"

#include "base/alloc.h"
#include "base/status.h"
#include "device/storage/codec.h"

/* X(result, name, arguments): all functions of the library that nd4c uses. */
#define JSON_FUNCTIONS(X)                                                               \
  X(nd4c_json *, cJSON_ParseWithLengthOpts, (const char *, size_t, const char **, int)) \
  X(void, cJSON_Delete, (nd4c_json *))                                                  \
  X(nd4c_json *, cJSON_CreateObject, (void))                                            \
  X(nd4c_json *, cJSON_CreateString, (const char *))                                    \
  X(nd4c_json *, cJSON_CreateRaw, (const char *))                                       \
  X(int, cJSON_AddItemToObject, (nd4c_json *, const char *, nd4c_json *))               \
  X(char *, cJSON_PrintUnformatted, (const nd4c_json *))                                \
  X(void, cJSON_free, (void *))

#define JSON_FIELD(result, name, arguments) result(*name) arguments;
#define JSON_NAME(result, name, arguments) #name,

typedef struct json_api {
  JSON_FUNCTIONS(JSON_FIELD)
} json_api;

_Static_assert(sizeof(json_api) < ND4C_CODEC_SYMBOLS * sizeof(void *), "a codec has room for cJSON's functions");

static nd4c_status load(json_api *api) {
  static const char *const symbols[] = {JSON_FUNCTIONS(JSON_NAME) NULL};
  static nd4c_codec codec = {"libcjson.so.1", "libcjson1", symbols, ND4C_LOCK_INIT, false, {NULL}};
  ND4C_TRY(nd4c_codec_load(&codec));
  memcpy(api, codec.addresses, sizeof *api);
  return ND4C_OK;
}

size_t nd4c_json_count(nd4c_span text) {
  size_t count = 1;
  bool quoted = false;
  for (size_t at = 0; at < text.size; at += text.bytes[at] == '\\' ? 2 : 1) {
    unsigned char byte = text.bytes[at];
    quoted = quoted != (byte == '"');
    count += !quoted && (byte == ',' || byte == '[' || byte == '{');
  }
  return count;
}

/* Refuses texts with a NUL, as a byte or escaped, which cJSON would accept and truncate. */
static nd4c_status check_text(nd4c_span text) {
  static const char escaped[] = "\\u0000";
  enum { ESCAPED = sizeof escaped - 1 };
  if (!nd4c_span_is_text(text)) {
    return nd4c_fail(ND4C_FORMAT, "JSON of %zu bytes that are not UTF-8 without NUL", text.size);
  }
  for (size_t at = 0; at < text.size; at += text.bytes[at] == '\\' ? 2 : 1) {
    if (text.size - at >= ESCAPED && memcmp(text.bytes + at, escaped, ESCAPED) == 0) {
      return nd4c_fail(ND4C_FORMAT, "JSON with %s at byte %zu, expected texts without NUL", escaped, at);
    }
  }
  return ND4C_OK;
}

/* cJSON does not distinguish malformed text from exhausted memory, so the memory is allocated and freed beforehand as a
 * test. */
static nd4c_status check_memory(nd4c_span text) {
  enum { HEAP_ROW = 2 * sizeof(void *) };
  size_t count = nd4c_json_count(text);
  if (count > ND4C_JSON_MOST) {
    return nd4c_fail(ND4C_FORMAT, "JSON of %zu values, expected at most %d", count, (int)ND4C_JSON_MOST);
  }
  size_t bytes = count * (sizeof(nd4c_json) + HEAP_ROW) + text.size;
  void *probe = nd4c_allocate(bytes);
  if (probe == NULL) {
    return nd4c_fail_memory("JSON", bytes);
  }
  nd4c_deallocate(probe);
  return ND4C_OK;
}

static nd4c_status parse(const json_api *api, nd4c_span text, nd4c_json **out) {
  const char *begin = (const char *)text.bytes, *end = begin;
  nd4c_json *value = api->cJSON_ParseWithLengthOpts(begin, text.size, &end, 0);
  if (value == NULL) {
    return nd4c_fail(ND4C_FORMAT, "JSON is malformed at byte %zu of %zu", (size_t)(end - begin), text.size);
  }
  size_t at = (size_t)(end - begin);
  while (at < text.size && memchr(" \t\r\n", text.bytes[at], 4) != NULL) {
    at++;
  }
  if (at < text.size) {
    api->cJSON_Delete(value);
    return nd4c_fail(ND4C_FORMAT, "JSON has %zu bytes after its end at byte %zu, expected spaces", text.size - at, at);
  }
  *out = value;
  return ND4C_OK;
}

nd4c_status nd4c_json_parse(nd4c_span text, nd4c_json **out) {
  json_api api;
  ND4C_TRY(load(&api));
  ND4C_TRY(check_text(text));
  ND4C_TRY(check_memory(text));
  return parse(&api, text, out);
}

void nd4c_json_free(nd4c_json *value) {
  json_api api;
  if (value != NULL && load(&api) == ND4C_OK) {
    api.cJSON_Delete(value);
  }
}

nd4c_status nd4c_json_make_object(nd4c_json **out) {
  json_api api;
  ND4C_TRY(load(&api));
  *out = api.cJSON_CreateObject();
  return *out != NULL ? ND4C_OK : nd4c_fail_memory("JSON", sizeof **out);
}

nd4c_status nd4c_json_add_object(nd4c_json *object, const char *key, nd4c_json *member) {
  json_api api;
  ND4C_TRY(load(&api));
  if (member == NULL || api.cJSON_AddItemToObject(object, key, member) == 0) {
    api.cJSON_Delete(member);
    return nd4c_fail_memory("JSON", sizeof *member + strlen(key));
  }
  return ND4C_OK;
}

nd4c_status nd4c_json_add(nd4c_json *object, const char *key, const char *value, bool raw) {
  json_api api;
  ND4C_TRY(load(&api));
  return nd4c_json_add_object(object, key, raw ? api.cJSON_CreateRaw(value) : api.cJSON_CreateString(value));
}

nd4c_status nd4c_json_print(const nd4c_json *value, char **text) {
  json_api api;
  ND4C_TRY(load(&api));
  char *printed = api.cJSON_PrintUnformatted(value);
  *text = printed == NULL ? NULL : nd4c_duplicate_text(printed);
  api.cJSON_free(printed);
  return *text != NULL ? ND4C_OK : nd4c_fail_memory("JSON", 1);
}
