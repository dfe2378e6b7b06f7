/* Implements archive.h for npz.c and safetensors.c, and the queries of archives (nd4c/io.h) for programs. */
#include "io/archive.h"

#include <stdlib.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/status.h"

enum { ARCHIVE_MAGIC = 0x61726368, ARCHIVE_DEAD = 0x64656164, ALIGNMENT = 64 };

/* -- opening ------------------------------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b) {
  return strcmp((*(const nd4c_archive_entry *const *)a)->name, (*(const nd4c_archive_entry *const *)b)->name);
}

static nd4c_status index_names(nd4c_archive *archive) {
  ND4C_TRY(nd4c_region_claim(&archive->region, (size_t)archive->count + 1, sizeof(nd4c_archive_entry *),
                             "an archive's names", &archive->by_name));
  for (int32_t i = 0; i < archive->count; i++) {
    archive->by_name[i] = &archive->entries[i];
  }
  qsort((void *)archive->by_name, (size_t)archive->count, sizeof archive->by_name[0], compare_names);
  for (int32_t i = 1; i < archive->count; i++) {
    if (strcmp(archive->by_name[i - 1]->name, archive->by_name[i]->name) == 0) {
      return nd4c_fail(ND4C_FORMAT, "the name %s comes twice",
                       nd4c_span_show(nd4c_span_of_text(archive->by_name[i]->name)).text);
    }
  }
  return ND4C_OK;
}

static nd4c_status open_blob(nd4c_blob *blob, nd4c_archive_parse *parse, nd4c_archive **out) {
  nd4c_archive *made = nd4c_allocate_zeroed(1, sizeof *made);
  if (made == NULL) {
    nd4c_blob_release(blob);
    return nd4c_fail_memory("an archive", sizeof *made);
  }
  made->magic = ARCHIVE_MAGIC;
  made->blob = blob;
  nd4c_status status = parse(made);
  if (status == ND4C_OK) {
    status = index_names(made);
  }
  if (status != ND4C_OK) {
    nd4c_archive_release(made);
    return status;
  }
  *out = made;
  return ND4C_OK;
}

nd4c_status nd4c_archive_open(const char *where, const char *path, nd4c_archive_parse *parse, nd4c_archive **out) {
  nd4c_blob *blob = NULL;
  if (path == NULL || out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: %s is NULL", where, path == NULL ? "path" : "out");
  }
  ND4C_TRY(nd4c_blob_map(path, &blob));
  nd4c_status status = open_blob(blob, parse, out);
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "%s", path);
}

nd4c_status nd4c_archive_open_memory(const char *where, const void *bytes, size_t size, nd4c_archive_parse *parse,
                                     nd4c_archive **out) {
  nd4c_blob *blob = NULL;
  if (bytes == NULL || out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: %s is NULL", where, bytes == NULL ? "bytes" : "out");
  }
  void *copy = nd4c_allocate_aligned(ALIGNMENT, size + 1);
  if (copy == NULL) {
    return nd4c_fail_memory("an archive's bytes", size);
  }
  memcpy(copy, bytes, size);
  nd4c_status status = nd4c_blob_wrap(copy, size, nd4c_deallocate, copy, &blob);
  if (status != ND4C_OK) {
    nd4c_deallocate(copy);
    return status;
  }
  return open_blob(blob, parse, out);
}

nd4c_status nd4c_archive_reserve(nd4c_archive *archive, int64_t count) {
  if (count < 0 || count >= INT32_MAX) {
    return nd4c_fail(ND4C_FORMAT, "an archive of %lld entries", (long long)count);
  }
  return nd4c_region_claim(&archive->region, (size_t)count + 1, sizeof *archive->entries, "an archive's entries",
                           &archive->entries);
}

nd4c_status nd4c_archive_keep(nd4c_archive *archive, nd4c_span text, const char *what, const char **kept) {
  char *copy = NULL;
  if (!nd4c_span_is_text(text)) {
    return nd4c_fail(ND4C_FORMAT, "%s %s is not UTF-8", what, nd4c_span_show(text).text);
  }
  ND4C_TRY(nd4c_region_claim(&archive->region, text.size + 1, 1, what, &copy));
  memcpy(copy, text.bytes, text.size);
  *kept = copy;
  return ND4C_OK;
}

void nd4c_archive_release(nd4c_archive *archive) {
  if (archive == NULL || archive->magic != ARCHIVE_MAGIC) {
    return;
  }
  archive->magic = ARCHIVE_DEAD;
  nd4c_region_free(&archive->region);
  nd4c_blob_release(archive->blob);
  nd4c_deallocate(archive);
}

/* -- queries ------------------------------------------------------------------------------------------------------- */

