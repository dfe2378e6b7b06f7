__kernel void binary(__global const STORAGE_A *a, long a0, __global const STORAGE_B *b, long b0, __global STORAGE_Y *y,
                     long y0, nd4c_walk walk) {
  INDEX i = get_global_id(0);
  if (i < walk.size) {
    long p[3];
    nd4c_walk_places(&walk, 3, i, p);
    SAVE_Y(y, y0 + p[2], LOAD_A(a, a0 + p[0]) + LOAD_B(b, b0 + p[1]));
  }
}
