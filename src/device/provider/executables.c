/* Implements executables.h: the reader checks every number before it is used. device/kept.c reads and writes the cache
 * here, graph/ahead.c the files that are compiled ahead of time. */
#include "device/provider/executables.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/driver.h"

static const char magic[8] = "nd4cexe";
enum {
  VERSION = 1,
  HEADER = 64,
  AT_VERSION = 8,
  AT_COUNT = 12,
  AT_SIZE = 16,
  AT_DIGEST = 24,
  AT_ZEROS = 56,
  ENTRY = 48,
  AT_ENGINE = 32,
  AT_FINGERPRINT = 36,
  AT_BYTES = 40,
  ALIGNMENT = 16
};

static uint64_t get(const uint8_t *at, int bytes) {
  uint64_t number = 0;
  for (int i = 0; i < bytes; i++) {
    number |= (uint64_t)at[i] << (8 * i);
  }
  return number;
}

static void put(uint8_t *at, uint64_t number, int bytes) {
  for (int i = 0; i < bytes; i++) {
    at[i] = (uint8_t)(number >> (8 * i));
  }
}

static nd4c_digest digest_of(const uint8_t *bytes, int64_t size) {
  nd4c_hasher hasher;
  nd4c_hasher_begin(&hasher);
  nd4c_hasher_add(&hasher, bytes + HEADER, (size_t)(size - HEADER));
  return nd4c_hasher_end(&hasher);
}

/* -- reading ------------------------------------------------------------------------------------------------------ */

static nd4c_status refuse(int64_t at, const char *what) {
  return nd4c_fail(ND4C_FORMAT, "a file of executables, byte %lld: %s", (long long)at, what);
}

/* Reads a printable text of `size` bytes, including its NUL. */
static bool is_text(const uint8_t *at, uint64_t size) {
  for (uint64_t i = 0; i + 1 < size; i++) {
    if (at[i] < ' ' || at[i] > '~') {
      return false;
    }
  }
  return size > 1 && at[size - 1] == 0;
}

/* Moves *at over zeros to the next multiple of the alignment. */
static bool skip_padding(const uint8_t *bytes, uint64_t size, uint64_t *at) {
  for (; *at % ALIGNMENT != 0; ++*at) {
    if (*at >= size || bytes[*at] != 0) {
      return false;
    }
  }
  return true;
}

/* Reads one entry; *at is its start, and then the start of the next one. */
static nd4c_status read_entry(const uint8_t *bytes, uint64_t size, uint64_t *at, nd4c_executable_entry *entry) {
  const uint64_t begin = *at;
  if (size - begin < ENTRY) {
    return refuse((int64_t)begin, "expected an entry of 48 bytes, the file ends");
  }
  const uint64_t engine = get(bytes + begin + AT_ENGINE, 4), fingerprint = get(bytes + begin + AT_FINGERPRINT, 4);
  const uint64_t length = get(bytes + begin + AT_BYTES, 8);
  *at = begin + ENTRY;
  if (engine > ND4C_FINGERPRINT_SIZE || fingerprint > ND4C_FINGERPRINT_SIZE || size - *at < engine + fingerprint) {
    return refuse((int64_t)begin, "expected texts of at most 1024 bytes within the file");
  }
  if (!is_text(bytes + *at, engine) || !is_text(bytes + *at + engine, fingerprint)) {
    return refuse((int64_t)*at, "expected an engine's name and a fingerprint, printable, followed by zeros");
  }
  memcpy(entry->identity.bytes, bytes + begin, ND4C_DIGEST_BYTES);
  entry->engine = (const char *)bytes + *at;
  entry->fingerprint = entry->engine + engine;
  *at += engine + fingerprint;
  if (!skip_padding(bytes, size, at) || length > size - *at) {
    return refuse((int64_t)*at, "expected zeros, and an executable within the file");
  }
  entry->bytes = bytes + *at;
  entry->size = (int64_t)length;
  *at += length;
  return skip_padding(bytes, size, at) ? ND4C_OK : refuse((int64_t)*at, "expected zeros after an executable");
}

static nd4c_status check_header(const uint8_t *bytes, int64_t size) {
  if (size < HEADER || memcmp(bytes, magic, sizeof magic) != 0) {
    return refuse(0, "expected a header of 64 bytes that begins with nd4cexe");
  }
  if (get(bytes + AT_VERSION, 4) != VERSION) {
    return refuse(AT_VERSION, "expected version 1");
  }
  if (get(bytes + AT_COUNT, 4) > ND4C_EXECUTABLES_LIMIT) {
    return refuse(AT_COUNT, "expected at most 65536 entries");
  }
  if (get(bytes + AT_SIZE, 8) != (uint64_t)size) {
    return refuse(AT_SIZE, "expected the size of the file");
  }
  if (get(bytes + AT_ZEROS, 8) != 0) {
    return refuse(AT_ZEROS, "expected zeros");
  }
  return ND4C_OK;
}

nd4c_status nd4c_executables_check(const void *file, int64_t size) {
  const uint8_t *bytes = file;
  ND4C_TRY(check_header(bytes, size));
  const uint64_t count = get(bytes + AT_COUNT, 4);
  uint64_t at = HEADER;
  nd4c_executable_entry entry;
  for (uint64_t i = 0; i < count; i++) {
    ND4C_TRY(read_entry(bytes, (uint64_t)size, &at, &entry));
  }
  if (at != (uint64_t)size) {
    return refuse((int64_t)at, "expected the end of the file after the last entry");
  }
  const nd4c_digest digest = digest_of(bytes, size);
  return memcmp(bytes + AT_DIGEST, digest.bytes, sizeof digest.bytes) == 0
             ? ND4C_OK
             : refuse(AT_DIGEST, "the checksum is not that of the contents");
}