static bool has(const nd4c_archive *archive) {
  return archive != NULL && archive->magic == ARCHIVE_MAGIC;
}

int32_t nd4c_archive_count(const nd4c_archive *archive) {
  return has(archive) ? archive->count : 0;
}

const char *nd4c_archive_name(const nd4c_archive *archive, int32_t index) {
  return index >= 0 && index < nd4c_archive_count(archive) ? archive->entries[index].name : NULL;
}

int32_t nd4c_archive_find(const nd4c_archive *archive, const char *name) {
  int32_t low = 0, high = name == NULL ? 0 : nd4c_archive_count(archive);
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    int order = strcmp(archive->by_name[middle]->name, name);
    if (order == 0) {
      return (int32_t)(archive->by_name[middle] - archive->entries);
    }
    low = order < 0 ? middle + 1 : low;
    high = order < 0 ? high : middle;
  }
  return -1;
}

nd4c_status nd4c_archive_array(const nd4c_archive *archive, int32_t index, nd4c_array **out) {
  if (archive == NULL || out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_archive_array: %s is NULL", archive == NULL ? "archive" : "out");
  }
  if (!has(archive)) {
    return nd4c_fail(ND4C_HANDLE, "nd4c_archive_array: archive is released or no archive");
  }
  if (index < 0 || index >= archive->count) {
    return nd4c_fail(ND4C_INDEX, "nd4c_archive_array: index %d, expected 0 to %d", (int)index, (int)archive->count - 1);
  }
  nd4c_status status = archive->read(archive, &archive->entries[index], out);
  return status == ND4C_OK
             ? status
             : nd4c_fail_prefix(status, "%s", nd4c_span_show(nd4c_span_of_text(archive->entries[index].name)).text);
}

int32_t nd4c_archive_metadata_count(const nd4c_archive *archive) {
  return has(archive) ? archive->metadata_count : 0;
}

const char *nd4c_archive_metadata_key(const nd4c_archive *archive, int32_t index) {
  return index >= 0 && index < nd4c_archive_metadata_count(archive) ? archive->metadata[index].key : NULL;
}

const char *nd4c_archive_metadata_value(const nd4c_archive *archive, int32_t index) {
  return index >= 0 && index < nd4c_archive_metadata_count(archive) ? archive->metadata[index].value : NULL;
}

/* -- writing ------------------------------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static nd4c_status check_unique(const char *where, const char *const *names, int32_t count) {
  const char **sorted = nd4c_allocate(((size_t)count + 1) * sizeof *sorted);
  nd4c_status status = ND4C_OK;
  if (sorted == NULL) {
    return nd4c_fail_memory("names", (size_t)count * sizeof *sorted);
  }
  for (int32_t i = 0; i < count; i++) {
    sorted[i] = names[i];
  }
  qsort((void *)sorted, (size_t)count, sizeof *sorted, compare_texts);
  for (int32_t i = 1; i < count && status == ND4C_OK; i++) {
    if (strcmp(sorted[i - 1], sorted[i]) == 0) {
      status = nd4c_fail(ND4C_ARGUMENT, "%s: the name %s comes twice", where,
                         nd4c_span_show(nd4c_span_of_text(sorted[i])).text);
    }
  }
  nd4c_deallocate((void *)sorted);
  return status;
}

nd4c_status nd4c_archive_check_written(const char *where, const char *path, const char *const *names,
                                       const nd4c_array *const *arrays, int32_t count) {
  if (path == NULL || (count > 0 && (names == NULL || arrays == NULL))) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: %s is NULL", where,
                     path == NULL    ? "path"
                     : names == NULL ? "names"
                                     : "arrays");
  }
  if (count < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d arrays", where, (int)count);
  }
  for (int32_t i = 0; i < count; i++) {
    if (names[i] == NULL) {
      return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: name %d is NULL", where, (int)i);
    }
    if (names[i][0] == '\0') {
      return nd4c_fail(ND4C_ARGUMENT, "%s: name %d is empty", where, (int)i);
    }
    if (!nd4c_span_is_text(nd4c_span_of_text(names[i]))) {
      return nd4c_fail(ND4C_FORMAT, "%s: the name %s is not UTF-8", where,
                       nd4c_span_show(nd4c_span_of_text(names[i])).text);
    }
    nd4c_status status = nd4c_array_check(arrays[i], "array");
    if (status != ND4C_OK) {
      return nd4c_fail_prefix(status, "%s: %s", where, nd4c_span_show(nd4c_span_of_text(names[i])).text);
    }
  }
  return check_unique(where, names, count);
}
