/* The enums of attributes whose values have words, made from the tables of words in
 * include/nd4c/op_table.h and include/nd4c/op_table/ by scripts/ops_header.py (target ops-header): change a table, not
 * this file. The generic call (nd4c_op_call) takes the number as INT, or the word as STRING; nd4c_op_attr_words lists
 * the words of an attribute. */
#ifndef ND4C_OPS_ENUMS_H
#define ND4C_OPS_ENUMS_H

/* The activation that linear, conv and bias_add apply to their result.
 * Attribute activation of linear, bias_add, conv. */
typedef enum nd4c_activation {
  ND4C_ACTIVATION_NONE = 0,
  ND4C_ACTIVATION_RELU = 1,
  ND4C_ACTIVATION_GELU = 2,
  ND4C_ACTIVATION_GELU_TANH = 3,
  ND4C_ACTIVATION_SIGMOID = 4,
  ND4C_ACTIVATION_TANH = 5,
  ND4C_ACTIVATION_SWISH = 6,
  ND4C_ACTIVATION_HARD_SWISH = 7,
  ND4C_ACTIVATION_RELU6 = 8
} nd4c_activation;

/* How convolutions and pools pad x. EXPLICIT: by the attribute pads. VALID: not at all. SAME_UPPER, SAME_LOWER: so
 * that the output has ceil(input / stride) cells; an odd cell is added at the end (UPPER) or at the beginning
 * (LOWER).
 * Attribute auto_pad of conv_integer, qlinear_conv, conv, max_pool, average_pool, conv_transpose,
 * max_pool_with_indices, lp_pool, morphological_dilation, morphological_erosion, separable_conv2d. */
typedef enum nd4c_auto_pad {
  ND4C_AUTO_PAD_EXPLICIT = 0,
  ND4C_AUTO_PAD_SAME_UPPER = 1,
  ND4C_AUTO_PAD_SAME_LOWER = 2,
  ND4C_AUTO_PAD_VALID = 3
} nd4c_auto_pad;

/* How embedding_bag combines the rows of a bag.
 * Attribute mode of embedding_bag. */
typedef enum nd4c_bag_mode {
  ND4C_BAG_MODE_SUM = 0,
  ND4C_BAG_MODE_MEAN = 1,
  ND4C_BAG_MODE_MAX = 2
} nd4c_bag_mode;

/* Which part of a convolution is given: all of it, the middle part as long as the longer input, or the part where the
 * inputs overlap completely.
 * Attribute mode of convolve, correlate. */
typedef enum nd4c_convolve_mode {
  ND4C_CONVOLVE_MODE_FULL = 0,
  ND4C_CONVOLVE_MODE_SAME = 1,
  ND4C_CONVOLVE_MODE_VALID = 2
} nd4c_convolve_mode;

/* The direction in which a recurrent layer reads a sequence.
 * Attribute direction of rnn, lstm, gru. */
typedef enum nd4c_direction {
  ND4C_DIRECTION_FORWARD = 0,
  ND4C_DIRECTION_REVERSE = 1,
  ND4C_DIRECTION_BIDIRECTIONAL = 2
} nd4c_direction;

/* The transform that is divided by the number of points. BACKWARD: the inverse transform. FORWARD: the forward
 * transform. ORTHO: both, by the square root of that number.
 * Attribute norm of fft, ifft, fftn, ifftn, rfft, irfft, rfftn, irfftn, hfft, ihfft. */
typedef enum nd4c_fft_norm {
  ND4C_FFT_NORM_BACKWARD = 0,
  ND4C_FFT_NORM_ORTHO = 1,
  ND4C_FFT_NORM_FORWARD = 2
} nd4c_fft_norm;

/* What take does with an index out of range. WRAP: the index modulo the extent. CLIP: the nearest valid index; a
 * negative index becomes 0.
 * Attribute mode of take. */
typedef enum nd4c_index_mode {
  ND4C_INDEX_MODE_RAISE = 0,
  ND4C_INDEX_MODE_WRAP = 1,
  ND4C_INDEX_MODE_CLIP = 2
} nd4c_index_mode;

