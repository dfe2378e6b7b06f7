/* Writes graphs as a picture (SVG) with a layout in layers, from the inputs at the top down. graph.c calls it. A node
 * with bodies is a box that holds their pictures, so a layer is as high as its highest box.
 *
 * A box lies one layer below the lowest box that it reads. An arrow over several layers has a bend in each layer in
 * between; arrows from one box share their bends. A few sweeps over the layers then put boxes and bends below, and
 * above, what they are connected with: first their order in the layer, then their coordinates. */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum {
  HEIGHT = 36, /* of a box without bodies */
  ROOM = 42,   /* between two layers */
  GAP = 18,
  MARGIN = 20,
  INNER = 8,  /* around and between bodies */
  LABEL = 16, /* above a body, or a picture */
  LETTER = 7,
  ORDER_SWEEPS = 8,
  PLACE_SWEEPS = 12
};

/* A box or a bend. */
typedef struct spot {
  int32_t box; /* -1: a bend */
  int32_t layer;
  double x, width, height; /* x: of the middle */
  double wish;             /* the mean of its neighbours' places */
  int32_t neighbours;
  bool linked; /* an arrow begins or ends here */
} spot;

typedef struct link {
  int32_t from, to; /* spots of neighbouring layers, from above */
} link;

typedef struct layout {
  const graph_picture *picture;
  spot *spots; /* the boxes, then the bends */
  int32_t spot_count;
  link *links; /* in the order of the layers of `from` */
  int32_t link_count;
  int32_t *layer_spots; /* by layer, in the order in which they lie */
  int32_t *spot_begins; /* by layer, into layer_spots; one more than there are layers */
  int32_t *link_begins; /* by layer, into links; the same */
  int32_t layer_count;
  double *tops;         /* by layer; one more than there are layers, the last one ROOM below the picture */
  double width, height; /* of the whole */
  struct layout *inner; /* of all bodies, in the order of the boxes */
  int32_t inner_count;
} layout;

static void free_layout(layout *l) {
  for (int32_t i = 0; i < l->inner_count; i++) {
    free_layout(&l->inner[i]);
  }
  free(l->inner);
  free(l->tops);
  free(l->spots);
  free(l->links);
  free(l->layer_spots);
  free(l->spot_begins);
  free(l->link_begins);
}

/* -- layers, bends and links --------------------------------------------------------------------------------------- */

/* The layer of each box. Inputs come down to the layer above their first reader. */
static void find_layers(const graph_picture *picture, int32_t *layers) {
  memset(layers, 0, (size_t)picture->box_count * sizeof *layers);
  for (int32_t i = 0; i < picture->arrow_count; i++) { /* in the order of `to`, so `from` is settled */
    const graph_arrow *a = &picture->arrows[i];
    layers[a->to] = layers[a->to] > layers[a->from] + 1 ? layers[a->to] : layers[a->from] + 1;
  }
  for (int32_t i = 0; i < picture->box_count && picture->boxes[i].kind == GRAPH_INPUT; i++) {
    layers[i] = INT32_MAX;
  }
  for (int32_t i = 0; i < picture->arrow_count; i++) {
    const graph_arrow *a = &picture->arrows[i];
    if (picture->boxes[a->from].kind == GRAPH_INPUT && layers[a->to] - 1 < layers[a->from]) {
      layers[a->from] = layers[a->to] - 1;
    }
  }
  for (int32_t i = 0; i < picture->box_count && picture->boxes[i].kind == GRAPH_INPUT; i++) {
    layers[i] = layers[i] == INT32_MAX ? 0 : layers[i];
  }
}

/* Bends that each box's arrows need: one for each layer between it and its lowest reader. Gives their sum. */
static int64_t count_bends(const graph_picture *picture, const int32_t *layers, int32_t *bends) {
  int64_t sum = 0;
  memset(bends, 0, (size_t)picture->box_count * sizeof *bends);
  for (int32_t i = 0; i < picture->arrow_count; i++) {
    const graph_arrow *a = &picture->arrows[i];
    const int32_t between = layers[a->to] - layers[a->from] - 1;
    bends[a->from] = between > bends[a->from] ? between : bends[a->from];
  }
  for (int32_t i = 0; i < picture->box_count; i++) {
    sum += bends[i];
  }
  return sum;
}

