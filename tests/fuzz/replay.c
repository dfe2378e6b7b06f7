/* Runs a fuzz target on every file of a folder, without a fuzzer. ctest runs it in every build, so that bugs found once
 * stay fixed. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

/* The file's bytes in a block of exactly their size, so that sanitizers find reads beyond them. NULL on failure. */
static uint8_t *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    return NULL;
  }
  long length = ftell(file);
  rewind(file);
  uint8_t *bytes = length < 0 ? NULL : malloc(length > 0 ? (size_t)length : 1);
  if (bytes != NULL && fread(bytes, 1, (size_t)length, file) != (size_t)length) {
    free(bytes);
    bytes = NULL;
  }
  *size = length < 0 ? 0 : (size_t)length;
  (void)fclose(file);
  return bytes;
}

int main(int argc, char **argv) {
  int files = 0;
  DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
  if (folder == NULL) {
    (void)fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    char path[4096];
    size_t size = 0;
    if (entry->d_name[0] == '.') {
      continue;
    }
    (void)snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
    uint8_t *bytes = read_file(path, &size);
    if (bytes == NULL) {
      (void)fprintf(stderr, "%s could not be read\n", path);
      return 1;
    }
    /* All prefixes of the file, too: it may be cut at every byte. */
    for (size_t length = size;; length--) {
      uint8_t *cut = malloc(length > 0 ? length : 1);
      if (cut == NULL) {
        return 1;
      }
      for (size_t i = 0; i < length; i++) {
        cut[i] = bytes[i];
      }
      (void)LLVMFuzzerTestOneInput(cut, length);
      free(cut);
      if (length == 0) {
        break;
      }
    }
    free(bytes);
    files++;
  }
  (void)closedir(folder);
  (void)printf("%d files and their beginnings\n", files);
  return files > 0 ? 0 : 1;
}
