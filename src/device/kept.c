/* Executables that outlive the process: those in a file that was compiled ahead of time, and the cache, a directory
 * with one file for each executable, named by the piece's identity, its compiler and the fingerprint. compiled.c asks
 * for each new piece here; graph/ahead.c writes files ahead of time. Files of the cache are checked like any other
 * input; an unusable file is logged, and the piece is compiled again. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/config/log.h"
#include "base/os.h"
#include "base/status.h"
#include "device/compiled.h"
#include "device/driver.h"

enum { PATH_SIZE = 4096 };

/* A piece with the identity by which files name it. */
typedef struct piece {
  const nd4c_compiler *compiler;
  void *handle; /* of the device or target */
  const nd4c_segment *segment;
  const nd4c_compile_options *options;
  nd4c_digest identity;
  char fingerprint[ND4C_FINGERPRINT_SIZE];
} piece;

/* -- names -------------------------------------------------------------------------------------------------------- */

static nd4c_status take_fingerprint(piece *p) {
  const nd4c_compiler *compiler = p->compiler;
  p->fingerprint[0] = '\0';
  nd4c_error_expect();
  ND4C_TRY(nd4c_driver_answer(
      compiler->fingerprint(compiler->data, p->handle, p->options, p->fingerprint, sizeof p->fingerprint),
      "fingerprint"));
  p->fingerprint[sizeof p->fingerprint - 1] = '\0';
  bool sound = p->fingerprint[0] != '\0';
  for (const char *at = p->fingerprint; *at != '\0'; at++) {
    sound = sound && *at >= ' ' && *at <= '~';
  }
  return sound ? ND4C_OK
               : nd4c_fail(ND4C_DEVICE, "the fingerprint of compiler %s is not a line of printable ASCII",
                           compiler->engine);
}

/* *known false: the piece has no identity. */
static nd4c_status name_piece(piece *p, const nd4c_array *const *constants, bool *known) {
  ND4C_TRY(nd4c_segment_identity(p->segment, p->options, constants, &p->identity, known));
  return *known ? take_fingerprint(p) : ND4C_OK;
}

static bool is_named(const nd4c_executable_entry *entry, const piece *p) {
  return memcmp(entry->identity.bytes, p->identity.bytes, sizeof p->identity.bytes) == 0 &&
         strcmp(entry->engine, p->compiler->engine) == 0;
}

/* -- compiling, loading -------------------------------------------------------------------------------------------- */

static nd4c_status compile(const piece *p, nd4c_executable *executable) {
  *executable = NULL;
  nd4c_error_expect();
  return nd4c_driver_answer(p->compiler->compile(p->compiler->data, p->handle, p->segment, p->options, executable),
                            "compile");
}

static nd4c_status load(const piece *p, const nd4c_executable_entry *entry, nd4c_executable *executable) {
  *executable = NULL;
  nd4c_error_expect();
  const nd4c_status status = p->compiler->load(p->compiler->data, p->handle, entry->bytes, entry->size, executable);
  return nd4c_driver_handle(status, *executable, "load");
}

/* -- a file that was compiled ahead of time ------------------------------------------------------------------------ */

/* *executable is NULL after OK if the file has none for the piece. */
static nd4c_status load_ahead(const piece *p, const nd4c_compile_source *source, nd4c_executable *executable) {
  nd4c_executable_entry entry;
  *executable = NULL;
  for (int64_t at = 0; nd4c_executables_next(source->file, source->file_size, &at, &entry);) {
    if (!is_named(&entry, p)) {
      continue;
    }
    if (strcmp(entry.fingerprint, p->fingerprint) != 0) {
      return nd4c_fail(ND4C_FORMAT,
                       "%s: the executable by %s was compiled for '%s', and here it would have to be for '%s'",
                       source->file_name, entry.engine, entry.fingerprint, p->fingerprint);
    }
    const nd4c_status status = load(p, &entry, executable);
    return status == ND4C_OK ? status : nd4c_fail_prefix(status, "%s", source->file_name);
  }
  return ND4C_OK;
}