bool nd4c_executables_next(const void *bytes, int64_t size, int64_t *position, nd4c_executable_entry *entry) {
  uint64_t at = *position == 0 ? HEADER : (uint64_t)*position;
  if (at >= (uint64_t)size || read_entry(bytes, (uint64_t)size, &at, entry) != ND4C_OK) {
    return false;
  }
  *position = (int64_t)at;
  return true;
}

/* -- writing ------------------------------------------------------------------------------------------------------ */

static nd4c_status append(nd4c_executables_writer *writer, const void *bytes, int64_t size) {
  if (size < 0 || size > writer->limit - (int64_t)writer->text.length) {
    return nd4c_fail(ND4C_OVERFLOW, "an executable takes more than the %lld bytes of a file (nd4c.compile.limit)",
                     (long long)writer->limit);
  }
  nd4c_text_append(&writer->text, bytes, (size_t)size);
  return writer->text.failed ? nd4c_fail_memory("an executable's bytes", (size_t)size) : ND4C_OK;
}

static nd4c_status sink_write(nd4c_sink *sink, const void *bytes, int64_t size) {
  nd4c_executables_writer *writer = (nd4c_executables_writer *)sink;
  nd4c_status status = writer->refused; /* data after a gap is useless */
  if (status == ND4C_OK) {
    status = bytes == NULL && size != 0 ? nd4c_fail(ND4C_NULL_ARGUMENT, "sink.write: bytes is NULL")
             : size < 0 ? nd4c_fail(ND4C_ARGUMENT, "sink.write: size is %lld, expected 0 or more", (long long)size)
                        : append(writer, bytes, size);
    writer->refused = status;
  }
  return status;
}

static nd4c_status pad(nd4c_executables_writer *writer) {
  static const uint8_t zeros[ALIGNMENT];
  const int64_t over = (int64_t)(writer->text.length % ALIGNMENT);
  return append(writer, zeros, over > 0 ? ALIGNMENT - over : 0);
}

void nd4c_executables_begin(nd4c_executables_writer *writer, int64_t limit) {
  *writer =
      (nd4c_executables_writer){.sink = {.struct_size = ND4C_SIZE_OF(nd4c_sink), .write = sink_write}, .limit = limit};
}

static nd4c_status write_entry(nd4c_executables_writer *writer, const nd4c_digest *identity,
                               const nd4c_compiler *compiler, const char *fingerprint, nd4c_executable executable) {
  const size_t engine_size = strlen(compiler->engine) + 1, fingerprint_size = strlen(fingerprint) + 1;
  const size_t begin = writer->text.length;
  uint8_t head[ENTRY] = {0};
  memcpy(head, identity->bytes, sizeof identity->bytes);
  put(head + AT_ENGINE, engine_size, 4);
  put(head + AT_FINGERPRINT, fingerprint_size, 4);
  ND4C_TRY(append(writer, head, sizeof head));
  ND4C_TRY(append(writer, compiler->engine, (int64_t)engine_size));
  ND4C_TRY(append(writer, fingerprint, (int64_t)fingerprint_size));
  ND4C_TRY(pad(writer));
  const size_t before = writer->text.length;
  nd4c_error_expect();
  writer->refused = ND4C_OK;
  ND4C_TRY(nd4c_driver_answer(compiler->serialise(compiler->data, executable, &writer->sink), "serialise"));
  if (writer->refused != ND4C_OK) {
    return nd4c_fail(
        writer->refused,
        "serialise of %s went on after its sink had refused bytes (%s), and reported no failure: the executable "
        "is not written",
        compiler->engine, nd4c_status_text(writer->refused));
  }
  put((uint8_t *)writer->text.bytes + begin + AT_BYTES, writer->text.length - before, 8);
  return pad(writer);
}

nd4c_status nd4c_executables_add(nd4c_executables_writer *writer, const nd4c_digest *identity,
                                 const nd4c_compiler *compiler, const char *fingerprint, nd4c_executable executable) {
  static const uint8_t header[HEADER];
  if (writer->count >= ND4C_EXECUTABLES_LIMIT) {
    return nd4c_fail(ND4C_OVERFLOW, "more than %d executables in a file", ND4C_EXECUTABLES_LIMIT);
  }
  if (writer->text.length == 0) {
    ND4C_TRY(append(writer, header, HEADER));
  }
  const size_t before = writer->text.length;
  const nd4c_status status = write_entry(writer, identity, compiler, fingerprint, executable);
  if (status == ND4C_OK) {
    writer->count++;
  } else if (!writer->text.failed) {
    writer->text.length = before;
  }
  return status;
}

nd4c_status nd4c_executables_end(nd4c_executables_writer *writer, const void **bytes, int64_t *size) {
  uint8_t *file = (uint8_t *)writer->text.bytes;
  if (file == NULL || writer->text.failed) {
    return nd4c_fail(writer->text.failed ? ND4C_MEMORY : ND4C_INTERNAL, "a file of executables %s",
                     writer->text.failed ? "does not fit into memory" : "without an entry");
  }
  *size = (int64_t)writer->text.length;
  memcpy(file, magic, sizeof magic);
  put(file + AT_VERSION, VERSION, 4);
  put(file + AT_COUNT, (uint64_t)writer->count, 4);
  put(file + AT_SIZE, (uint64_t)*size, 8);
  const nd4c_digest digest = digest_of(file, *size);
  memcpy(file + AT_DIGEST, digest.bytes, sizeof digest.bytes);
  *bytes = file;
  return ND4C_OK;
}

void nd4c_executables_free(nd4c_executables_writer *writer) {
  nd4c_text_free(&writer->text);
}
