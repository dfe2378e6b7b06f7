/* Requests to compilers (nd4c/compile.h): checks and copies them, and selects the options of each compiler. Plans
 * (graph) and models (import) copy their requests with it; dispatch/choice.c and graph/plan tell compilers. */
#ifndef ND4C_DEVICE_COMPILE_REQUEST_H
#define ND4C_DEVICE_COMPILE_REQUEST_H

#include "base/text.h"
#include "device/context/context.h"
#include "nd4c/compile.h"
#include "nd4c/plugin/compiler.h"

/* A checked copy in one block, freed with nd4c_deallocate; *copy is NULL for NULL. ARGUMENT, NULL_ARGUMENT, MEMORY;
 * `function` begins the text. */
nd4c_status nd4c_compile_request_copy(const char *function, const nd4c_compile_request *request,
                                      nd4c_compile_request **copy);

/* The options for one compiler. They are written to `room`; keys and values belong to the request (NULL: none). */
typedef struct nd4c_compile_room {
  nd4c_compile_option options[ND4C_COMPILE_OPTION_LIMIT];
} nd4c_compile_room;
nd4c_compile_options nd4c_compile_request_tell(const nd4c_compile_request *request, const nd4c_context *context,
                                               const nd4c_compiler *compiler, nd4c_compile_room *room);

/* Whether any compiler of the device gets the option. */
bool nd4c_compile_request_reaches(const nd4c_compile_request *request, int32_t option, const nd4c_device *device);
/* "math fast, at most 1000 bytes, LEVEL=3". */
void nd4c_compile_request_print(const nd4c_compile_request *request, nd4c_text *text);

#endif
