/* Implements zip.h: loads minizip and lets it read and write bytes in memory. npz.c calls it. */
#include "io/zip.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/storage/codec.h"
#include "io/minizip.h"

_Static_assert(sizeof(minizip_api) < ND4C_CODEC_SYMBOLS * sizeof(void *), "a codec has room for minizip's functions");

/* ENTRY_LEAST: bytes of the header and the record of an entry, without its name and contents. DEFLATE_RATIO: the most
 * bytes that a deflated byte can unpack to (zlib.net, "Maximum Compression Factor"). NAME_MOST: the longest name.
 * CHUNK: the longest read by minizip. */
enum { ENTRY_LEAST = 30 + 46, DEFLATE_RATIO = 1032, NAME_MOST = 0xffff, CHUNK = 1 << 30 };

static nd4c_status load(minizip_api *api) {
  static const char *const symbols[] = {MINIZIP_FUNCTIONS(MINIZIP_NAME) NULL};
  static nd4c_codec codec = {"libminizip.so.1", "libminizip1", symbols, ND4C_LOCK_INIT, false, {NULL}};
  ND4C_TRY(nd4c_codec_load(&codec));
  memcpy(api, codec.addresses, sizeof *api);
  return ND4C_OK;
}

static nd4c_status fail(int code, const char *what, const char *shown) {
  if (code == MINIZIP_NO_MEMORY || code == MINIZIP_ZLIB_NO_MEMORY) {
    return nd4c_fail_memory("a zip archive", 1);
  }
  return nd4c_fail(ND4C_FORMAT, "zip %s%s is damaged: %s (minizip %d)", what, shown,
                   code == MINIZIP_WRONG_CRC ? "its checksum is another" : "it is not as its records say", code);
}

/* -- the bytes as minizip sees them -------------------------------------------------------------------------------- */

typedef struct zip_source {
  nd4c_span file;
  size_t at;
  bool cut; /* the last read went past the end */
} zip_source;

static void *open_stream(void *user, const void *path, int mode) {
  (void)path;
  (void)mode;
  return user;
}

static int close_stream(void *user, void *stream) {
  (void)user;
  (void)stream;
  return 0;
}

/* Sums are modulo 2^64, so negative offsets work; the result is checked. */
static long seek_to(size_t *at, size_t size, uint64_t offset, int origin) {
  uint64_t to = offset + (origin == MINIZIP_SEEK_SET ? 0 : origin == MINIZIP_SEEK_CUR ? *at : size);
  if (to > size) {
    return -1;
  }
  *at = (size_t)to;
  return 0;
}

static unsigned long source_read(void *user, void *stream, void *to, unsigned long size) {
  zip_source *source = stream;
  size_t left = source->file.size - source->at, taken = size < left ? size : left;
  (void)user;
  source->cut = taken < size;
  if (taken > 0) {
    memcpy(to, source->file.bytes + source->at, taken);
    source->at += taken;
  }
  return taken;
}

static unsigned long source_write(void *user, void *stream, const void *from, unsigned long size) {
  (void)user;
  (void)stream;
  (void)from;
  (void)size;
  return 0;
}

/* Without this minizip reads numbers past the end as 0. */
static int source_error(void *user, void *stream) {
  (void)user;
  return ((const zip_source *)stream)->cut;
}

static uint64_t source_tell(void *user, void *stream) {
  (void)user;
  return ((zip_source *)stream)->at;
}

static long source_seek(void *user, void *stream, uint64_t offset, int origin) {
  zip_source *source = stream;
  (void)user;
  return seek_to(&source->at, source->file.size, offset, origin);
}

/* -- reading ------------------------------------------------------------------------------------------------------- */

static nd4c_status open_source(const minizip_api *api, zip_source *source, void **handle) {
  minizip_stream stream = {open_stream, source_read,  source_write, source_tell,
                           source_seek, close_stream, source_error, source};
  *handle = api->unzOpen2_64(NULL, &stream);
  return *handle != NULL ? ND4C_OK
                         : nd4c_fail(ND4C_FORMAT, "no zip archive: %zu bytes without a whole directory at their end",
                                     source->file.size);
}

static nd4c_status check_info(const minizip_info *info, const char *shown, size_t file_size) {
  if ((info->flag & MINIZIP_ENCRYPTED) != 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "zip entry %s: encrypted, expected one that is not", shown);
  }
  if (info->method != MINIZIP_STORED && info->method != MINIZIP_DEFLATED) {
    return nd4c_fail(ND4C_UNSUPPORTED, "zip entry %s: compression %lu, expected stored (0) or deflated (8)", shown,
                     info->method);
  }
  bool deflated = info->method == MINIZIP_DEFLATED;
  if (info->packed > file_size || (deflated ? info->size / DEFLATE_RATIO > info->packed : info->size != info->packed)) {
    return nd4c_fail(ND4C_FORMAT, "zip entry %s: %" PRIu64 " bytes in %" PRIu64 " of a file of %zu, which cannot be",
                     shown, info->size, info->packed, file_size);
  }
  return ND4C_OK;
}

