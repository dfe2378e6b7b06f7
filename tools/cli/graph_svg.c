/* Writes a graph as a picture (SVG) with a layout in layers, from the inputs at the top down. graph.c calls it.
 *
 * A box lies one layer below the lowest box that it reads. An arrow over several layers has a bend in each layer in
 * between; arrows from one box share their bends. A few sweeps over the layers then put boxes and bends below, and
 * above, what they are connected with: first their order in the layer, then their coordinates. */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

enum { ROW = 78, HALF_HEIGHT = 18, GAP = 18, MARGIN = 20, LETTER = 7, ORDER_SWEEPS = 8, PLACE_SWEEPS = 12 };

/* A box or a bend. */
typedef struct spot {
  int32_t box; /* -1: a bend */
  int32_t layer;
  double x, width; /* x: of the middle */
  double wish;     /* the mean of its neighbours' places */
  int32_t neighbours;
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
} layout;

static void free_layout(layout *l) {
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

static double width_of(const graph_box *box) {
  const size_t title = strlen(box->title), detail = strlen(box->detail);
  return (double)(title > detail ? title : detail) * LETTER + 16;
}

/* Fills spots and links; first_bends: by box, the spot of its first bend. */
static void connect(layout *l, const int32_t *layers, const int32_t *bends, int32_t *first_bends) {
  const graph_picture *picture = l->picture;
  for (int32_t i = 0; i < picture->box_count; i++) {
    l->spots[i] = (spot){.box = i, .layer = layers[i], .width = width_of(&picture->boxes[i])};
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

static bool make_layout(const graph_picture *picture, layout *l) {
  const size_t boxes = (size_t)picture->box_count + 1;
  int32_t *layers = malloc(boxes * sizeof *layers), *bends = malloc(boxes * sizeof *bends),
          *first_bends = malloc(boxes * sizeof *first_bends);
  bool made = layers != NULL && bends != NULL && first_bends != NULL;
  *l = (layout){.picture = picture};
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

/* Moves everything to the right of the margin; returns the width of the picture. */
static double settle(layout *l) {
  double left = 0, right = 0;
  for (int32_t i = 0; i < l->spot_count; i++) {
    const double begin = l->spots[i].x - l->spots[i].width / 2, end = l->spots[i].x + l->spots[i].width / 2;
    left = i == 0 || begin < left ? begin : left;
    right = i == 0 || end > right ? end : right;
  }
  for (int32_t i = 0; i < l->spot_count; i++) {
    l->spots[i].x += MARGIN - left;
  }
  return right - left + 2 * MARGIN;
}

/* -- drawing ------------------------------------------------------------------------------------------------------- */

static void print_escaped(FILE *file, const char *text) {
  for (const char *c = text; *c != '\0'; c++) {
    switch (*c) {
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
        (void)fputc((unsigned char)*c < ' ' ? '?' : *c, file);
    }
  }
}

static int middle_of(int32_t layer) {
  return MARGIN + HALF_HEIGHT + layer * ROW;
}

static void draw_links(FILE *file, const layout *l) {
  for (int32_t i = 0; i < l->link_count; i++) {
    const spot *from = &l->spots[l->links[i].from], *to = &l->spots[l->links[i].to];
    const int top = middle_of(from->layer) + HALF_HEIGHT, end = middle_of(to->layer) - HALF_HEIGHT;
    const int half = (top + end) / 2, begin = from->box >= 0 ? top : top - 2 * HALF_HEIGHT; /* straight past boxes */
    (void)fprintf(file, "<path d=\"M%.1f %dV%dC%.1f %d %.1f %d %.1f %d\"%s/>\n", from->x, begin, top, from->x, half,
                  to->x, half, to->x, end, to->box >= 0 ? " marker-end=\"url(#arrow)\"" : "");
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
      print_escaped(file, cli_json_text(text));
      (void)fputs("</title>", file);
    }
  }
  free(text);
}

static void draw_box(FILE *file, const layout *l, const spot *s) {
  const graph_box *box = &l->picture->boxes[s->box];
  const int middle = middle_of(s->layer);
  (void)fprintf(file, "<g class=\"%s\">", box->kind != GRAPH_NODE ? "port" : box->merged ? "merged" : "node");
  draw_title(file, l, box);
  (void)fprintf(file, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"%d\"/>", s->x - s->width / 2,
                middle - HALF_HEIGHT, s->width, 2 * HALF_HEIGHT, box->kind == GRAPH_NODE ? 3 : HALF_HEIGHT);
  (void)fprintf(file, "<text x=\"%.1f\" y=\"%d\">", s->x, middle - 4);
  print_escaped(file, box->title);
  (void)fprintf(file, "</text><text class=\"type\" x=\"%.1f\" y=\"%d\">", s->x, middle + 11);
  print_escaped(file, box->detail);
  (void)fputs("</text></g>\n", file);
}

static void draw(FILE *file, const layout *l, double width) {
  (void)fprintf(file, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%d\">\n", width,
                middle_of(l->layer_count - 1) + HALF_HEIGHT + MARGIN);
  (void)fputs(
      "<style>text{font:11px monospace;text-anchor:middle}.type{fill:#666}path{fill:none;stroke:#888}"
      "rect{stroke:#444}.node rect{fill:#eef3fa}.merged rect{fill:#dff0d8}.port rect{fill:#fff6e0}</style>\n"
      "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
      "orient=\"auto\"><path d=\"M0 0L8 4L0 8\" style=\"fill:#888\"/></marker></defs>\n"
      "<rect width=\"100%\" height=\"100%\" style=\"fill:white;stroke:none\"/>\n",
      file);
  draw_links(file, l);
  for (int32_t i = 0; i < l->picture->box_count; i++) {
    draw_box(file, l, &l->spots[i]);
  }
  (void)fputs("</svg>\n", file);
}

bool graph_write_svg(FILE *file, const graph_picture *picture) {
  layout l;
  const bool made = make_layout(picture, &l);
  if (made) {
    for (int32_t i = 0; i < ORDER_SWEEPS + PLACE_SWEEPS; i++) {
      sweep(&l, i % 2 == 0, i < ORDER_SWEEPS);
    }
    draw(file, &l, settle(&l));
  }
  free_layout(&l);
  return made;
}
