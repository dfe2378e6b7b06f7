/* The inside of an archive, which the readers and writers of its formats share (npz.c, safetensors.c,
 * safetensors_write.c). */
#ifndef ND4C_IO_ARCHIVE_H
#define ND4C_IO_ARCHIVE_H

#include "base/region.h"
#include "io/blob.h"
#include "io/zip.h"
#include "nd4c/io.h"

/* One array: an entry of a .npz, or a tensor of a .safetensors with `size` bytes from `begin` on. */
typedef struct nd4c_archive_entry {
  const char *name;
  nd4c_zip_entry zip;
  nd4c_dtype dtype;
  int32_t rank;
  const int64_t *shape;
  size_t begin, size;
} nd4c_archive_entry;

typedef struct nd4c_archive_text {
  const char *key, *value;
} nd4c_archive_text;

struct nd4c_archive {
  uint32_t magic;
  nd4c_blob *blob;
  nd4c_region region; /* everything below */
  int32_t count, metadata_count;
  nd4c_archive_entry *entries;
  const nd4c_archive_entry **by_name;
  nd4c_archive_text *metadata;
  nd4c_status (*read)(const nd4c_archive *archive, const nd4c_archive_entry *entry, nd4c_array **out);
};

/* Opens an archive with a format's function. Takes over the reference to the bytes. `path` (NULL: memory) is for error
 * texts. */
typedef nd4c_status nd4c_archive_parse(nd4c_archive *archive);
nd4c_status nd4c_archive_open(const char *where, const char *path, nd4c_archive_parse *parse, nd4c_archive **out);
nd4c_status nd4c_archive_open_memory(const char *where, const void *bytes, size_t size, nd4c_archive_parse *parse,
                                     nd4c_archive **out);
/* Room for `count` entries. */
nd4c_status nd4c_archive_reserve(nd4c_archive *archive, int64_t count);
/* Copies a text that must be UTF-8 into the archive; `what` names it. */
nd4c_status nd4c_archive_keep(nd4c_archive *archive, nd4c_span text, const char *what, const char **kept);

/* Checks the arguments of a writer: lists, names, arrays. */
nd4c_status nd4c_archive_check_written(const char *where, const char *path, const char *const *names,
                                       const nd4c_array *const *arrays, int32_t count);

#endif
