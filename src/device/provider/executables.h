/* Files of executables: the cache's (device/kept.c), with one executable each, and those that were compiled ahead of
 * time (graph/ahead.c).
 *
 * All numbers are little-endian. Header, 64 bytes: "nd4cexe" and a zero; version (4 bytes); number of entries (4); size
 * of the file (8); SHA-256 of all behind the header (32); 8 zeros. Entry: identity of the piece (32); sizes of the
 * engine's name and of the fingerprint, with the zeros that end them (4 each), and of the executable (8); the two
 * texts; zeros up to a multiple of 16; the executable; zeros up to a multiple of 16. */
#ifndef ND4C_DEVICE_PROVIDER_EXECUTABLES_H
#define ND4C_DEVICE_PROVIDER_EXECUTABLES_H

#include "base/digest.h"
#include "base/text.h"
#include "nd4c/plugin/compiler.h"

enum { ND4C_FINGERPRINT_SIZE = 1024, ND4C_EXECUTABLES_LIMIT = 65536 };

typedef struct nd4c_executable_entry {
  nd4c_digest identity;
  const char *engine, *fingerprint;
  const void *bytes; /* aligned as the file's bytes are, to 16 at most */
  int64_t size;
} nd4c_executable_entry;

/* -- reading ------------------------------------------------------------------------------------------------------ */

/* Checks the bytes of a file: FORMAT with the offset and what was expected. */
nd4c_status nd4c_executables_check(const void *file, int64_t size);
/* The entry at *position (first 0) of checked bytes; false after the last one. */
bool nd4c_executables_next(const void *bytes, int64_t size, int64_t *position, nd4c_executable_entry *entry);

/* -- writing ------------------------------------------------------------------------------------------------------ */

typedef struct nd4c_executables_writer {
  nd4c_sink sink; /* of the entry that is being written */
  nd4c_text text;
  int64_t limit;
  int32_t count;
  nd4c_status refused; /* the sink's last failure, which the compiler may have ignored */
} nd4c_executables_writer;

/* `limit`: maximum size of the file. */
void nd4c_executables_begin(nd4c_executables_writer *writer, int64_t limit);
/* Adds an entry with the serialised executable. A failure leaves the writer unchanged. */
nd4c_status nd4c_executables_add(nd4c_executables_writer *writer, const nd4c_digest *identity,
                                 const nd4c_compiler *compiler, const char *fingerprint, nd4c_executable executable);
/* Completes the file; the writer owns *bytes. MEMORY. */
nd4c_status nd4c_executables_end(nd4c_executables_writer *writer, const void **bytes, int64_t *size);
void nd4c_executables_free(nd4c_executables_writer *writer);

#endif