/* -- the cache ---------------------------------------------------------------------------------------------------- */

/* False: there is no cache. */
static bool find_directory(char *path, size_t size) {
  (void)nd4c_config_string(ND4C_CONFIG_COMPILE_CACHE, path, size);
  if (path[0] == '\0') {
    (void)nd4c_config_string(ND4C_CONFIG_OV_CACHE_DIR, path, size);
  }
  return path[0] == '/';
}

/* False: the path does not fit. */
static bool name_file(const piece *p, const char *directory, char *path, size_t size) {
  nd4c_hasher hasher;
  char name[ND4C_DIGEST_TEXT];
  nd4c_hasher_begin(&hasher);
  nd4c_hasher_add(&hasher, p->identity.bytes, sizeof p->identity.bytes);
  nd4c_hasher_add(&hasher, p->compiler->engine, strlen(p->compiler->engine) + 1);
  nd4c_hasher_add(&hasher, p->fingerprint, strlen(p->fingerprint) + 1);
  const nd4c_digest digest = nd4c_hasher_end(&hasher);
  nd4c_digest_print(&digest, name);
  const int length = snprintf(path, size, "%s/%s.nd4cexe", directory, name);
  return length > 0 && (size_t)length < size;
}

/* An entry with another identity or fingerprint was not written by nd4c. */
static nd4c_status load_bytes(const piece *p, const void *bytes, int64_t size, nd4c_executable *executable) {
  nd4c_executable_entry entry;
  int64_t at = 0;
  ND4C_TRY(nd4c_executables_check(bytes, size));
  const bool found = nd4c_executables_next(bytes, size, &at, &entry) && is_named(&entry, p) &&
                     strcmp(entry.fingerprint, p->fingerprint) == 0;
  return found ? load(p, &entry, executable)
               : nd4c_fail(ND4C_FORMAT, "it holds an executable that does not match its name");
}

static void *take_bytes(size_t bytes) {
  return nd4c_allocate_aligned(64, bytes);
}

static int64_t limit(void) {
  return nd4c_config_int(ND4C_CONFIG_COMPILE_LIMIT);
}

/* False: there is no file, or an unusable one, which is logged. */
static bool load_cached(const piece *p, const char *path, nd4c_executable *executable) {
  static const nd4c_os_allocator allocator = {.allocate = take_bytes, .free = nd4c_deallocate};
  void *bytes = NULL;
  size_t size = 0;
  nd4c_status status = nd4c_os_read_own_file(path, (size_t)limit(), &allocator, &bytes, &size);
  if (status == ND4C_IO) {
    nd4c_error_clear();
    return false; /* usually because it does not exist; for other causes, writing it reports more */
  }
  status = status == ND4C_OK ? load_bytes(p, bytes, (int64_t)size, executable) : status;
  nd4c_deallocate(bytes);
  if (status != ND4C_OK) {
    nd4c_log_write(ND4C_LOG_WARNING, "compiler", "%s is not used, the piece is compiled anew: %s", path,
                   nd4c_error_message());
    nd4c_error_clear();
  }
  return status == ND4C_OK;
}

static nd4c_status write_cached(const piece *p, const char *directory, const char *path, nd4c_executable executable) {
  nd4c_executables_writer writer;
  const void *bytes = NULL;
  int64_t size = 0;
  nd4c_executables_begin(&writer, limit());
  nd4c_status status = nd4c_executables_add(&writer, &p->identity, p->compiler, p->fingerprint, executable);
  status = status == ND4C_OK ? nd4c_executables_end(&writer, &bytes, &size) : status;
  status = status == ND4C_OK ? nd4c_os_make_directory(directory) : status;
  status = status == ND4C_OK ? nd4c_os_write_own_file(path, bytes, (size_t)size) : status;
  nd4c_executables_free(&writer);
  return status;
}