/* How an image is sampled between its pixels; crop_and_resize refuses CUBIC.
 * Attribute mode of resize, crop_and_resize, grid_sample, spatial_transformer. */
typedef enum nd4c_interpolation {
  ND4C_INTERPOLATION_NEAREST = 0,
  ND4C_INTERPOLATION_LINEAR = 1,
  ND4C_INTERPOLATION_CUBIC = 2
} nd4c_interpolation;

/* The kernel function of svm_kernel.
 * Attribute kernel of svm_kernel. */
typedef enum nd4c_kernel_function {
  ND4C_KERNEL_FUNCTION_LINEAR = 0,
  ND4C_KERNEL_FUNCTION_POLY = 1,
  ND4C_KERNEL_FUNCTION_RBF = 2,
  ND4C_KERNEL_FUNCTION_SIGMOID = 3
} nd4c_kernel_function;

/* The case into which string_normalizer changes letters.
 * Attribute change_case of string_normalizer. */
typedef enum nd4c_letter_case {
  ND4C_LETTER_CASE_NONE = 0,
  ND4C_LETTER_CASE_LOWER = 1,
  ND4C_LETTER_CASE_UPPER = 2
} nd4c_letter_case;

/* How a loss combines its elements. MEAN divides by the number of elements, but in nll_loss and softmax_cross_entropy
 * by the sum of the weights. MEAN_BY_WEIGHT always divides by the sum of the weights.
 * Attribute reduction of nll_loss, softmax_cross_entropy, dense_cross_entropy, cosine_distance, mse_loss, l1_loss,
 * huber_loss, smooth_l1_loss, hinge_loss, log_loss, sigmoid_cross_entropy, kl_divergence, poisson_nll_loss, ctc_loss. */
typedef enum nd4c_loss_reduction {
  ND4C_LOSS_REDUCTION_NONE = 0,
  ND4C_LOSS_REDUCTION_SUM = 1,
  ND4C_LOSS_REDUCTION_MEAN = 2,
  ND4C_LOSS_REDUCTION_MEAN_BY_WEIGHT = 3
} nd4c_loss_reduction;

/* The norm that matrix_norm computes. Frobenius: the root of the sum of squares; nuclear: the sum of the singular
 * values. ONE, INFINITE: the largest column or row sum of magnitudes, TWO: the largest singular value; MINUS_*: the
 * smallest.
 * Attribute ord of matrix_norm. */
typedef enum nd4c_matrix_norm_order {
  ND4C_MATRIX_NORM_ORDER_FROBENIUS = 0,
  ND4C_MATRIX_NORM_ORDER_NUCLEAR = 1,
  ND4C_MATRIX_NORM_ORDER_ONE = 2,
  ND4C_MATRIX_NORM_ORDER_MINUS_ONE = 3,
  ND4C_MATRIX_NORM_ORDER_TWO = 4,
  ND4C_MATRIX_NORM_ORDER_MINUS_TWO = 5,
  ND4C_MATRIX_NORM_ORDER_INFINITE = 6,
  ND4C_MATRIX_NORM_ORDER_MINUS_INFINITE = 7
} nd4c_matrix_norm_order;

/* What the new cells of a padded array hold.
 * Attribute mode of pad. */
typedef enum nd4c_pad_mode {
  ND4C_PAD_MODE_CONSTANT = 0,
  ND4C_PAD_MODE_EDGE = 1,
  ND4C_PAD_MODE_REFLECT = 2,
  ND4C_PAD_MODE_WRAP = 3,
  ND4C_PAD_MODE_SYMMETRIC = 4
} nd4c_pad_mode;

/* The channels of a decoded image and their order.
 * Attribute pixel_format of decode_image. */
typedef enum nd4c_pixel_format {
  ND4C_PIXEL_FORMAT_RGB = 0,
  ND4C_PIXEL_FORMAT_BGR = 1,
  ND4C_PIXEL_FORMAT_GRAYSCALE = 2
} nd4c_pixel_format;

/* What score_transform does with scores, in ONNX's order.
 * Attribute transform of score_transform. */