/* The size of a box, whose bodies lie side by side; `inner`: their layouts. */
static void measure(const graph_box *box, const layout *inner, spot *own) {
  const size_t title = strlen(box->title), detail = strlen(box->detail);
  double width = INNER, height = 0;
  for (int32_t i = 0; i < box->body_count; i++) {
    width += inner[i].width + INNER;
    height = inner[i].height > height ? inner[i].height : height;
  }
  own->width = (double)(title > detail ? title : detail) * LETTER + 16;
  own->width = width > own->width ? width : own->width;
  own->height = box->body_count > 0 ? HEIGHT + LABEL + height + INNER : HEIGHT;
}

/* Fills spots and links; first_bends: by box, the spot of its first bend. */
static void connect(layout *l, const int32_t *layers, const int32_t *bends, int32_t *first_bends) {
  const graph_picture *picture = l->picture;
  for (int32_t i = 0, body = 0; i < picture->box_count; body += picture->boxes[i++].body_count) {
    l->spots[i] = (spot){.box = i, .layer = layers[i]};
    measure(&picture->boxes[i], l->inner + body, &l->spots[i]);
  }
  l->spot_count = picture->box_count;
  for (int32_t i = 0; i < picture->box_count; i++) {
    first_bends[i] = l->spot_count;
    for (int32_t k = 0; k < bends[i]; k++) {
      l->links[l->link_count++] = (link){k == 0 ? i : l->spot_count - 1, l->spot_count};
      l->spots[l->spot_count++] = (spot){.box = -1, .layer = layers[i] + 1 + k, .width = 4};
    }
  }
  for (int32_t i = 0; i < picture->arrow_count; i++) {
    const graph_arrow *a = &picture->arrows[i];
    const int32_t between = layers[a->to] - layers[a->from] - 1;
    l->links[l->link_count++] = (link){between == 0 ? a->from : first_bends[a->from] + between - 1, a->to};
  }
}

/* Turns counts by layer, which stand one behind their place, into begins. */
static void sum_up(int32_t *begins, int32_t layers) {
  for (int32_t i = 0; i < layers; i++) {
    begins[i + 1] += begins[i];
  }
}

/* Sorts spots and links by layer. False: no memory. */
static bool group(layout *l) {
  for (int32_t i = 0; i < l->spot_count; i++) {
    l->layer_count = l->spots[i].layer >= l->layer_count ? l->spots[i].layer + 1 : l->layer_count;
  }
  const size_t layers = (size_t)l->layer_count + 2;
  link *sorted = malloc(((size_t)l->link_count + 1) * sizeof *sorted);
  int32_t *next = calloc(layers, sizeof *next);
  l->layer_spots = malloc(((size_t)l->spot_count + 1) * sizeof *l->layer_spots);
  l->spot_begins = calloc(layers, sizeof *l->spot_begins);
  l->link_begins = calloc(layers, sizeof *l->link_begins);
  if (sorted == NULL || next == NULL || l->layer_spots == NULL || l->spot_begins == NULL || l->link_begins == NULL) {
    free(sorted);
    free(next);
    return false;
  }
  for (int32_t i = 0; i < l->spot_count; i++) {
    l->spot_begins[l->spots[i].layer + 1]++;
  }
  for (int32_t i = 0; i < l->link_count; i++) {
    l->link_begins[l->spots[l->links[i].from].layer + 1]++;
  }
  sum_up(l->spot_begins, l->layer_count);
  sum_up(l->link_begins, l->layer_count);
  memcpy(next, l->spot_begins, (size_t)l->layer_count * sizeof *next);
  for (int32_t i = 0; i < l->spot_count; i++) {
    l->layer_spots[next[l->spots[i].layer]++] = i;
  }
  memcpy(next, l->link_begins, (size_t)l->layer_count * sizeof *next);
  for (int32_t i = 0; i < l->link_count; i++) {
    sorted[next[l->spots[l->links[i].from].layer]++] = l->links[i];
  }
  free(l->links);
  free(next);
  l->links = sorted;
  return true;
}

static bool arrange(const graph_picture *picture, layout *l);

/* Layouts of all bodies. */
static bool arrange_bodies(const graph_picture *picture, layout *l) {
  size_t count = 0;
  for (int32_t i = 0; i < picture->box_count; i++) {
    count += (size_t)picture->boxes[i].body_count;
  }
  l->inner = calloc(count + 1, sizeof *l->inner);
  for (int32_t i = 0; l->inner != NULL && i < picture->box_count; i++) {
    for (int32_t k = 0; k < picture->boxes[i].body_count; k++) {
      if (!arrange(picture->boxes[i].bodies[k], &l->inner[l->inner_count++])) {
        return false;
      }
    }
  }
  return l->inner != NULL;
}

