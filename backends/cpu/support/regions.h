/* What engines reference and simd read of regions of images; reference/image.c defines it. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_REGIONS_H
#define ND4C_BACKENDS_CPU_SUPPORT_REGIONS_H

#include "backends/cpu/cpu.h"
#include "kernels/reference/image/image.h"

/* Reads a call. INDEX: batch_indices name no image; ARGUMENT: a roi is not finite, or has too many samples. */
nd4c_status nd4c_cpu_roi_align_read(const nd4c_call *call, nd4c_ref_roi_args *read);

/* Refuses a list of which a number is not that of one of `images` images. */
nd4c_status nd4c_cpu_check_images(const nd4c_call *call, const char *what, const nd4c_ref_tensor *indices,
                                  int64_t images);

#endif