/* Reads the current entry. *room is the part of the file that earlier entries have not claimed, so bytes that several
 * entries claim are detected. */
static nd4c_status visit_entry(const minizip_api *api, void *handle, size_t file_size, uint64_t *room, char *name,
                               nd4c_zip_visit *visit, void *user) {
  minizip_info info;
  minizip_place place;
  int code = api->unzGetCurrentFileInfo64(handle, &info, name, NAME_MOST, NULL, 0, NULL, 0);
  if (code == MINIZIP_OK) {
    code = api->unzGetFilePos64(handle, &place);
  }
  if (code != MINIZIP_OK) {
    return fail(code, "archive", "'s directory");
  }
  nd4c_span span = {(const unsigned char *)name, info.name_size};
  nd4c_span_text shown = nd4c_span_show(span);
  ND4C_TRY(check_info(&info, shown.text, file_size));
  uint64_t taken = info.packed + 2 * info.name_size + ENTRY_LEAST;
  if (taken > *room) {
    return nd4c_fail(ND4C_FORMAT,
                     "zip entry %s: takes %" PRIu64 " bytes where %" PRIu64 " are left of the file: entries overlap",
                     shown.text, taken, *room);
  }
  *room -= taken;
  return visit(user, span,
               &(nd4c_zip_entry){place.in_directory, place.number, (size_t)info.size, info.method == MINIZIP_DEFLATED});
}

static nd4c_status list(const minizip_api *api, void *handle, nd4c_span file, char *name,
                        nd4c_status (*begin)(void *user, int64_t count), nd4c_zip_visit *visit, void *user) {
  minizip_directory directory = {0};
  uint64_t room = file.size;
  int code = api->unzGetGlobalInfo64(handle, &directory);
  if (code != MINIZIP_OK || directory.count > file.size / ENTRY_LEAST) {
    return nd4c_fail(ND4C_FORMAT, "zip archive: a directory of %" PRIu64 " entries in %zu bytes", directory.count,
                     file.size);
  }
  ND4C_TRY(begin(user, (int64_t)directory.count));
  for (uint64_t i = 0; i < directory.count; i++) {
    code = i == 0 ? MINIZIP_OK : api->unzGoToNextFile(handle);
    if (code != MINIZIP_OK) {
      return fail(code, "archive", "'s directory");
    }
    ND4C_TRY(visit_entry(api, handle, file.size, &room, name, visit, user));
  }
  return ND4C_OK;
}

nd4c_status nd4c_zip_list(nd4c_span file, nd4c_status (*begin)(void *user, int64_t count), nd4c_zip_visit *visit,
                          void *user) {
  /* An empty archive as all programs write it; minizip does not find an end record at byte 0. */
  static const unsigned char empty[22] = {'P', 'K', 5, 6};
  minizip_api api;
  zip_source source = {.file = file};
  void *handle = NULL;
  if (nd4c_span_equal(file, (nd4c_span){empty, sizeof empty})) {
    return begin(user, 0);
  }
  ND4C_TRY(load(&api));
  char *name = nd4c_allocate(NAME_MOST);
  if (name == NULL) {
    return nd4c_fail_memory("a zip entry's name", NAME_MOST);
  }
  nd4c_status status = open_source(&api, &source, &handle);
  if (status == ND4C_OK) {
    status = list(&api, handle, file, name, begin, visit, user);
    (void)api.unzClose(handle);
  }
  nd4c_deallocate(name);
  return status;
}

/* Reads the current entry and closes it, which checks the checksum. */
static nd4c_status read_current(const minizip_api *api, void *handle, unsigned char *to, size_t size) {
  size_t at = 0;
  int got = api->unzOpenCurrentFile(handle);
  if (got != MINIZIP_OK) {
    return fail(got, "entry", "");
  }
  do {
    got = at == size ? 0 : api->unzReadCurrentFile(handle, to + at, (unsigned)(size - at < CHUNK ? size - at : CHUNK));
    at += got > 0 ? (size_t)got : 0;
  } while (got > 0);
  int closed = api->unzCloseCurrentFile(handle);
  return at == size && closed == MINIZIP_OK ? ND4C_OK : fail(got < 0 ? got : closed, "entry", "");
}

