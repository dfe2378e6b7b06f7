/* TIFF by libtiff, JPEG 2000 by OpenJPEG: libraries that read through callbacks. decode.c calls the decoders. */
#include <stdarg.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "dispatch/image/decode.h"

/* A file with its read position, and the library's message. */
typedef struct stream {
  nd4c_picture_bytes file;
  uint64_t at;
  char words[256];
} stream;

static size_t read_bytes(stream *s, void *to, size_t wanted) {
  size_t left = s->at < s->file.size ? s->file.size - (size_t)s->at : 0;
  size_t count = wanted < left ? wanted : left;
  if (count > 0) {
    memcpy(to, s->file.data + s->at, count);
    s->at += count;
  }
  return count;
}

/* -- TIFF --------------------------------------------------------------------------------------------------------- */

enum { TAG_WIDTH = 256, TAG_HEIGHT = 257, TOP_LEFT = 1 };
enum { OPEN, CLOSE, GET_FIELD, READ_RGBA, OPTIONS, FREE_OPTIONS, SET_ERRORS, SET_WARNINGS, SET_LIMIT };

static int64_t tiff_read(void *user, void *to, int64_t wanted) {
  return wanted < 0 ? -1 : (int64_t)read_bytes(user, to, (size_t)wanted);
}
static int64_t tiff_write(void *user, void *from, int64_t count) {
  (void)user, (void)from, (void)count;
  return -1;
}
static uint64_t tiff_seek(void *user, uint64_t offset, int whence) {
  stream *s = user;
  s->at = whence == SEEK_CUR ? s->at + offset : whence == SEEK_END ? s->file.size + offset : offset;
  return s->at;
}
static int tiff_close(void *user) {
  (void)user;
  return 0;
}
static uint64_t tiff_size(void *user) {
  return ((const stream *)user)->file.size;
}
static int tiff_map(void *user, void **base, uint64_t *size) {
  (void)user, (void)base, (void)size;
  return 0;
}
static void tiff_unmap(void *user, void *base, uint64_t size) {
  (void)user, (void)base, (void)size;
}
/* Keeps the library's messages from stderr. */
static int tiff_error(void *tiff, void *user, const char *module, const char *format, va_list arguments)
    ND4C_PRINTF(4, 0);
static int tiff_error(void *tiff, void *user, const char *module, const char *format, va_list arguments) {
  stream *s = user;
  (void)tiff, (void)module;
  (void)vsnprintf(s->words, sizeof s->words, format, arguments);
  return 1;
}
static int tiff_warning(void *tiff, void *user, const char *module, const char *format, va_list arguments)
    ND4C_PRINTF(4, 0);
static int tiff_warning(void *tiff, void *user, const char *module, const char *format, va_list arguments) {
  (void)tiff, (void)user, (void)module, (void)format, (void)arguments;
  return 1;
}

typedef int (*tiff_handler)(void *, void *, const char *, const char *, va_list);

static void *tiff_open(const nd4c_codec *codec, stream *s, void *options) {
  void *(*open)(const char *, const char *, void *, int64_t (*)(void *, void *, int64_t),
                int64_t (*)(void *, void *, int64_t), uint64_t (*)(void *, uint64_t, int), int (*)(void *),
                uint64_t (*)(void *), int (*)(void *, void **, uint64_t *), void (*)(void *, void *, uint64_t), void *);
  void (*set_errors)(void *, tiff_handler, void *);
  void (*set_warnings)(void *, tiff_handler, void *);
  void (*set_limit)(void *, int64_t);
  ND4C_CODEC_GET(codec, OPEN, open);
  ND4C_CODEC_GET(codec, SET_ERRORS, set_errors);
  ND4C_CODEC_GET(codec, SET_WARNINGS, set_warnings);
  ND4C_CODEC_GET(codec, SET_LIMIT, set_limit);
  set_errors(options, tiff_error, s);
  set_warnings(options, tiff_warning, s);
  set_limit(options, INT64_C(1) << 31);
  return open("image", "rm", s, tiff_read, tiff_write, tiff_seek, tiff_close, tiff_size, tiff_map, tiff_unmap, options);
}

static nd4c_status tiff_pixels(const nd4c_codec *codec, void *tiff, const stream *s, nd4c_picture *picture) {
  int (*get_field)(void *, uint32_t, ...);
  int (*read_rgba)(void *, uint32_t, uint32_t, uint32_t *, int, int);
  uint32_t width = 0, height = 0;
  ND4C_CODEC_GET(codec, GET_FIELD, get_field);
  ND4C_CODEC_GET(codec, READ_RGBA, read_rgba);
  if (get_field(tiff, TAG_WIDTH, &width) == 0 || get_field(tiff, TAG_HEIGHT, &height) == 0) {
    return nd4c_picture_fail("TIFF", "no extents");
  }
  ND4C_TRY(nd4c_picture_make(picture, width, height));
  size_t count = (size_t)width * height;
  uint32_t *raster = nd4c_work_take(picture->work, count, sizeof *raster);
  if (raster == NULL) {
    return nd4c_fail_memory("a picture", count * sizeof *raster);
  }
  bool read = read_rgba(tiff, width, height, raster, TOP_LEFT, 1) != 0;
  for (size_t i = 0; read && i < count; i++) {
    for (size_t c = 0; c < 3; c++) {
      picture->pixels[3 * i + c] = (uint8_t)(raster[i] >> (8 * c));
    }
  }
  return read ? ND4C_OK : nd4c_picture_fail("TIFF", s->words);
}

