/* Zip archives in memory by minizip, which is loaded when it is first needed: entries stored or deflated, of any size
 * (zip64), not encrypted. */
#ifndef ND4C_IO_ZIP_H
#define ND4C_IO_ZIP_H

#include "base/text.h"
#include "io/span.h"
#include "nd4c/status.h"

/* -- reading ------------------------------------------------------------------------------------------------------- */

/* One file in an archive. */
typedef struct nd4c_zip_entry {
  uint64_t in_directory, number; /* where minizip finds its record */
  size_t size;                   /* unpacked: no more than what the packed bytes can give */
  bool deflated;
} nd4c_zip_entry;

/* Told of every entry in turn; the name is lent. What it returns but OK ends the reading. */
typedef nd4c_status nd4c_zip_visit(void *user, nd4c_span name, const nd4c_zip_entry *entry);

/* Reads the directory: `begin` is told how many entries there are, no more than the file has room for. LIBRARY, MEMORY,
 * FORMAT, UNSUPPORTED (encryption, other compressions). */
nd4c_status nd4c_zip_list(nd4c_span file, nd4c_status (*begin)(void *user, int64_t count), nd4c_zip_visit *visit,
                          void *user);
/* The first `size` bytes of an entry; all of them are checked against its checksum. LIBRARY, MEMORY, FORMAT. Any
 * thread. */
nd4c_status nd4c_zip_read(nd4c_span file, const nd4c_zip_entry *entry, void *to, size_t size);

/* -- writing ------------------------------------------------------------------------------------------------------- */

/* An archive that is put together; zero-initialised is empty. It must not move. */
typedef struct nd4c_zip_writer {
  void *handle;
  nd4c_text file;
  size_t at;
} nd4c_zip_writer;

/* Entries that minizip can write: it has 16 bits for their number. */
enum { ND4C_ZIP_WRITTEN_MOST = 0xffff };
/* Appends a file; its name is `name` and `ending` behind it. ARGUMENT for names of 64 KiB, MEMORY, LIBRARY. */
nd4c_status nd4c_zip_add(nd4c_zip_writer *writer, const char *name, const char *ending, nd4c_span bytes,
                         bool compressed);
/* Appends the directory: writer->file is whole then. MEMORY, LIBRARY. */
nd4c_status nd4c_zip_finish(nd4c_zip_writer *writer);
void nd4c_zip_writer_free(nd4c_zip_writer *writer);

#endif