nd4c_status nd4c_zip_read(nd4c_span file, const nd4c_zip_entry *entry, void *to, size_t size) {
  minizip_api api;
  zip_source source = {.file = file};
  void *handle = NULL;
  ND4C_TRY(load(&api));
  ND4C_TRY(open_source(&api, &source, &handle));
  int code = api.unzGoToFilePos64(handle, &(minizip_place){entry->in_directory, entry->number});
  nd4c_status status = code == MINIZIP_OK ? read_current(&api, handle, to, size) : fail(code, "entry", "");
  (void)api.unzClose(handle);
  return status;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */

static unsigned long target_read(void *user, void *stream, void *to, unsigned long size) {
  (void)user;
  (void)stream;
  (void)to;
  (void)size;
  return 0;
}

/* minizip seeks back to fill in sizes and checksums. Exhausted memory is reported at the end (check_written), because
 * minizip leaks if a write fails. */
static unsigned long target_write(void *user, void *stream, const void *from, unsigned long size) {
  nd4c_zip_writer *writer = stream;
  (void)user;
  if (!writer->file.failed) {
    size_t old = writer->file.length - writer->at, over = size < old ? size : old;
    if (over > 0) {
      memcpy(writer->file.bytes + writer->at, from, over);
    }
    nd4c_text_append(&writer->file, (const char *)from + over, size - over);
  }
  writer->at += size;
  return size;
}

static uint64_t target_tell(void *user, void *stream) {
  (void)user;
  return ((nd4c_zip_writer *)stream)->at;
}

static long target_seek(void *user, void *stream, uint64_t offset, int origin) {
  nd4c_zip_writer *writer = stream;
  (void)user;
  return writer->file.failed ? 0 : seek_to(&writer->at, writer->file.length, offset, origin);
}

static nd4c_status open_target(const minizip_api *api, nd4c_zip_writer *writer) {
  minizip_stream stream = {open_stream, target_read,  target_write, target_tell,
                           target_seek, close_stream, close_stream, writer};
  if (writer->handle == NULL) {
    writer->handle = api->zipOpen2_64(NULL, 0, NULL, &stream);
  }
  return writer->handle != NULL ? ND4C_OK : nd4c_fail_memory("a zip archive", 1);
}

/* Writing to memory fails only if memory is exhausted. */
static nd4c_status check_written(const nd4c_zip_writer *writer, int code) {
  return code == MINIZIP_OK && !writer->file.failed ? ND4C_OK : nd4c_fail_memory("a zip archive", writer->file.length);
}

static nd4c_status add(const minizip_api *api, nd4c_zip_writer *writer, const char *name, nd4c_span bytes,
                       bool compressed) {
  /* 1 January 1980, so that equal arrays give equal files; made by Unix; version needed to extract; permissions. */
  enum { DATE = (1 << 5 | 1) << 16, VERSION = 3 << 8 | 45, ATTRIBUTES = 0600 << 16 };
  /* zlib's defaults. */
  enum { LEVEL = -1, WINDOW_BITS = -15, MEMORY_LEVEL = 8 };
  const minizip_new_file info = {.date = DATE, .external_attributes = ATTRIBUTES};
  int code = api->zipOpenNewFileInZip4_64(writer->handle, name, &info, NULL, 0, NULL, 0, NULL,
                                          compressed ? MINIZIP_DEFLATED : MINIZIP_STORED, LEVEL, 0, WINDOW_BITS,
                                          MEMORY_LEVEL, 0, NULL, 0, VERSION, MINIZIP_UTF8, 1);
  for (size_t at = 0; at < bytes.size && code == MINIZIP_OK; at += CHUNK) {
    size_t left = bytes.size - at;
    code = api->zipWriteInFileInZip(writer->handle, bytes.bytes + at, (unsigned)(left < CHUNK ? left : CHUNK));
  }
  if (code == MINIZIP_OK) {
    code = api->zipCloseFileInZip(writer->handle);
  }
  return check_written(writer, code);
}

nd4c_status nd4c_zip_add(nd4c_zip_writer *writer, const char *name, const char *ending, nd4c_span bytes,
                         bool compressed) {
  minizip_api api;
  nd4c_text whole = {0};
  if (strlen(name) + strlen(ending) > NAME_MOST) {
    return nd4c_fail(ND4C_ARGUMENT, "the name %s has %zu bytes, expected at most %zu",
                     nd4c_span_show(nd4c_span_of_text(name)).text, strlen(name), NAME_MOST - strlen(ending));
  }
  ND4C_TRY(load(&api));
  ND4C_TRY(open_target(&api, writer));
  nd4c_text_print(&whole, "%s%s", name, ending);
  nd4c_status status =
      whole.failed ? nd4c_fail_memory("a name", strlen(name)) : add(&api, writer, whole.bytes, bytes, compressed);
  nd4c_text_free(&whole);
  return status;
}

nd4c_status nd4c_zip_finish(nd4c_zip_writer *writer) {
  minizip_api api;
  ND4C_TRY(load(&api));
  ND4C_TRY(open_target(&api, writer));
  int code = api.zipClose(writer->handle, NULL);
  writer->handle = NULL;
  return check_written(writer, code);
}

void nd4c_zip_writer_free(nd4c_zip_writer *writer) {
  minizip_api api;
  if (writer->handle != NULL && load(&api) == ND4C_OK) {
    (void)api.zipClose(writer->handle, NULL);
  }
  writer->handle = NULL;
  nd4c_text_free(&writer->file);
}