static bool make_layout(const graph_picture *picture, layout *l) {
  const size_t boxes = (size_t)picture->box_count + 1;
  int32_t *layers = malloc(boxes * sizeof *layers), *bends = malloc(boxes * sizeof *bends),
          *first_bends = malloc(boxes * sizeof *first_bends);
  bool made = layers != NULL && bends != NULL && first_bends != NULL;
  *l = (layout){.picture = picture};
  made = made && arrange_bodies(picture, l);
  if (made) {
    find_layers(picture, layers);
    const int64_t sum = count_bends(picture, layers, bends);
    made = sum + picture->box_count <= GRAPH_SVG_LIMIT;
    l->spots = made ? malloc((boxes + (size_t)sum) * sizeof *l->spots) : NULL;
    l->links = made ? malloc(((size_t)picture->arrow_count + (size_t)sum + 1) * sizeof *l->links) : NULL;
    made = l->spots != NULL && l->links != NULL;
  }
  if (made) {
    connect(l, layers, bends, first_bends);
    made = group(l);
  }
  free(layers);
  free(bends);
  free(first_bends);
  return made;
}

/* -- places -------------------------------------------------------------------------------------------------------- */

/* The spots of a layer wish to be at the mean place of their neighbours in the layer above or below; those without
 * neighbours there stay. */
static void make_wishes(layout *l, int32_t layer, bool above) {
  const int32_t links = above ? layer - 1 : layer;
  for (int32_t i = l->spot_begins[layer]; i < l->spot_begins[layer + 1]; i++) {
    l->spots[l->layer_spots[i]].wish = 0;
    l->spots[l->layer_spots[i]].neighbours = 0;
  }
  for (int32_t i = links < 0 ? 0 : l->link_begins[links]; links >= 0 && i < l->link_begins[links + 1]; i++) {
    spot *own = &l->spots[above ? l->links[i].to : l->links[i].from];
    own->wish += l->spots[above ? l->links[i].from : l->links[i].to].x;
    own->neighbours++;
  }
  for (int32_t i = l->spot_begins[layer]; i < l->spot_begins[layer + 1]; i++) {
    spot *own = &l->spots[l->layer_spots[i]];
    own->wish = own->neighbours > 0 ? own->wish / own->neighbours : own->x;
  }
}

/* By insertion, which is stable and quick for the lists of a sweep, most of which are almost in order. */
static void sort_layer(layout *l, int32_t layer) {
  const int32_t begin = l->spot_begins[layer];
  for (int32_t i = begin + 1; i < l->spot_begins[layer + 1]; i++) {
    const int32_t moved = l->layer_spots[i];
    int32_t at = i;
    for (; at > begin && l->spots[l->layer_spots[at - 1]].wish > l->spots[moved].wish; at--) {
      l->layer_spots[at] = l->layer_spots[at - 1];
    }
    l->layer_spots[at] = moved;
  }
}

/* As near to the wishes as the order and the widths allow: each as far left as possible, then all moved by the mean of
 * what is missing. */
static void place_layer(layout *l, int32_t layer) {
  const int32_t begin = l->spot_begins[layer], end = l->spot_begins[layer + 1];
  double right = 0, missing = 0;
  for (int32_t i = begin; i < end; i++) {
    spot *own = &l->spots[l->layer_spots[i]];
    const double least = right + GAP + own->width / 2;
    own->x = i == begin || own->wish > least ? own->wish : least;
    right = own->x + own->width / 2;
    missing += own->wish - own->x;
  }
  for (int32_t i = begin; i < end; i++) {
    l->spots[l->layer_spots[i]].x += missing / (end - begin);
  }
}

static void sweep(layout *l, bool down, bool sorts) {
  for (int32_t i = 0; i < l->layer_count; i++) {
    const int32_t layer = down ? i : l->layer_count - 1 - i;
    make_wishes(l, layer, down);
    if (sorts) {
      sort_layer(l, layer);
    }
    place_layer(l, layer);
  }
}

/* Where a box without arrows lies does not matter to the sweeps, so it may have been left far away: it moves beside the
 * next box of its layer. */
