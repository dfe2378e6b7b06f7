"""Whether one build of nd4c is slower than an older one, judged by the spread of the older one against itself. Pure functions
on times; bench/compare --against measures them.

A *round* of a row is three times taken one after the other: of the old build, of the old build once more (the control), of
the new build. A *cluster* holds the rounds of some rows of a group that were measured by the same three processes.

- A row's ratio is the median over its rounds of old/new, its control's the median of old/control: above 1 is faster than old.
- A group's ratio is the geometric mean of its rows' ratios; its control's likewise.
- What differs between two processes that run the same library (addresses, pages, threads) shifts all rounds of a row alike,
  so the rounds of one cluster say too little about it. The standard error of a group's ratio is therefore taken between
  clusters, each of which has fresh processes: clusters are drawn at random, as many as there are, with repetition, and the
  mean is computed anew for each draw (bootstrap). It is the control's, or the ratio's own where that is larger: with few
  clusters, chance makes the control look calmer than the machine was.
- The spread is the interval of ratios from exp(-h) to exp(h), where h is the distance of the control's mean from 1 (on the
  logarithmic scale) and Student's t times the standard error; t leaves one in a thousand below. It is symmetrical, because
  chance decides which of the two old processes is called the control.
- A group below its spread is slower. A group that is not, but whose spread is wider than TOLERANCE, is not judged: its
  control was too noisy to show a slow-down of that size."""

import dataclasses
import math
import random
import statistics

BELOW = 0.001  # the chance that noise alone puts a group below its spread
TOLERANCE = 0.05  # a spread wider than this judges nothing
PRECISE = 0.02  # a spread as narrow as this needs no more clusters
DRAWS = 200  # of clusters; the standard error is then known to a twentieth
CLUSTERS = 8  # of a group at least: with fewer, t is large


@dataclasses.dataclass
class RowResult:
    old: float  # median nanoseconds
    new: float
    ratio: float
    control: float
    low: float  # the middle 80 % of old/control over the rounds
    high: float
    rounds: int

    def slower(self):
        """True if the row deserves a look. The median of many rounds should be far closer to 1 than single rounds are."""
        return self.ratio < min(self.low, 1)


@dataclasses.dataclass
class GroupResult:
    ratio: float
    control: float
    spread: float  # h: the spread reaches from exp(-h) to exp(h)
    clusters: int
    verdict: str  # "inside", "faster", "slower" or "too noisy"

    def low(self):
        return math.exp(-self.spread)

    def high(self):
        return math.exp(self.spread)


def student_tail(t, freedom):
    """The chance that Student's t with that many degrees of freedom, an integer, is above t >= 0."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine, term, total = math.cos(angle), 1.0, 0.0
    odd = freedom % 2
    if odd:
        term = cosine
    for k in range(1 + odd, freedom, 2):  # the finite series for integers
        total += term
        term *= cosine * cosine * k / (k + 1)
    middle = math.sin(angle) * total
    return 0.5 - (angle + middle) / math.pi if odd else 0.5 - middle / 2


def student_quantile(tail, freedom):
    """The t that leaves that chance above it."""
    low, high = 0.0, 1.0
    while student_tail(high, freedom) > tail:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tail(middle, freedom) > tail else (low, middle)
    return high


def median_ratio(rounds, which):
    """The median ratio of old to control (1) or of old to new (2)."""
    return statistics.median(times[0] / times[which] for times in rounds)


def rows_of(clusters):
    """Row -> its rounds in all clusters."""
    found = {}
    for cluster in clusters:
        for name, rounds in cluster.items():
            found.setdefault(name, []).extend(rounds)
    return found


def judge_row(rounds):
    """rounds: triples of nanoseconds."""
    controls = sorted(old / again for old, again, _ in rounds)
    skip = len(controls) // 10
    return RowResult(statistics.median(times[0] for times in rounds), statistics.median(times[2] for times in rounds),
                     median_ratio(rounds, 2), median_ratio(rounds, 1), controls[skip], controls[-1 - skip], len(rounds))


def mean_log(rows, which):
    return sum(math.log(median_ratio(rounds, which)) for rounds in rows.values()) / len(rows)


def spread_of(clusters, *which):
    """h, from the largest of the standard errors of these ratios; infinite with one cluster, which gives no standard error."""
    count, chance = len(clusters), random.Random(0)  # equal times give equal verdicts
    if count < 2:
        return math.inf
    draws = [rows_of(chance.choices(clusters, k=count)) for _ in range(DRAWS)]
    error = max(statistics.stdev(mean_log(rows, each) for rows in draws) for each in which)
    error *= math.sqrt(count / (count - 1))
    return abs(mean_log(rows_of(clusters), 1)) + student_quantile(BELOW, count - 1) * error


def judge_group(clusters):
    """clusters: each a dictionary of a row's name to its rounds."""
    rows = rows_of(clusters)
    ratio, control, spread = mean_log(rows, 2), mean_log(rows, 1), spread_of(clusters, 1, 2)
    if ratio < -spread:
        verdict = "slower"
    elif spread > TOLERANCE:
        verdict = "too noisy"
    else:
        verdict = "faster" if ratio > spread else "inside"
    return GroupResult(math.exp(ratio), math.exp(control), spread, len(clusters), verdict)


def enough(clusters, least):
    """Whether a group needs no further cluster. Only the control decides, never the new build's times: measuring until the new
    build's result looks good would bias it."""
    return len(clusters) >= least and spread_of(clusters, 1) <= PRECISE