typedef enum nd4c_post_transform {
  ND4C_POST_TRANSFORM_NONE = 0,
  ND4C_POST_TRANSFORM_SOFTMAX = 1,
  ND4C_POST_TRANSFORM_LOGISTIC = 2,
  ND4C_POST_TRANSFORM_SOFTMAX_ZERO = 3,
  ND4C_POST_TRANSFORM_PROBIT = 4
} nd4c_post_transform;

/* What quantile gives for a position between two elements.
 * Attribute method of quantile. */
typedef enum nd4c_quantile_method {
  ND4C_QUANTILE_METHOD_LINEAR = 0,
  ND4C_QUANTILE_METHOD_LOWER = 1,
  ND4C_QUANTILE_METHOD_HIGHER = 2,
  ND4C_QUANTILE_METHOD_MIDPOINT = 3,
  ND4C_QUANTILE_METHOD_NEAREST = 4
} nd4c_quantile_method;

/* Activation functions of recurrent layers.
 * Attribute activations of rnn, lstm, gru. */
typedef enum nd4c_recurrent_activation {
  ND4C_RECURRENT_ACTIVATION_RELU = 0, /* max(0, x) */
  ND4C_RECURRENT_ACTIVATION_TANH = 1, /* tanh x */
  ND4C_RECURRENT_ACTIVATION_SIGMOID = 2, /* 1 / (1 + e^-x) */
  ND4C_RECURRENT_ACTIVATION_AFFINE = 3, /* alpha x + beta */
  ND4C_RECURRENT_ACTIVATION_LEAKY_RELU = 4, /* alpha x below 0 */
  ND4C_RECURRENT_ACTIVATION_THRESHOLDED_RELU = 5, /* 0 below alpha */
  ND4C_RECURRENT_ACTIVATION_SCALED_TANH = 6, /* alpha tanh beta x */
  ND4C_RECURRENT_ACTIVATION_HARD_SIGMOID = 7, /* alpha x + beta in 0 .. 1 */
  ND4C_RECURRENT_ACTIVATION_ELU = 8, /* alpha (e^x - 1) below 0 */
  ND4C_RECURRENT_ACTIVATION_SOFTSIGN = 9, /* x / (1 + |x|) */
  ND4C_RECURRENT_ACTIVATION_SOFTPLUS = 10 /* ln(1 + e^x) */
} nd4c_recurrent_activation;

/* Whether the result of resize has exactly `sizes`, or keeps the aspect ratio of x: the largest result that is not
 * larger than `sizes`, or the smallest that is not smaller.
 * Attribute aspect of resize. */
typedef enum nd4c_resize_aspect {
  ND4C_RESIZE_ASPECT_STRETCH = 0,
  ND4C_RESIZE_ASPECT_NOT_LARGER = 1,
  ND4C_RESIZE_ASPECT_NOT_SMALLER = 2
} nd4c_resize_aspect;

/* How resize maps a position of the result to a position of x; the names are ONNX's.
 * Attribute coordinates of resize. */
typedef enum nd4c_resize_coordinates {
  ND4C_RESIZE_COORDINATES_HALF_PIXEL = 0,
  ND4C_RESIZE_COORDINATES_HALF_PIXEL_SYMMETRIC = 1,
  ND4C_RESIZE_COORDINATES_PYTORCH_HALF_PIXEL = 2,
  ND4C_RESIZE_COORDINATES_ALIGN_CORNERS = 3,
  ND4C_RESIZE_COORDINATES_ASYMMETRIC = 4,
  ND4C_RESIZE_COORDINATES_TF_CROP_AND_RESIZE = 5,
  ND4C_RESIZE_COORDINATES_TF_HALF_PIXEL_FOR_NN = 6
} nd4c_resize_coordinates;

/* Which of two neighbours resize takes with ND4C_INTERPOLATION_NEAREST.
 * Attribute nearest of resize. */
typedef enum nd4c_resize_nearest {
  ND4C_RESIZE_NEAREST_ROUND_PREFER_FLOOR = 0,
  ND4C_RESIZE_NEAREST_ROUND_PREFER_CEIL = 1,
  ND4C_RESIZE_NEAREST_FLOOR = 2,
  ND4C_RESIZE_NEAREST_CEIL = 3
} nd4c_resize_nearest;