nd4c_status nd4c_decode_tiff(nd4c_picture_bytes file, nd4c_picture *picture) {
  static const char *const symbols[] = {"TIFFClientOpenExt",
                                        "TIFFClose",
                                        "TIFFGetField",
                                        "TIFFReadRGBAImageOriented",
                                        "TIFFOpenOptionsAlloc",
                                        "TIFFOpenOptionsFree",
                                        "TIFFOpenOptionsSetErrorHandlerExtR",
                                        "TIFFOpenOptionsSetWarningHandlerExtR",
                                        "TIFFOpenOptionsSetMaxSingleMemAlloc",
                                        NULL};
  static nd4c_codec codec = {"libtiff.so.6", "libtiff6", symbols, ND4C_LOCK_INIT, false, {NULL}};
  void *(*make_options)(void);
  void (*free_options)(void *), (*close_file)(void *);
  stream s = {.file = file};
  ND4C_TRY(nd4c_codec_load(&codec));
  ND4C_CODEC_GET(&codec, OPTIONS, make_options);
  ND4C_CODEC_GET(&codec, FREE_OPTIONS, free_options);
  ND4C_CODEC_GET(&codec, CLOSE, close_file);
  void *options = make_options();
  if (options == NULL) {
    return nd4c_fail_memory("a TIFF decoder", 1);
  }
  void *tiff = tiff_open(&codec, &s, options);
  nd4c_status status = tiff != NULL ? tiff_pixels(&codec, tiff, &s, picture) : nd4c_picture_fail("TIFF", s.words);
  if (tiff != NULL) {
    close_file(tiff);
  }
  free_options(options);
  return status;
}

/* -- JPEG 2000 ---------------------------------------------------------------------------------------------------- */

/* Of openjpeg.h 2.x. */
typedef struct jp2_component {
  uint32_t dx, dy, w, h, x0, y0, precision, bpp, is_signed, resolutions, factor;
  int32_t *data;
  uint16_t alpha;
} jp2_component;
typedef struct jp2_image {
  uint32_t x0, y0, x1, y1, count;
  int32_t color_space;
  jp2_component *components;
  uint8_t *profile;
  uint32_t profile_length;
} jp2_image;
enum { J2K = 0, JP2 = 2, SYCC = 3, EYCC = 4, CMYK = 5, PARAMETERS_SIZE = 16384, BUFFER_SIZE = 1 << 16 };
enum {
  JP2_CREATE,
  JP2_DEFAULTS,
  JP2_SETUP,
  JP2_STREAM,
  JP2_SET_READ,
  JP2_SET_SKIP,
  JP2_SET_SEEK,
  JP2_SET_USER,
  JP2_SET_LENGTH,
  JP2_HEADER,
  JP2_DECODE,
  JP2_STREAM_FREE,
  JP2_CODEC_FREE,
  JP2_IMAGE_FREE
};
static const char *const jp2_symbols[] = {"opj_create_decompress",
                                          "opj_set_default_decoder_parameters",
                                          "opj_setup_decoder",
                                          "opj_stream_create",
                                          "opj_stream_set_read_function",
                                          "opj_stream_set_skip_function",
                                          "opj_stream_set_seek_function",
                                          "opj_stream_set_user_data",
                                          "opj_stream_set_user_data_length",
                                          "opj_read_header",
                                          "opj_decode",
                                          "opj_stream_destroy",
                                          "opj_destroy_codec",
                                          "opj_image_destroy",
                                          NULL};
static nd4c_codec jp2 = {"libopenjp2.so.7", "libopenjp2-7", jp2_symbols, ND4C_LOCK_INIT, false, {NULL}};

static size_t jp2_read(void *to, size_t wanted, void *user) {
  size_t count = read_bytes(user, to, wanted);
  return count > 0 ? count : SIZE_MAX;
}
static int64_t jp2_skip(int64_t count, void *user) {
  stream *s = user;
  s->at = count < 0 && (uint64_t)-count > s->at ? 0 : s->at + (uint64_t)count;
  return count;
}
static int jp2_seek(int64_t offset, void *user) {
  ((stream *)user)->at = offset < 0 ? 0 : (uint64_t)offset;
  return 1;
}