static void gather_loose(layout *l) {
  for (int32_t i = 0; i < l->link_count; i++) {
    l->spots[l->links[i].from].linked = l->spots[l->links[i].to].linked = true;
  }
  for (int32_t layer = 0; layer < l->layer_count; layer++) {
    const int32_t begin = l->spot_begins[layer], end = l->spot_begins[layer + 1];
    int32_t last = end - 1; /* that has an arrow */
    while (last > begin && !l->spots[l->layer_spots[last]].linked) {
      last--;
    }
    for (int32_t i = last + 1; i < end; i++) {
      const spot *before = &l->spots[l->layer_spots[i - 1]];
      spot *own = &l->spots[l->layer_spots[i]];
      own->x = before->x + (before->width + own->width) / 2 + GAP;
    }
    for (int32_t i = last - 1; i >= begin; i--) {
      const spot *next = &l->spots[l->layer_spots[i + 1]];
      spot *own = &l->spots[l->layer_spots[i]];
      own->x = own->linked ? own->x : next->x - (next->width + own->width) / 2 - GAP;
    }
  }
}

/* Moves everything to the right of the margin, and stacks the layers. False: no memory. */
static bool settle(layout *l) {
  double left = 0, right = 0;
  gather_loose(l);
  for (int32_t i = 0; i < l->spot_count; i++) {
    const double begin = l->spots[i].x - l->spots[i].width / 2, end = l->spots[i].x + l->spots[i].width / 2;
    left = i == 0 || begin < left ? begin : left;
    right = i == 0 || end > right ? end : right;
  }
  for (int32_t i = 0; i < l->spot_count; i++) {
    l->spots[i].x += MARGIN - left;
  }
  l->width = right - left + 2 * MARGIN;
  l->tops = calloc((size_t)l->layer_count + 1, sizeof *l->tops);
  if (l->tops == NULL) {
    return false;
  }
  for (int32_t i = 0; i < l->spot_count; i++) { /* heights first, each behind its layer's place */
    double *height = &l->tops[l->spots[i].layer + 1];
    *height = l->spots[i].height > *height ? l->spots[i].height : *height;
  }
  l->tops[0] = MARGIN;
  for (int32_t i = 0; i < l->layer_count; i++) {
    l->tops[i + 1] += l->tops[i] + ROOM;
  }
  l->height = l->tops[l->layer_count] - ROOM + MARGIN;
  return true;
}

static bool arrange(const graph_picture *picture, layout *l) {
  if (!make_layout(picture, l)) {
    return false;
  }
  for (int32_t i = 0; i < ORDER_SWEEPS + PLACE_SWEEPS; i++) {
    sweep(l, i % 2 == 0, i < ORDER_SWEEPS);
  }
  return settle(l);
}

/* -- drawing ------------------------------------------------------------------------------------------------------- */

static void print_escaped(FILE *file, const char *text) {
  for (size_t bytes; *text != '\0'; text += bytes > 0 ? bytes : 1) {
    bytes = cli_character(text);
    switch (*text) {
      case '<':
        (void)fputs("&lt;", file);
        break;
      case '>':
        (void)fputs("&gt;", file);
        break;
      case '&':
        (void)fputs("&amp;", file);
        break;
      default:
        (void)fwrite(bytes > 0 ? text : "?", 1, bytes > 0 ? bytes : 1, file);
    }
  }
}

static double bottom_of(const layout *l, int32_t layer) {
  return l->tops[layer + 1] - ROOM;
}

static double middle_of(const layout *l, int32_t layer) {
  return (l->tops[layer] + bottom_of(l, layer)) / 2;
}

/* Straight from a box, or past other boxes, to the end of the layer; then in a curve to the next one. */
static void draw_links(FILE *file, const layout *l) {
  for (int32_t i = 0; i < l->link_count; i++) {
    const spot *from = &l->spots[l->links[i].from], *to = &l->spots[l->links[i].to];
    const double begin = from->box >= 0 ? middle_of(l, from->layer) + from->height / 2 : l->tops[from->layer];
    const double bottom = bottom_of(l, from->layer), top = l->tops[to->layer], half = (bottom + top) / 2;
    const double end = to->box >= 0 ? middle_of(l, to->layer) - to->height / 2 : top;
    (void)fprintf(file, "<path d=\"M%.1f %.1fV%.1fC%.1f %.1f %.1f %.1f %.1f %.1fV%.1f\"%s/>\n", from->x, begin, bottom,
                  from->x, half, to->x, half, to->x, top, end, to->box >= 0 ? " marker-end=\"url(#arrow)\"" : "");
  }
}

/* What a reader sees when the pointer rests on a node. */
static void draw_title(FILE *file, const layout *l, const graph_box *box) {
  char *text = NULL;
  size_t size = 0;
  FILE *memory = box->kind == GRAPH_NODE ? open_memstream(&text, &size) : NULL;
  if (memory != NULL) {
    graph_print_node(memory, l->picture->graph, box->index);
    if (fclose(memory) == 0) {
      (void)fputs("<title>", file);
      print_escaped(file, text);
      (void)fputs("</title>", file);
    }
  }
  free(text);
}