/* How roi_align combines the samples of a cell.
 * Attribute mode of roi_align. */
typedef enum nd4c_roi_mode {
  ND4C_ROI_MODE_AVERAGE = 0,
  ND4C_ROI_MODE_MAX = 1
} nd4c_roi_mode;

/* How cast_float8 rounds to float8_e8m0fnu, whose values are powers of two.
 * Attribute rounding of cast_float8. */
typedef enum nd4c_rounding {
  ND4C_ROUNDING_NEAREST = 0,
  ND4C_ROUNDING_UP = 1,
  ND4C_ROUNDING_DOWN = 2
} nd4c_rounding;

/* What grid_sample and spatial_transformer read outside x.
 * Attribute padding of grid_sample, spatial_transformer. */
typedef enum nd4c_sample_padding {
  ND4C_SAMPLE_PADDING_ZEROS = 0,
  ND4C_SAMPLE_PADDING_BORDER = 1,
  ND4C_SAMPLE_PADDING_REFLECTION = 2
} nd4c_sample_padding;

/* How a scatter combines an update with the element in its place.
 * Attribute reduction of scatter_elements, scatter_nd. */
typedef enum nd4c_scatter_reduction {
  ND4C_SCATTER_REDUCTION_NONE = 0,
  ND4C_SCATTER_REDUCTION_ADD = 1,
  ND4C_SCATTER_REDUCTION_MULTIPLY = 2,
  ND4C_SCATTER_REDUCTION_MAXIMUM = 3,
  ND4C_SCATTER_REDUCTION_MINIMUM = 4,
  ND4C_SCATTER_REDUCTION_SUBTRACT = 5,
  ND4C_SCATTER_REDUCTION_DIVIDE = 6
} nd4c_scatter_reduction;

/* The step after which attention_with_cache gives the scores: scale q k^T, the soft cap, the mask, the softmax. The
 * numbers are ONNX's.
 * Attribute scores_mode of attention_with_cache. */
typedef enum nd4c_scores_mode {
  ND4C_SCORES_MODE_SCALED = 0,
  ND4C_SCORES_MODE_CAPPED = 1,
  ND4C_SCORES_MODE_MASKED = 2,
  ND4C_SCORES_MODE_SOFTMAX = 3
} nd4c_scores_mode;

/* What tfidf_vectorizer gives for an n-gram: its count, its weight if it occurs, or count times weight.
 * Attribute mode of tfidf_vectorizer. */
typedef enum nd4c_tfidf_mode {
  ND4C_TFIDF_MODE_TF = 0,
  ND4C_TFIDF_MODE_IDF = 1,
  ND4C_TFIDF_MODE_TFIDF = 2
} nd4c_tfidf_mode;

/* How tree_ensemble combines the results of its trees, in ONNX's order.
 * Attribute aggregate of tree_ensemble. */
typedef enum nd4c_tree_aggregate {
  ND4C_TREE_AGGREGATE_AVERAGE = 0,
  ND4C_TREE_AGGREGATE_SUM = 1,
  ND4C_TREE_AGGREGATE_MIN = 2,
  ND4C_TREE_AGGREGATE_MAX = 3
} nd4c_tree_aggregate;

/* The comparison of a node of tree_ensemble (elements of node_modes), in ONNX's order. */
typedef enum nd4c_tree_mode {
  ND4C_TREE_MODE_LEQ = 0,
  ND4C_TREE_MODE_LT = 1,
  ND4C_TREE_MODE_GTE = 2,
  ND4C_TREE_MODE_GT = 3,
  ND4C_TREE_MODE_EQ = 4,
  ND4C_TREE_MODE_NEQ = 5,
  ND4C_TREE_MODE_MEMBER = 6
} nd4c_tree_mode;

/* How linear_attention updates its state.
 * Attribute update_rule of linear_attention. */
typedef enum nd4c_update_rule {
  ND4C_UPDATE_RULE_LINEAR = 0,
  ND4C_UPDATE_RULE_GATED = 1,
  ND4C_UPDATE_RULE_DELTA = 2,
  ND4C_UPDATE_RULE_GATED_DELTA = 3
} nd4c_update_rule;

#endif
