/* Files of pictures that are cut off at each byte. The cut is a view, behind which the rest of the file lies: a decoder
 * that reads on finds a sound picture. The answer must be that for a other of the same bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

enum { MOST_BYTES = 128, MOST_PIXELS = 64, TEXT = 256 };

typedef struct answer {
  int64_t status, height, width; /* no gaps, so that answers compare as bytes */
  unsigned char pixels[3 * MOST_PIXELS];
  char text[TEXT];
} answer;

/* Decodes and releases the array. */
static answer decode(nd4c_array *file) {
  answer given = {.status = ND4C_OK};
  nd4c_array *picture = NULL;
  nd4c_error_clear();
  given.status = nd4c_decode_image(file, ND4C_PIXEL_FORMAT_RGB, &picture);
  (void)snprintf(given.text, sizeof given.text, "%s", nd4c_error_message());
  if (given.status == ND4C_OK) {
    given.height = nd4c_array_shape(picture)[0];
    given.width = nd4c_array_shape(picture)[1];
    assert_true(given.height * given.width <= MOST_PIXELS);
    assert_int_equal(nd4c_array_read(picture, given.pixels, (size_t)(3 * given.height * given.width)), ND4C_OK);
  }
  nd4c_array_release(picture);
  nd4c_array_release(file);
  return given;
}

/* The first `count` bytes, as a view: behind it lies the rest of the file, or other bytes. */
static answer decode_cut(const unsigned char *bytes, int64_t size, int64_t count, bool others) {
  const nd4c_index range = {.kind = ND4C_INDEX_SLICE, .start = 0, .stop = count, .step = 1};
  nd4c_array *file = NULL, *cut = NULL;
  unsigned char all[MOST_BYTES];
  for (int64_t i = 0; i < size; i++) {
    all[i] = others && i >= count ? (unsigned char)~bytes[i] : bytes[i];
  }
  assert_int_equal(nd4c_array_from_data(ND4C_UINT8, 1, &size, all, NULL, &file), ND4C_OK);
  assert_int_equal(nd4c_array_get(file, &range, 1, &cut), ND4C_OK);
  nd4c_array_release(file);
  return decode(cut);
}

/* `least`: cuts from this byte on may be whole pictures. */
static void check_cuts(const char *name, const void *file, int64_t size, int64_t least) {
  const unsigned char *bytes = file;
  assert_true(size <= MOST_BYTES);
  for (int64_t count = 0; count <= size; count++) {
    const answer view = decode_cut(bytes, size, count, false), other = decode_cut(bytes, size, count, true);
    if (memcmp(&view, &other, sizeof view) != 0 || (count < least && view.status == ND4C_OK)) {
      print_error("%s, %lld of %lld bytes: %s (%s) and before other bytes %s (%s)\n", name, (long long)count,
                  (long long)size, nd4c_status_name((nd4c_status)view.status), view.text,
                  nd4c_status_name((nd4c_status)other.status), other.text);
    }
    assert_memory_equal(&view, &other, sizeof view);
    assert_true(count >= least || view.status != ND4C_OK);
  }
}

static void no_decoder_reads_behind_the_end(void **state) {
  static const char bits[] = "P1\n3 2\n1 0 1\n0 1 1", grays[] = "P2 2 2 15\n1 2\n3 15",
                    colors[] = "P3 1 2 9 1 2 3 9 8 7";
  static const unsigned char packed[] = "P4\n9 2\n\xaa\x80\x55\x80", bytes[] = "P5 3 1 200\n\x01\x02\xc8",
                             triples[] = "P6 2 1 255\n\x01\x02\x03\xff\xfe\xfd",
                             wide[] = "P5 2 1 1000\n\x03\xe8\x01\x02";
  /* 2 x 2 pixels of 24 bits, rows of 8 bytes, after a head of 14 and 40 bytes */
  static const unsigned char bitmap[70] = {'B', 'M', 70, 0, 0, 0, 0, 0, 0, 0, 54, 0,   0,   0,   40, 0, 0, 0,
                                           2,   0,   0,  0, 2, 0, 0, 0, 1, 0, 24, 0,   0,   0,   0,  0, 0, 0,
                                           0,   0,   0,  0, 0, 0, 0, 0, 0, 0, 0,  0,   0,   0,   0,  0, 0, 0,
                                           1,   2,   3,  4, 5, 6, 0, 0, 7, 8, 9,  250, 251, 252, 0,  0};
  (void)state;
  check_cuts("P1", bits, sizeof bits - 1, sizeof bits - 1);
  check_cuts("P2", grays, sizeof grays - 1, sizeof grays - 2); /* 1 instead of 15 */
  check_cuts("P3", colors, sizeof colors - 1, sizeof colors - 1);
  check_cuts("P4", packed, sizeof packed - 1, sizeof packed - 1);
  check_cuts("P5", bytes, sizeof bytes - 1, sizeof bytes - 1);
  check_cuts("P6", triples, sizeof triples - 1, sizeof triples - 1);
  check_cuts("P5 of 16 bits", wide, sizeof wide - 1, sizeof wide - 1);
  check_cuts("BMP", bitmap, sizeof bitmap, sizeof bitmap - 2);
  /* the same after the older head, of 14 and 12 bytes */
  unsigned char old[42] = {'B', 'M', 42, 0, 0, 0, 0, 0, 0, 0, 26, 0, 0, 0, 12, 0, 0, 0, 2, 0, 2, 0, 1, 0, 24, 0};
  memcpy(old + 26, bitmap + 54, 16);
  check_cuts("BMP with an older head", old, sizeof old, sizeof old - 2);
  const unsigned char expected[] = {9, 8, 7, 252, 251, 250, 3, 2, 1, 6, 5, 4};
  const answer pictures[] = {decode_cut(bitmap, sizeof bitmap, sizeof bitmap, false),
                             decode_cut(old, sizeof old, sizeof old, false)};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pictures[i].status, ND4C_OK);
    assert_int_equal(pictures[i].height, 2);
    assert_int_equal(pictures[i].width, 2);
    assert_memory_equal(pictures[i].pixels, expected, sizeof expected);
  }
}

/* Each byte between two numbers of a head: six of them are white space. */
static void white_space_is_six_bytes(void **state) {
  (void)state;
  for (int byte = 0; byte < 256; byte++) {
    unsigned char file[] = "P3 1?1 9 1 2 3";
    const bool digit = byte >= '0' && byte <= '9';
    const bool space = byte == ' ' || (byte >= 9 && byte <= 13);
    file[4] = (unsigned char)byte;
    const answer given = decode_cut(file, sizeof file - 1, sizeof file - 1, false);
    assert_true(digit || (given.status == ND4C_OK) == space);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_decoder_reads_behind_the_end),
                                     cmocka_unit_test(white_space_is_six_bytes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
