/* Reads handwritten digits with a small network: opens an ONNX model and NumPy files, runs the whole batch on the
 * device that nd4c picked, draws some of the pictures, and prints how many were read correctly and how long one took.
 * The user runs it; tests/examples runs it to check the results.
 *
 *   digits [FOLDER]      FOLDER holds digits.onnx, digits_images.npy and digits_labels.npy; default: this example's */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <nd4c/nd4c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, PER_ROW = 4, RUNS = 21 };

typedef struct digits {
  nd4c_model *model;
  nd4c_array *images; /* [n, 1, 8, 8] float32 */
  nd4c_array *labels; /* [n] uint8 */
  nd4c_array *logits; /* [n, 10] float32 */
  int64_t count;
  int *read; /* the digit that the network read, by image */
} digits;

static int complain(void) {
  (void)fprintf(stderr, "digits: %s\n", nd4c_error_message());
  return 1;
}

static double now(void) {
  struct timespec time;
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static nd4c_status load(const char *folder, digits *d) {
  char path[4096];
  (void)snprintf(path, sizeof path, "%s/digits.onnx", folder);
  nd4c_status status = nd4c_model_open(path, NULL, &d->model);
  if (status == ND4C_OK) {
    (void)snprintf(path, sizeof path, "%s/digits_images.npy", folder);
    status = nd4c_npy_read(path, &d->images);
  }
  if (status == ND4C_OK) {
    (void)snprintf(path, sizeof path, "%s/digits_labels.npy", folder);
    status = nd4c_npy_read(path, &d->labels);
  }
  return status;
}

/* The model itself refuses images of another kind; the labels are only looked at here. */
static int fits(const digits *d) {
  return nd4c_array_rank(d->images) == 4 && nd4c_array_size(d->images) == d->count * PIXELS && d->count > 0 &&
         nd4c_array_dtype(d->labels) == ND4C_UINT8 && nd4c_array_size(d->labels) == d->count;
}

static nd4c_status run(digits *d) {
  const char *const names[] = {"image"};
  const nd4c_array *const inputs[] = {d->images};
  return nd4c_model_run(d->model, NULL, names, inputs, 1, &d->logits, 1);
}

static nd4c_status read_digits(digits *d) {
  const void *data = NULL;
  nd4c_status status = nd4c_array_data(d->logits, &data);
  const float *logits = data;
  for (int64_t i = 0; status == ND4C_OK && i < d->count; i++) {
    int best = 0;
    for (int digit = 1; digit < CLASSES; digit++) {
      best = logits[i * CLASSES + digit] > logits[i * CLASSES + best] ? digit : best;
    }
    d->read[i] = best;
  }
  return status;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median seconds of a run over all images. */
static nd4c_status measure(digits *d, double *seconds) {
  double times[RUNS];
  for (int i = 0; i < RUNS; i++) {
    const double begin = now();
    nd4c_status status = run(d);
    if (status == ND4C_OK) {
      status = nd4c_array_wait(d->logits);
    }
    if (status != ND4C_OK) {
      return status;
    }
    times[i] = now() - begin;
  }
  qsort(times, RUNS, sizeof times[0], by_value);
  *seconds = times[RUNS / 2];
  return ND4C_OK;
}

/* Five greys, two characters a pixel; plain characters where the terminal does not say that it knows others. */
static const char *const *greys(void) {
  static const char *const blocks[] = {"  ", "░░", "▒▒", "▓▓", "██"};
  static const char *const plain[] = {"  ", "..", "++", "%%", "@@"};
  const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (int i = 0; i < 3; i++) {
    const char *value = getenv(variables[i]);
    if (value != NULL && value[0] != '\0') {
      return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL ? blocks : plain;
    }
  }
  return plain;
}

static void draw(const digits *d, const float *images, const uint8_t *labels, const int64_t *chosen, int count) {
  const char *const *grey = greys();
  for (int row = 0; row < SIDE; row++) {
    for (int i = 0; i < count; i++) {
      for (int column = 0; column < SIDE; column++) {
        const float value = images[chosen[i] * PIXELS + row * SIDE + column];
        const int level = value < 0.1f ? 0 : value < 0.35f ? 1 : value < 0.6f ? 2 : value < 0.85f ? 3 : 4;
        (void)fputs(grey[level], stdout);
      }
      (void)fputs(i + 1 < count ? "  " : "\n", stdout);
    }
  }
  for (int i = 0; i < count; i++) {
    char text[32];
    const int read = d->read[chosen[i]], label = labels[chosen[i]];
    if (read == label) {
      (void)snprintf(text, sizeof text, "read as %d", read);
    } else {
      (void)snprintf(text, sizeof text, "read as %d, is %d !", read, label);
    }
    (void)printf(i + 1 < count ? "%-18s" : "%s\n\n", text);
  }
}

/* Draws the first images and the first wrong ones, and counts. */
static nd4c_status show(const digits *d, int64_t *right) {
  const void *images = NULL, *labels = NULL;
  nd4c_status status = nd4c_array_data(d->images, &images);
  if (status == ND4C_OK) {
    status = nd4c_array_data(d->labels, &labels);
  }
  if (status != ND4C_OK) {
    return status;
  }
  int64_t first[PER_ROW], wrong[PER_ROW];
  int first_count = 0, wrong_count = 0;
  *right = 0;
  for (int64_t i = 0; i < d->count; i++) {
    const int good = d->read[i] == ((const uint8_t *)labels)[i];
    *right += good;
    if (good && first_count < PER_ROW) {
      first[first_count++] = i;
    } else if (!good && wrong_count < PER_ROW) {
      wrong[wrong_count++] = i;
    }
  }
  draw(d, images, labels, first, first_count);
  if (wrong_count > 0) {
    draw(d, images, labels, wrong, wrong_count);
  }
  return ND4C_OK;
}

static int work(digits *d, const char *folder) {
  nd4c_status status = load(folder, d);
  if (status != ND4C_OK) {
    return complain();
  }
  d->count = nd4c_array_rank(d->images) > 0 ? nd4c_array_shape(d->images)[0] : 0;
  if (!fits(d)) {
    (void)fprintf(stderr, "digits: the files in %s do not hold 8x8 images and one uint8 label for each\n", folder);
    return 1;
  }
  d->read = calloc((size_t)d->count, sizeof *d->read);
  if (d->read == NULL) {
    (void)fprintf(stderr, "digits: no memory\n");
    return 1;
  }
  int64_t right = 0;
  double seconds = 0;
  if (run(d) != ND4C_OK || read_digits(d) != ND4C_OK || show(d, &right) != ND4C_OK || measure(d, &seconds) != ND4C_OK) {
    return complain();
  }
  nd4c_device_info info = {.struct_size = sizeof info};
  if (nd4c_device_get_info(nd4c_array_device(d->logits), &info) == ND4C_OK) {
    (void)printf("device: %s (%s)\n", info.name, info.description);
  }
  (void)printf("accuracy: %.1f %% of %" PRId64 "\n", 100.0 * (double)right / (double)d->count, d->count);
  (void)printf("time: %.2f us an image (all %" PRId64 " at once, median of %d runs)\n",
               1e6 * seconds / (double)d->count, d->count, RUNS);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 2 || (argc == 2 && argv[1][0] == '-')) {
    (void)fprintf(stderr, "usage: digits [FOLDER]\n");
    return 2;
  }
  digits d = {0};
  const int result = work(&d, argc == 2 ? argv[1] : DIGITS_FOLDER);
  free(d.read);
  nd4c_array_release(d.logits);
  nd4c_array_release(d.labels);
  nd4c_array_release(d.images);
  nd4c_model_close(d.model);
  return result;
}
