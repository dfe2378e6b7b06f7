#!/usr/bin/env python3
"""bench/judge.py on simulated times: the verdict of bench/compare --against on builds that are equal, slower, or timed on a
busy machine. Usage: check_judge.py SOURCE_DIR"""

import math
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv.pop(1)) / "bench"))
import judge

QUIET = {"noise": 0.01, "process": 0.003, "bursts": 0.0}
BUSY = {"noise": 0.05, "process": 0.01, "bursts": 0.2}
WILD = {"noise": 0.5, "process": 0.1, "bursts": 0.3}


def clusters(seed, noise, process, bursts, batches=2, rows=8, passes=6, factor=1.0, only=None, rounds=6):
    """Times as bench/compare takes them: chance makes each process faster or slower as a whole and at each row (process),
    samples vary (noise), and other work now and then takes much of a sample (bursts). The new build's times are multiplied
    by factor, in rows whose number `only` accepts."""
    chance, found = random.Random(seed), []
    for _ in range(passes):
        for batch in range(batches):
            luck = [chance.gauss(0, process) for _ in range(3)]
            cluster = {}
            for row in range(rows):
                levels = [each + chance.gauss(0, process) for each in luck]
                levels[2] += math.log(factor) if only is None or only(row) else 0
                cluster[f"{batch}.{row}"] = [
                    [1000 * (row + 1) * math.exp(level + chance.gauss(0, noise)
                                                 + (chance.expovariate(1) if chance.random() < bursts else 0))
                     for level in levels] for _ in range(rounds)]
            found.append(cluster)
    return found


class Groups(unittest.TestCase):
    def verdicts(self, count=8, **what):
        return [judge.judge_group(clusters(seed, **what)).verdict for seed in range(count)]

    def test_equal_builds_are_inside(self):
        self.assertEqual(set(self.verdicts(**QUIET)), {"inside"})

    def test_noise_alone_is_never_slower(self):
        for machine in (QUIET, BUSY, WILD):
            for shape in ({"batches": 1, "passes": 8, "rows": 6}, {"batches": 8, "passes": 1}):
                self.assertNotIn("slower", self.verdicts(count=12, **machine, **shape), (machine, shape))

    def test_a_tenth_slower_is_caught(self):
        for machine in (QUIET, BUSY):
            self.assertEqual(set(self.verdicts(**machine, factor=1.1)), {"slower"}, machine)

    def test_some_slower_rows_are_caught_in_the_mean(self):
        self.assertEqual(set(self.verdicts(**QUIET, factor=1.2, only=lambda row: row < 2)), {"slower"})

    def test_a_tenth_faster_is_no_fault(self):
        self.assertEqual(set(self.verdicts(**QUIET, factor=1 / 1.1)), {"faster"})

    def test_a_spread_that_hides_a_slow_down_judges_nothing(self):
        self.assertEqual(set(self.verdicts(**WILD)), {"too noisy"})
        self.assertNotIn("inside", self.verdicts(**WILD, factor=1.1))

    def test_one_cluster_judges_nothing(self):
        found = judge.judge_group(clusters(1, **QUIET, batches=1, passes=1, factor=2))
        self.assertEqual((found.verdict, found.spread), ("too noisy", math.inf))

    def test_luck_of_processes_is_part_of_the_spread(self):
        """Rounds that agree within a cluster do not predict the next cluster's processes."""
        found = judge.judge_group(clusters(1, noise=0.0001, process=0.02, bursts=0, batches=1, passes=8))
        self.assertGreater(found.spread, 0.01)

    def test_a_ratio_is_of_old_to_new(self):
        found = judge.judge_group(clusters(1, **QUIET, factor=1.25))
        self.assertAlmostEqual(found.ratio, 0.8, delta=0.01)
        self.assertAlmostEqual(found.control, 1, delta=0.01)

    def test_equal_times_give_equal_verdicts(self):
        times = clusters(3, **BUSY)
        self.assertEqual(judge.judge_group(times), judge.judge_group(times))


class Enough(unittest.TestCase):
    def test_a_precise_control_ends_the_passes(self):
        self.assertTrue(judge.enough(clusters(1, **QUIET), 12))
        self.assertFalse(judge.enough(clusters(1, **QUIET), 13))
        self.assertFalse(judge.enough(clusters(1, **WILD), 12))

    def test_it_does_not_look_at_the_new_build(self):
        self.assertTrue(judge.enough(clusters(1, **QUIET, factor=3), 12))


class Rows(unittest.TestCase):
    def test_medians_of_paired_ratios(self):
        found = judge.judge_row([[100, 100, 50], [200, 100, 400], [300, 300, 150]])
        self.assertEqual((found.old, found.new, found.ratio, found.control), (200, 150, 2, 1))
        self.assertEqual((found.low, found.high, found.rounds), (1, 2, 3))

    def test_a_row_below_its_control_is_marked(self):
        times = clusters(1, **QUIET, factor=1.2, only=lambda row: row == 3)
        found = {name: judge.judge_row(rounds) for name, rounds in judge.rows_of(times).items()}
        self.assertEqual([name for name, row in found.items() if row.slower()], ["0.3", "1.3"])

    def test_a_row_has_its_rounds_of_all_clusters(self):
        self.assertEqual({len(rounds) for rounds in judge.rows_of(clusters(1, **QUIET)).values()}, {36})


class Student(unittest.TestCase):
    def test_quantiles_of_tables(self):
        for freedom, t in ((1, 318.309), (2, 22.327), (3, 10.215), (4, 7.173), (7, 4.785), (10, 4.144), (30, 3.385)):
            self.assertAlmostEqual(judge.student_quantile(0.001, freedom), t, delta=0.001)


if __name__ == "__main__":
    unittest.main()