static void *jp2_open(stream *s) {
  void *(*create)(size_t, int);
  void (*set_read)(void *, size_t (*)(void *, size_t, void *));
  void (*set_skip)(void *, int64_t (*)(int64_t, void *));
  void (*set_seek)(void *, int (*)(int64_t, void *));
  void (*set_user)(void *, void *, void (*)(void *));
  void (*set_length)(void *, uint64_t);
  ND4C_CODEC_GET(&jp2, JP2_STREAM, create);
  ND4C_CODEC_GET(&jp2, JP2_SET_READ, set_read);
  ND4C_CODEC_GET(&jp2, JP2_SET_SKIP, set_skip);
  ND4C_CODEC_GET(&jp2, JP2_SET_SEEK, set_seek);
  ND4C_CODEC_GET(&jp2, JP2_SET_USER, set_user);
  ND4C_CODEC_GET(&jp2, JP2_SET_LENGTH, set_length);
  void *opened = create(BUFFER_SIZE, 1);
  if (opened != NULL) {
    set_read(opened, jp2_read);
    set_skip(opened, jp2_skip);
    set_seek(opened, jp2_seek);
    set_user(opened, s, NULL);
    set_length(opened, s->file.size);
  }
  return opened;
}

/* A component's sample as 8 bits. */
static uint8_t jp2_sample(const jp2_component *component, size_t at) {
  int64_t value = component->data[at] + (component->is_signed != 0 ? INT64_C(1) << (component->precision - 1) : 0);
  value =
      component->precision > 8 ? value >> (component->precision - 8) : value * 255 / ((1 << component->precision) - 1);
  return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static nd4c_status jp2_pixels(const jp2_image *image, nd4c_picture *picture) {
  uint32_t colors = image->count < 3 ? 1 : 3;
  for (uint32_t c = 0; c < colors; c++) {
    const jp2_component *component = &image->components[c];
    if (component->data == NULL || component->w != image->components[0].w || component->h != image->components[0].h ||
        component->precision < 1 || component->precision > 31) {
      return nd4c_fail(ND4C_UNSUPPORTED, "JPEG 2000: components of different extents");
    }
  }
  ND4C_TRY(nd4c_picture_make(picture, image->components[0].w, image->components[0].h));
  for (size_t i = 0; i < (size_t)(picture->width * picture->height); i++) {
    for (uint32_t c = 0; c < 3; c++) {
      picture->pixels[3 * i + c] = jp2_sample(&image->components[colors == 3 ? c : 0], i);
    }
  }
  return ND4C_OK;
}

static nd4c_status jp2_decode(void *codec, void *opened, nd4c_picture *picture) {
  int (*read_header)(void *, void *, jp2_image **);
  int (*decode)(void *, void *, jp2_image *);
  void (*free_image)(jp2_image *);
  jp2_image *image = NULL;
  ND4C_CODEC_GET(&jp2, JP2_HEADER, read_header);
  ND4C_CODEC_GET(&jp2, JP2_DECODE, decode);
  ND4C_CODEC_GET(&jp2, JP2_IMAGE_FREE, free_image);
  nd4c_status status = ND4C_OK;
  if (read_header(opened, codec, &image) == 0 || image == NULL || image->count < 1 || image->components == NULL) {
    status = nd4c_picture_fail("JPEG 2000", "no header");
  } else if (image->color_space == SYCC || image->color_space == EYCC || image->color_space == CMYK) {
    status = nd4c_fail(ND4C_UNSUPPORTED, "JPEG 2000: colours other than grey and RGB");
  } else { /* the extents are checked before the pixels are made */
    status = nd4c_picture_check(image->components[0].w, image->components[0].h);
  }
  if (status == ND4C_OK && decode(codec, opened, image) == 0) {
    status = nd4c_picture_fail("JPEG 2000", NULL);
  }
  if (status == ND4C_OK) {
    status = jp2_pixels(image, picture);
  }
  if (image != NULL) {
    free_image(image);
  }
  return status;
}

nd4c_status nd4c_decode_jpeg2000(nd4c_picture_bytes file, nd4c_picture *picture) {
  void *(*create)(int);
  void (*defaults)(void *), (*free_codec)(void *), (*free_stream)(void *);
  int (*setup)(void *, void *);
  union {
    uint64_t aligned;
    char bytes[PARAMETERS_SIZE]; /* opj_dparameters_t is smaller; only the library reads it */
  } parameters;
  stream s = {.file = file};
  ND4C_TRY(nd4c_codec_load(&jp2));
  ND4C_CODEC_GET(&jp2, JP2_CREATE, create);
  ND4C_CODEC_GET(&jp2, JP2_DEFAULTS, defaults);
  ND4C_CODEC_GET(&jp2, JP2_SETUP, setup);
  ND4C_CODEC_GET(&jp2, JP2_CODEC_FREE, free_codec);
  ND4C_CODEC_GET(&jp2, JP2_STREAM_FREE, free_stream);
  void *codec = create(file.data[0] == 0xFF ? J2K : JP2), *opened = jp2_open(&s);
  nd4c_status status = nd4c_fail_memory("a JPEG 2000 decoder", 1);
  if (codec != NULL && opened != NULL) {
    memset(&parameters, 0, sizeof parameters);
    defaults(&parameters);
    status = setup(codec, &parameters) != 0 ? jp2_decode(codec, opened, picture) : nd4c_picture_fail("JPEG 2000", NULL);
  }
  if (opened != NULL) {
    free_stream(opened);
  }
  if (codec != NULL) {
    free_codec(codec);
  }
  return status;
}
