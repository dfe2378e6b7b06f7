/* The part of minizip that nd4c uses (zip.c), declared as in ioapi.h, unzip.h and zip.h of zlib's contrib/minizip
 * (Debian's libminizip-dev 1.1): its uLong is unsigned long, its uInt unsigned int, its ZPOS64_T has 64 bits. */
#ifndef ND4C_IO_MINIZIP_H
#define ND4C_IO_MINIZIP_H

#include <stdint.h>

/* zlib_filefunc64_def: a file as minizip sees it. `stream` is what `open` gave; seek returns 0, else it failed. */
typedef struct minizip_stream {
  void *(*open)(void *user, const void *path, int mode);
  unsigned long (*read)(void *user, void *stream, void *to, unsigned long size);
  unsigned long (*write)(void *user, void *stream, const void *from, unsigned long size);
  uint64_t (*tell)(void *user, void *stream);
  long (*seek)(void *user, void *stream, uint64_t offset, int origin);
  int (*close)(void *user, void *stream);
  int (*error)(void *user, void *stream);
  void *user;
} minizip_stream;
enum { MINIZIP_SEEK_SET = 0, MINIZIP_SEEK_CUR = 1, MINIZIP_SEEK_END = 2 };

/* unz_global_info64 */
typedef struct minizip_directory {
  uint64_t count;
  unsigned long comment_size;
} minizip_directory;

/* unz64_file_pos */
typedef struct minizip_place {
  uint64_t in_directory, number;
} minizip_place;

/* unz_file_info64 */
typedef struct minizip_info {
  unsigned long version, version_needed, flag, method, date, crc;
  uint64_t packed, size;
  unsigned long name_size, extra_size, comment_size, disk, internal_attributes, external_attributes;
  unsigned int time[6];
} minizip_info;

/* zip_fileinfo */
typedef struct minizip_new_file {
  unsigned int time[6];
  unsigned long date, internal_attributes, external_attributes;
} minizip_new_file;

/* Sizes that the headers' own structures have. */
_Static_assert(sizeof(minizip_stream) == 8 * sizeof(void *), "zlib_filefunc64_def");
_Static_assert(sizeof(minizip_directory) == 16, "unz_global_info64");
_Static_assert(sizeof(minizip_place) == 16, "unz64_file_pos");
_Static_assert(sizeof(minizip_info) == 12 * sizeof(unsigned long) + 16 + 24, "unz_file_info64");
_Static_assert(sizeof(minizip_new_file) == 24 + 3 * sizeof(unsigned long), "zip_fileinfo");

enum { MINIZIP_OK = 0, MINIZIP_NO_MEMORY = -104, MINIZIP_WRONG_CRC = -105, MINIZIP_ZLIB_NO_MEMORY = -4 };
enum { MINIZIP_ENCRYPTED = 1, MINIZIP_UTF8 = 1 << 11, MINIZIP_STORED = 0, MINIZIP_DEFLATED = 8 };

/* X(result, name, arguments). call_zopen64 is never called: its presence distinguishes this library from minizip-ng,
 * which has the same file name and other structures. */
#define MINIZIP_FUNCTIONS(X)                                                                                         \
  X(void *, call_zopen64, (const void *, const void *, int))                                                         \
  X(void *, unzOpen2_64, (const void *path, minizip_stream *stream))                                                 \
  X(int, unzClose, (void *file))                                                                                     \
  X(int, unzGetGlobalInfo64, (void *file, minizip_directory *directory))                                             \
  X(int, unzGoToNextFile, (void *file))                                                                              \
  X(int, unzGetFilePos64, (void *file, minizip_place *place))                                                        \
  X(int, unzGoToFilePos64, (void *file, const minizip_place *place))                                                 \
  X(int, unzGetCurrentFileInfo64,                                                                                    \
    (void *file, minizip_info *info, char *name, unsigned long name_size, void *extra, unsigned long extra_size,     \
     char *comment, unsigned long comment_size))                                                                     \
  X(int, unzOpenCurrentFile, (void *file))                                                                           \
  X(int, unzReadCurrentFile, (void *file, void *to, unsigned size))                                                  \
  X(int, unzCloseCurrentFile, (void *file))                                                                          \
  X(void *, zipOpen2_64, (const void *path, int append, const char **comment, minizip_stream *stream))               \
  X(int, zipOpenNewFileInZip4_64,                                                                                    \
    (void *file, const char *name, const minizip_new_file *info, const void *local_extra, unsigned local_extra_size, \
     const void *extra, unsigned extra_size, const char *comment, int method, int level, int raw, int window_bits,   \
     int memory_level, int strategy, const char *password, unsigned long crc, unsigned long version,                 \
     unsigned long flag, int zip64))                                                                                 \
  X(int, zipWriteInFileInZip, (void *file, const void *from, unsigned size))                                         \
  X(int, zipCloseFileInZip, (void *file))                                                                            \
  X(int, zipClose, (void *file, const char *comment))

#define MINIZIP_FIELD(result, name, arguments) result(*name) arguments;
#define MINIZIP_NAME(result, name, arguments) #name,

typedef struct minizip_api {
  MINIZIP_FUNCTIONS(MINIZIP_FIELD)
} minizip_api;

#endif
