/* .npz files: zip archives of .npy files. Programs call it (nd4c/io.h). */
#include "base/alloc.h"
#include "base/os.h"
#include "base/status.h"
#include "device/access/write.h"
#include "device/device.h"
#include "io/archive.h"
#include "io/npy.h"
#include "io/npy_header.h"

static const char ending[] = ".npy";
enum { ENDING = sizeof ending - 1, PREFIX = ND4C_NPY_HEADER_LIMIT + 16 };

/* -- reading ------------------------------------------------------------------------------------------------------- */

/* Before memory for a large array is allocated, its header must agree with the archive's sizes. */
static nd4c_status check_header(nd4c_span file, const nd4c_zip_entry *entry) {
  nd4c_npy_header header;
  if (!entry->deflated || entry->size <= PREFIX) {
    return ND4C_OK;
  }
  unsigned char *prefix = nd4c_allocate(PREFIX);
  if (prefix == NULL) {
    return nd4c_fail_memory("a npy file's header", PREFIX);
  }
  nd4c_status status = nd4c_zip_read(file, entry, prefix, PREFIX);
  if (status == ND4C_OK) {
    status = nd4c_npy_header_parse((nd4c_span){prefix, entry->size}, &header);
  }
  nd4c_deallocate(prefix);
  return status;
}

static nd4c_status unpack(nd4c_span file, const nd4c_zip_entry *entry, nd4c_array **bytes) {
  nd4c_device *host = NULL;
  void *to = NULL;
  ND4C_TRY(check_header(file, entry));
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(nd4c_array_empty(ND4C_UINT8, 1, &(int64_t){(int64_t)entry->size}, host, bytes));
  ND4C_TRY(nd4c_array_host_address(*bytes, true, &to));
  return nd4c_zip_read(file, entry, to, entry->size);
}

static nd4c_status read_array(const nd4c_archive *archive, const nd4c_archive_entry *entry, nd4c_array **out) {
  nd4c_array *bytes = NULL;
  const void *data = NULL;
  nd4c_status status = unpack(archive->blob->bytes, &entry->zip, &bytes);
  if (status == ND4C_OK) {
    status = nd4c_array_data(bytes, &data);
  }
  if (status == ND4C_OK) {
    status = nd4c_npy_read_span((nd4c_span){data, entry->zip.size}, bytes, out);
  }
  nd4c_array_release(bytes);
  return status;
}

static nd4c_status begin(void *archive, int64_t count) {
  return nd4c_archive_reserve(archive, count);
}

static nd4c_status add_entry(void *user, nd4c_span name, const nd4c_zip_entry *zip) {
  nd4c_archive *archive = user;
  nd4c_archive_entry *entry = &archive->entries[archive->count];
  if (name.size < ENDING || memcmp(name.bytes + name.size - ENDING, ending, ENDING) != 0) {
    return nd4c_fail(ND4C_FORMAT, "zip entry %s, expected names that end in .npy", nd4c_span_show(name).text);
  }
  name.size -= ENDING;
  entry->zip = *zip;
  ND4C_TRY(nd4c_archive_keep(archive, name, "a npz name", &entry->name));
  archive->count++;
  return ND4C_OK;
}

static nd4c_status parse(nd4c_archive *archive) {
  archive->read = read_array;
  return nd4c_zip_list(archive->blob->bytes, begin, add_entry, archive);
}

nd4c_status nd4c_npz_open(const char *path, nd4c_archive **out) {
  return nd4c_archive_open("nd4c_npz_open", path, parse, out);
}

nd4c_status nd4c_npz_open_memory(const void *bytes, size_t size, nd4c_archive **out) {
  return nd4c_archive_open_memory("nd4c_npz_open_memory", bytes, size, parse, out);
}

/* -- writing ------------------------------------------------------------------------------------------------------- */

static nd4c_status add_array(nd4c_zip_writer *writer, const char *name, const nd4c_array *array, bool compressed) {
  unsigned char *file = NULL;
  size_t size = 0;
  nd4c_status status = nd4c_npy_make(array, &file, &size);
  if (status == ND4C_OK) {
    status = nd4c_zip_add(writer, name, ending, (nd4c_span){file, size}, compressed);
  }
  nd4c_deallocate(file);
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "%s", nd4c_span_show(nd4c_span_of_text(name)).text);
}

nd4c_status nd4c_npz_write(const char *path, const char *const *names, const nd4c_array *const *arrays, int32_t count,
                           bool compressed) {
  nd4c_zip_writer writer = {.handle = NULL};
  ND4C_TRY(nd4c_archive_check_written("nd4c_npz_write", path, names, arrays, count));
  if (count > ND4C_ZIP_WRITTEN_MOST) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_npz_write: %d arrays, expected at most %d", (int)count,
                     (int)ND4C_ZIP_WRITTEN_MOST);
  }
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = add_array(&writer, names[i], arrays[i], compressed);
  }
  if (status == ND4C_OK) {
    status = nd4c_zip_finish(&writer);
  }
  if (status == ND4C_OK) {
    status = nd4c_os_write_file(path, writer.file.bytes, writer.file.length);
  }
  nd4c_zip_writer_free(&writer);
  return status;
}
