/* Cases that need a library which is not on every machine: main.c skips them where it is missing. The system's loader
 * is asked, not nd4c, so that a case fails if nd4c does not find a library that is there. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "onnx_cases.h"

static const struct {
  const char *name, *library;
} needs[] = {{"node/test_image_decoder_decode_jpeg_rgb", "libturbojpeg.so.0"},
             {"node/test_image_decoder_decode_jpeg_bgr", "libturbojpeg.so.0"},
             {"node/test_image_decoder_decode_jpeg_grayscale", "libturbojpeg.so.0"},
             {"node/test_image_decoder_decode_jpeg2k_rgb", "libopenjp2.so.7"}};
enum { NEEDS = sizeof needs / sizeof needs[0] };

const char *case_lacks(const char *name) {
  for (int i = 0; i < NEEDS; i++) {
    if (strcmp(needs[i].name, name) == 0) {
      void *library = dlopen(needs[i].library, RTLD_LAZY | RTLD_LOCAL);
      if (library == NULL) {
        return needs[i].library;
      }
      (void)dlclose(library);
    }
  }
  return NULL;
}

const char *case_needs_at(int index) {
  return index < NEEDS ? needs[index].name : NULL;
}
