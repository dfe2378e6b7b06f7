/* Run-time libraries of file formats (pictures, JSON, zip), loaded when they are first needed. dispatch/image and io
 * load theirs here. */
#ifndef ND4C_DEVICE_STORAGE_CODEC_H
#define ND4C_DEVICE_STORAGE_CODEC_H

#include <stdbool.h>
#include <string.h>

#include "base/os_lock.h"
#include "nd4c/status.h"

/* A library that is loaded once, and the addresses of its symbols. */
enum { ND4C_CODEC_SYMBOLS = 28 };
typedef struct nd4c_codec {
  const char *file, *package; /* "libpng16.so.16", and the package that has it */
  const char *const *symbols; /* ends with NULL */
  nd4c_lock lock;
  bool loaded;
  void *addresses[ND4C_CODEC_SYMBOLS];
} nd4c_codec;
/* LIBRARY with a text that says what to install; SYMBOL. */
nd4c_status nd4c_codec_load(nd4c_codec *codec);
/* Sets a pointer to a function from the address of symbol `index`. */
#define ND4C_CODEC_GET(codec, index, pointer) memcpy(&(pointer), &(codec)->addresses[index], sizeof(pointer))

#endif
