/* Implements compile_request.h. graph/plan.c and import/model.c copy a program's request here; graph/plan and
 * dispatch/choice.c ask for the options of one compiler. */
#include "device/compile_request.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

static const char *const math_names[] = {"exact", "reorder", "fast", "reduced"};
enum { MATH_LEVELS = sizeof math_names / sizeof *math_names };

/* -- checking ----------------------------------------------------------------------------------------------------- */

static bool is_key(const char *key) {
  size_t length = 0;
  while (key[length] > ' ' && key[length] <= '~' && key[length] != '=' && length < ND4C_COMPILE_KEY_SIZE) {
    length++;
  }
  return length > 0 && length < ND4C_COMPILE_KEY_SIZE && key[length] == '\0';
}

static bool is_value(const char *value) {
  size_t length = 0;
  while ((unsigned char)value[length] >= ' ' && value[length] != '\x7f' && length < ND4C_COMPILE_VALUE_SIZE) {
    length++;
  }
  return length < ND4C_COMPILE_VALUE_SIZE && value[length] == '\0';
}

static nd4c_status check_option(const char *function, const nd4c_compile_option *options, int32_t index) {
  const char *key = options[index].key, *value = options[index].value;
  if (key == NULL || value == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: compile option %d has no %s", function, index,
                     key == NULL ? "key" : "value");
  }
  if (!is_key(key)) {
    return nd4c_fail(ND4C_ARGUMENT,
                     "%s: compile option %d: expected a key of 1 to %d printable characters of ASCII, without spaces "
                     "and '='",
                     function, index, ND4C_COMPILE_KEY_SIZE - 1);
  }
  if (!is_value(value)) {
    return nd4c_fail(ND4C_ARGUMENT,
                     "%s: compile option '%s': expected a value of at most %d bytes without control characters",
                     function, key, ND4C_COMPILE_VALUE_SIZE - 1);
  }
  for (int32_t i = 0; i < index; i++) {
    if (strcmp(options[i].key, key) == 0) {
      return nd4c_fail(ND4C_ARGUMENT, "%s: compile option '%s' is given twice", function, key);
    }
  }
  return ND4C_OK;
}

static nd4c_status check(const char *function, const nd4c_compile_request *request) {
  if (!ND4C_HAS_FIELD(request, option_count)) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: compile.struct_size is %u: set it to sizeof(nd4c_compile_request)", function,
                     request->struct_size);
  }
  if (request->math < 0 || request->math >= MATH_LEVELS) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: compile.math is %d, expected an nd4c_math: 0 to %d", function, request->math,
                     MATH_LEVELS - 1);
  }
  if (request->memory_bytes < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: compile.memory_bytes is %lld, expected 0 (no limit) or more", function,
                     (long long)request->memory_bytes);
  }
  if (request->option_count < 0 || request->option_count > ND4C_COMPILE_OPTION_LIMIT) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d compile options, expected 0 to %d", function, request->option_count,
                     ND4C_COMPILE_OPTION_LIMIT);
  }
  if (request->option_count > 0 && request->options == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: compile.options is NULL", function);
  }
  for (int32_t i = 0; i < request->option_count; i++) {
    ND4C_TRY(check_option(function, request->options, i));
  }
  return ND4C_OK;
}

/* -- copying ------------------------------------------------------------------------------------------------------ */

static const char *put(char **at, const char *text) {
  const size_t size = strlen(text) + 1;
  char *begin = *at;
  memcpy(begin, text, size);
  *at += size;
  return begin;
}

nd4c_status nd4c_compile_request_copy(const char *function, const nd4c_compile_request *request,
                                      nd4c_compile_request **copy) {
  *copy = NULL;
  if (request == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(check(function, request));
  const size_t count = (size_t)request->option_count;
  size_t bytes = sizeof **copy + count * sizeof *request->options;
  for (size_t i = 0; i < count; i++) {
    bytes += strlen(request->options[i].key) + strlen(request->options[i].value) + 2;
  }
  nd4c_compile_request *made = nd4c_allocate(bytes);
  if (made == NULL) {
    return nd4c_fail_memory("compile options", bytes);
  }
  nd4c_compile_option *options = (nd4c_compile_option *)(made + 1);
  char *texts = (char *)(options + count);
  *made = *request;
  made->struct_size = ND4C_SIZE_OF(nd4c_compile_request);
  made->options = options;
  for (size_t i = 0; i < count; i++) {
    options[i].key = put(&texts, request->options[i].key);
    options[i].value = put(&texts, request->options[i].value);
  }
  *copy = made;
  return ND4C_OK;
}

/* -- telling ------------------------------------------------------------------------------------------------------ */

/* The key as the engine's compiler gets it; NULL: the compiler does not get it. */
static const char *key_for(const char *key, const char *engine) {
  const size_t length = strlen(engine);
  if (strncmp(key, engine, length) == 0 && key[length] == '.' && key[length + 1] != '\0') {
    return key + length + 1;
  }
  return strchr(key, '.') == NULL ? key : NULL;
}

nd4c_compile_options nd4c_compile_request_tell(const nd4c_compile_request *request, const nd4c_context *context,
                                               const nd4c_compiler *compiler, nd4c_compile_room *room) {
  nd4c_compile_options options = {.struct_size = ND4C_SIZE_OF(nd4c_compile_options),
                                  .deterministic = context->deterministic,
                                  .math = request != NULL ? request->math : ND4C_MATH_EXACT,
                                  .width = context->width,
                                  .memory_bytes = request != NULL ? request->memory_bytes : 0,
                                  .options = room->options};
  for (int32_t i = 0; request != NULL && i < request->option_count; i++) {
    const char *key = key_for(request->options[i].key, compiler->engine);
    if (key != NULL) {
      room->options[options.option_count++] = (nd4c_compile_option){key, request->options[i].value};
    }
  }
  return options;
}

bool nd4c_compile_request_reaches(const nd4c_compile_request *request, int32_t option, const nd4c_device *device) {
  int32_t count = 0;
  const nd4c_compiler *const *compilers = nd4c_device_compilers(device, &count);
  for (int32_t i = 0; i < count; i++) {
    if (key_for(request->options[option].key, compilers[i]->engine) != NULL) {
      return true;
    }
  }
  return false;
}

void nd4c_compile_request_print(const nd4c_compile_request *request, nd4c_text *text) {
  nd4c_text_print(text, "math %s", math_names[request->math]);
  if (request->memory_bytes > 0) {
    nd4c_text_print(text, ", at most %lld bytes", (long long)request->memory_bytes);
  }
  for (int32_t i = 0; i < request->option_count; i++) {
    nd4c_text_print(text, ", %s=%s", request->options[i].key, request->options[i].value);
  }
}
