/* Products of whole numbers on engine simd: every dtype, way and layout gives the reference's results, which wrap. */
#include "kernels/same.h"

static const nd4c_dtype dtypes[] = {ND4C_UINT8, ND4C_INT8, ND4C_INT16, ND4C_INT32, ND4C_UINT32, ND4C_INT64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* Extents around strips, blocks and pieces; of each way one at least. */
static const int64_t products[][4] = {
    {1, 1, 1, 1},     {1, 3, 5, 4}, {1, 2, 70, 33}, {1, 1, 200, 100}, {1, 40, 2, 19},  {1, 13, 65, 7},  {1, 25, 40, 60},
    {1, 30, 67, 130}, {7, 4, 4, 4}, {3, 9, 5, 17},  {2, 1, 1, 40},    {5, 30, 33, 40}, {1, 1, 1, 40000}};

static void check_product(nd4c_dtype dtype, const int64_t *mnk, same_layout of_a, same_layout of_b) {
  const int64_t a_shape[3] = {mnk[0], mnk[1], mnk[3]}, b_shape[3] = {mnk[0], mnk[3], mnk[2]};
  const int64_t low = dtype == ND4C_UINT8 || dtype == ND4C_UINT32 ? 0 : -100;
  nd4c_array *inputs[2] = {same_array(dtype, 3, a_shape, of_a, low, 227),
                           same_array(dtype, 3, b_shape, of_b, low, 227)};
  char what[128];
  (void)snprintf(what, sizeof what, "matmul of %s, %d x %d x %d x %d, layouts %d and %d", nd4c_dtype_name(dtype),
                 (int)mnk[0], (int)mnk[1], (int)mnk[2], (int)mnk[3], (int)of_a, (int)of_b);
  same_check(what, ND4C_OP_matmul, (const nd4c_array *const *)inputs, 2, NULL, 0, 1, "simd");
  same_free(inputs, 2);
}

static void test_products(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
    for (int32_t dtype = 0; dtype < DTYPES; dtype++) {
      for (same_layout how = SAME_PLAIN; how < SAME_LAYOUTS; how++) {
        check_product(dtypes[dtype], products[i], how, SAME_PLAIN);
        check_product(dtypes[dtype], products[i], (same_layout)((how + 1) % SAME_LAYOUTS), how);
      }
    }
  }
}

typedef struct sum {
  const char *equation;
  int32_t a_rank, b_rank;
  int64_t a[4], b[4];
  const char *engine;
} sum;

/* Batches, diagonals, broadcast axes, axes of one operand that are apart, axes of length 1; what is left to the
 * reference. */
static const sum sums[] = {{"bij,bjk->bik", 3, 3, {5, 3, 4}, {5, 4, 6}, "simd"},
                           {"bij,bkj->kbi", 3, 3, {5, 3, 4}, {5, 6, 4}, "simd"},
                           {"ijk,jkl->il", 3, 3, {3, 4, 5}, {4, 5, 6}, "simd"},
                           {"aib,jc->abcij", 3, 2, {2, 3, 4}, {5, 6}, "simd"},
                           {"iij,jk->ik", 3, 2, {4, 4, 3}, {3, 5}, "simd"},
                           {"i,j->ij", 1, 1, {7}, {9}, "simd"},
                           {"i,i->", 1, 1, {70}, {70}, "simd"},
                           {"ij,ij->ji", 2, 2, {7, 9}, {7, 9}, "simd"},
                           {"...ij,...jk->...ik", 4, 3, {2, 3, 4, 5}, {1, 5, 6}, "simd"},
                           {"ij,jk->ik", 2, 2, {1, 5}, {5, 1}, "simd"},
                           {"ijk,ijl->kl", 3, 3, {3, 4, 5}, {3, 4, 2}, "simd"},
                           {"ij,kl->il", 2, 2, {3, 4}, {5, 6}, "reference"}};

static void test_sums_over_named_axes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
    for (int32_t dtype = 0; dtype < DTYPES; dtype++) {
      const sum *s = &sums[i];
      nd4c_array *inputs[2] = {same_array(dtypes[dtype], s->a_rank, s->a, SAME_PLAIN, 0, 120),
                               same_array(dtypes[dtype], s->b_rank, s->b, SAME_PLAIN, 0, 120)};
      const nd4c_attr equation = {"equation", {.kind = ND4C_ATTR_STRING, .as.string = s->equation}};
      same_check(s->equation, ND4C_OP_einsum, (const nd4c_array *const *)inputs, 2, &equation, 1, 1, s->engine);
      same_free(inputs, 2);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_sums_over_named_axes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
