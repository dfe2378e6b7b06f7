/* Zip archives in memory by minizip, which is loaded when it is first needed: entries stored or deflated, of any size
 * (zip64), not encrypted. npz.c uses it. */
#ifndef ND4C_IO_ZIP_H
#define ND4C_IO_ZIP_H

#include "base/text.h"
#include "io/span.h"
#include "nd4c/status.h"

/* -- reading ------------------------------------------------------------------------------------------------------- */

/* One file in an archive. */
typedef struct nd4c_zip_entry {
  uint64_t in_directory, number; /* position of its record, for minizip */
  size_t size;                   /* unpacked: at most what the packed bytes can unpack to */
  bool deflated;
} nd4c_zip_entry;

/* Called for every entry in turn; the name is borrowed. A status other than OK ends the reading. */
typedef nd4c_status nd4c_zip_visit(void *user, nd4c_span name, const nd4c_zip_entry *entry);

/* Reads the directory. First calls `begin` with the number of entries, which is at most what the file has room for.
 * LIBRARY, MEMORY, FORMAT, UNSUPPORTED (encryption, other compressions). */
nd4c_status nd4c_zip_list(nd4c_span file, nd4c_status (*begin)(void *user, int64_t count), nd4c_zip_visit *visit,
                          void *user);
/* The first `size` bytes of an entry; all of them are checked against its checksum. LIBRARY, MEMORY, FORMAT. Any
 * thread. */
nd4c_status nd4c_zip_read(nd4c_span file, const nd4c_zip_entry *entry, void *to, size_t size);

/* -- writing ------------------------------------------------------------------------------------------------------- */

/* An archive under construction; zero-initialised is empty. It must not move. */
typedef struct nd4c_zip_writer {
  void *handle;
  nd4c_text file;
  size_t at;
} nd4c_zip_writer;

/* Entries that minizip can write: it has 16 bits for their number. */
enum { ND4C_ZIP_WRITTEN_MOST = 0xffff };
/* Appends a file named `name` followed by `ending`. ARGUMENT for names of 64 KiB, MEMORY, LIBRARY. */
nd4c_status nd4c_zip_add(nd4c_zip_writer *writer, const char *name, const char *ending, nd4c_span bytes,
                         bool compressed);
/* Appends the directory, which completes writer->file. MEMORY, LIBRARY. */
nd4c_status nd4c_zip_finish(nd4c_zip_writer *writer);
void nd4c_zip_writer_free(nd4c_zip_writer *writer);

#endif