static void draw_layout(FILE *file, const layout *l);

static void draw_text(FILE *file, double x, double y, const char *kind, const char *text) {
  (void)fprintf(file, "<text%s x=\"%.1f\" y=\"%.1f\">", kind, x, y);
  print_escaped(file, text);
  (void)fputs("</text>", file);
}

/* `inner`: the layouts of its bodies. */
static void draw_box(FILE *file, const layout *l, const spot *s, const layout *inner) {
  const graph_box *box = &l->picture->boxes[s->box];
  const double top = middle_of(l, s->layer) - s->height / 2, left = s->x - s->width / 2;
  const char *kind = box->kind != GRAPH_NODE ? "port"
                     : box->body_count > 0   ? "control"
                     : box->merged           ? "merged"
                                             : "node";
  (void)fprintf(file, "<g class=\"%s\">", kind);
  draw_title(file, l, box);
  (void)fprintf(file, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\"/>", left, top, s->width,
                s->height, box->kind == GRAPH_NODE ? 3 : HEIGHT / 2);
  draw_text(file, s->x, top + HEIGHT / 2.0 - 4, "", box->title);
  draw_text(file, s->x, top + HEIGHT / 2.0 + 11, " class=\"type\"", box->detail);
  double x = left + INNER;
  for (int32_t i = 0; i < box->body_count; i++) {
    draw_text(file, x + inner[i].width / 2, top + HEIGHT + LABEL - 5, "", box->body_names[i]);
    (void)fprintf(file, "<g class=\"body\" transform=\"translate(%.1f %.1f)\"><rect width=\"%.1f\" height=\"%.1f\"/>\n",
                  x, top + HEIGHT + LABEL, inner[i].width, inner[i].height);
    draw_layout(file, &inner[i]);
    (void)fputs("</g>", file);
    x += inner[i].width + INNER;
  }
  (void)fputs("</g>\n", file);
}

static void draw_layout(FILE *file, const layout *l) {
  draw_links(file, l);
  for (int32_t i = 0, body = 0; i < l->picture->box_count; body += l->picture->boxes[i++].body_count) {
    draw_box(file, l, &l->spots[i], l->inner + body);
  }
}

static void draw_head(FILE *file, double width, double height) {
  (void)fprintf(file,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
                width, height, width, height);
  (void)fputs(
      "<style>text{font:11px monospace;text-anchor:middle}.type{fill:#666}path{fill:none;stroke:#888}"
      "rect{stroke:#444}.control>rect{fill:#f4f4f4}.body>rect{fill:#fff;stroke:#bbb}.node>rect{fill:#eef3fa}"
      ".merged>rect{fill:#dff0d8}.port>rect{fill:#fff6e0}</style>\n"
      "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
      "orient=\"auto\"><path d=\"M0 0L8 4L0 8\" style=\"fill:#888\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" style=\"fill:white;stroke:none\"/>\n",
      file);
}

static void draw_all(FILE *file, const layout *layouts, const char *const *titles, int count) {
  const double above = titles != NULL ? LABEL + MARGIN : 0;
  double width = 0, height = 0, x = 0;
  for (int i = 0; i < count; i++) {
    width += layouts[i].width;
    height = layouts[i].height > height ? layouts[i].height : height;
  }
  draw_head(file, width, height + above);
  for (int i = 0; i < count; i++) {
    (void)fprintf(file, "<g transform=\"translate(%.1f %.1f)\">\n", x, above);
    if (titles != NULL) {
      draw_text(file, layouts[i].width / 2, -INNER, "", titles[i]);
    }
    draw_layout(file, &layouts[i]);
    (void)fputs("</g>\n", file);
    x += layouts[i].width;
  }
  (void)fputs("</svg>\n", file);
}

bool graph_write_svg(FILE *file, const graph_picture *pictures, const char *const *titles, int count) {
  layout layouts[GRAPH_PICTURES] = {{.picture = NULL}};
  bool made = count <= GRAPH_PICTURES;
  for (int i = 0; made && i < count; i++) {
    made = arrange(&pictures[i], &layouts[i]);
  }
  if (made) {
    draw_all(file, layouts, titles, count);
  }
  for (int i = 0; i < GRAPH_PICTURES; i++) {
    free_layout(&layouts[i]);
  }
  return made;
}