/* Writing it to the cache may fail, which is only logged, since the executable exists. */
static nd4c_status obtain_cached(const piece *p, const char *directory, nd4c_executable *executable) {
  char path[PATH_SIZE];
  if (!name_file(p, directory, path, sizeof path)) {
    nd4c_log_write(ND4C_LOG_WARNING, "compiler", "the cache in %.200s... is not used: the path is too long", directory);
    return compile(p, executable);
  }
  if (load_cached(p, path, executable)) {
    nd4c_log_write(ND4C_LOG_INFO, "compiler", "%s: loaded %s", p->compiler->engine, path);
    return ND4C_OK;
  }
  ND4C_TRY(compile(p, executable));
  if (*executable != NULL && write_cached(p, directory, path, *executable) != ND4C_OK) {
    nd4c_log_write(ND4C_LOG_WARNING, "compiler", "%s: an executable is not kept: %s", p->compiler->engine,
                   nd4c_error_message());
    nd4c_error_clear();
  }
  return ND4C_OK;
}

/* -- both ---------------------------------------------------------------------------------------------------------- */

/* A piece without identity is compiled, unless the caller gave a file: then it must learn why the file does not
 * serve. */
static nd4c_status name_or_tell(piece *p, const nd4c_compile_source *source, bool *known) {
  const nd4c_status status = name_piece(p, source != NULL ? source->constants : NULL, known);
  if (status == ND4C_OK || (source != NULL && source->file != NULL)) {
    return status;
  }
  nd4c_log_write(ND4C_LOG_WARNING, "compiler", "%s: the cache is not used: %s", p->compiler->engine,
                 nd4c_error_message());
  nd4c_error_clear();
  *known = false;
  return ND4C_OK;
}

nd4c_status nd4c_executable_obtain(const nd4c_compiler *compiler, nd4c_device *device, const nd4c_segment *segment,
                                   const nd4c_compile_options *options, nd4c_compile_source *source,
                                   nd4c_executable *executable) {
  piece p = {.compiler = compiler, .handle = device->handle, .segment = segment, .options = options};
  char directory[PATH_SIZE];
  const bool cached = find_directory(directory, sizeof directory), ahead = source != NULL && source->file != NULL;
  bool known = nd4c_compiler_keeps(compiler) && (cached || ahead);
  *executable = NULL;
  if (known) {
    ND4C_TRY(name_or_tell(&p, source, &known));
  }
  if (ahead) {
    ND4C_TRY(known ? load_ahead(&p, source, executable) : ND4C_OK);
    source->missed = *executable == NULL;
  }
  if (*executable != NULL) {
    return ND4C_OK;
  }
  const nd4c_status status = known && cached ? obtain_cached(&p, directory, executable) : compile(&p, executable);
  if (source != NULL) {
    source->declined = status == ND4C_UNSUPPORTED;
  }
  return status;
}

nd4c_status nd4c_executable_write(const nd4c_compiler *compiler, void *handle, const nd4c_segment *segment,
                                  const nd4c_compile_options *options, const nd4c_array *const *constants,
                                  nd4c_executables_writer *writer) {
  piece p = {.compiler = compiler, .handle = handle, .segment = segment, .options = options};
  nd4c_executable executable = NULL;
  bool known = false;
  if (!nd4c_compiler_keeps(compiler)) {
    return nd4c_fail(ND4C_UNSUPPORTED, "compiler %s cannot write executables", compiler->engine);
  }
  ND4C_TRY(name_piece(&p, constants, &known));
  if (!known) {
    return nd4c_fail(ND4C_UNSUPPORTED, "a node has an attribute that is an array, which files do not compare");
  }
  nd4c_error_expect();
  nd4c_status status = compile(&p, &executable);
  ND4C_TRY(nd4c_driver_handle(status, executable, "compile"));
  status = nd4c_executables_add(writer, &p.identity, compiler, p.fingerprint, executable);
  compiler->release(compiler->data, executable);
  return status;
}
