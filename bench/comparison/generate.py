"""Generated data: the tables and rows that no collection has, and the held-out sets.

A held-out set stands beside a row of the comparison: the same job on data of another seed, another shape
and other noise, which nobody tunes on. Everything here is a function of its arguments and its seed. Numbers
are integers in units of the last decimal that is written, so the text of a file is the data.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from comparison import svmlight


@dataclass(frozen=True)
class Rows:
    """Sparse rows: `units` of 10^-decimals, classes as integers."""

    labels: np.ndarray
    units: sparse.csr_matrix
    decimals: int

    def write(self, path):
        svmlight.write(path, self.labels, self.units.indptr, self.units.indices, self.units.data, self.decimals)

    def part(self, chosen):
        return Rows(self.labels[chosen], self.units[chosen], self.decimals)

    def write_table(self, path, prefix="x"):
        write_table(path, self.labels, self.units.toarray() / 10**self.decimals, self.decimals, prefix)


@dataclass(frozen=True)
class Table:
    """Dense rows that are rounded to `decimals`."""

    labels: np.ndarray
    points: np.ndarray
    decimals: int

    def write(self, path):
        rows, features = self.points.shape
        units = np.rint(self.points * 10**self.decimals).astype(np.int64).ravel()
        indices = np.tile(np.arange(features), rows)
        svmlight.write(path, self.labels, np.arange(rows + 1) * features, indices, units, self.decimals)

    def write_table(self, path, prefix="x"):
        write_table(path, self.labels, self.points, self.decimals, prefix)


def write_table(path, labels, points, decimals, prefix):
    import polars

    columns = {"label": labels} | {f"{prefix}{j + 1}": points[:, j] for j in range(points.shape[1])}
    polars.DataFrame(columns).write_csv(path, float_precision=decimals)


# ---------------------------------------------------------------- text


def word_counts(rng, lengths, features, classes, topic_share, steepness):
    """Documents as counts of words. A word of rank r is drawn as r^-steepness; a share of the words of each
    class comes from an order of the words that is the class's own, the rest from one common order."""
    documents = np.repeat(np.arange(len(lengths)), lengths)
    total = len(documents)
    labels = rng.integers(0, classes, len(lengths))
    uniform = rng.random(total)
    if steepness == 1:
        ranks = np.exp(uniform * math.log(features))
    else:
        power = 1 - steepness
        ranks = (1 + uniform * (features**power - 1)) ** (1 / power)
    ranks = np.minimum(ranks.astype(np.int64), features) - 1
    words = rng.permutation(features)[ranks]
    is_topical = rng.random(total) < topic_share
    # The topics are cyclic shifts of one more order: cheap, and different at every rank.
    order = rng.permutation(features)
    shifts = (labels[documents] * features) // max(classes, 1)
    words[is_topical] = order[(ranks[is_topical] + shifts[is_topical]) % features]
    shape = (len(lengths), features)
    counts = sparse.coo_matrix((np.ones(total, np.int64), (documents, words)), shape=shape).tocsr()
    counts.sort_indices()
    return labels, counts


def document_lengths(rng, rows, typical, spread):
    return np.maximum(1, (typical * np.exp(spread * rng.standard_normal(rows))).astype(np.int64))


def tf_idf(counts, decimals):
    """Sublinear tf-idf of unit length, in units of the last decimal."""
    rows, features = counts.shape
    documents = np.bincount(counts.indices, minlength=features)
    idf = 1 + np.log(rows / np.maximum(documents, 1))
    values = (1 + np.log(counts.data)) * idf[counts.indices]
    norms = np.sqrt(np.add.reduceat(values**2, counts.indptr[:-1]))
    values /= np.repeat(norms, np.diff(counts.indptr))
    units = np.maximum(1, np.rint(values * 10**decimals).astype(np.int64))
    return sparse.csr_matrix((units, counts.indices, counts.indptr), shape=counts.shape)


def text_of_classes(seed, rows, features, classes, typical_length):
    """Counts and tf-idf of the same documents."""
    rng = np.random.default_rng(seed)
    lengths = document_lengths(rng, rows, typical_length, 0.7)
    labels, counts = word_counts(rng, lengths, features, classes, topic_share=0.06, steepness=1.1)
    return Rows(labels, counts, 0), Rows(labels, tf_idf(counts, 6), 6)


def text_by_plane(seed, rows, features, typical_length, noise, steepness, bare_share):
    """Two classes: the sides of a plane in some of the words, with a noise in the score. `bare_share` of the
    words have no weight."""
    rng = np.random.default_rng(seed)
    lengths = document_lengths(rng, rows, typical_length, 0.4)
    _, counts = word_counts(rng, lengths, features, 1, topic_share=0.0, steepness=steepness)
    units = tf_idf(counts, 4)
    plane = np.where(rng.random(features) < bare_share, 0.0, rng.standard_normal(features))
    scores = units @ plane
    scores = scores + noise * scores.std() * rng.standard_normal(rows)
    return Rows(np.where(scores > 0, 1, -1), units, 4)


def long_rows(seed, rows, values_in_row, most_gap, decimals, largest):
    """Few rows with very many values, at columns that rise by 1 to `most_gap`."""
    rng = np.random.default_rng(seed)
    gaps = rng.integers(1, most_gap + 1, (rows, values_in_row))
    columns = np.cumsum(gaps, axis=1) - 1
    units = rng.integers(1, largest + 1, rows * values_in_row) * rng.choice([-1, 1], rows * values_in_row)
    starts = np.arange(rows + 1) * values_in_row
    matrix = sparse.csr_matrix((units, columns.ravel(), starts), shape=(rows, most_gap * values_in_row))
    return Rows(rng.choice([-1, 1], rows), matrix, decimals)


# ---------------------------------------------------------------- categories and images


def one_hot(seed, rows, levels):
    """A column for each level of categories with these numbers of levels, the rare ones rare; a hidden
    score moves the levels and, with noise, gives the class. One row in four is positive."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal(rows)
    columns, first = [], 0
    for count in levels:
        mixed = 0.6 * rng.standard_normal() * hidden + rng.standard_normal(rows)
        # Levels are slices of a normal variable, uneven ones.
        cuts = np.sort(rng.standard_normal(count - 1)) * 1.2
        order = rng.permutation(count)
        columns.append(first + order[np.searchsorted(cuts, mixed)])
        first += count
    indices = np.column_stack(columns)
    scores = hidden + 0.8 * rng.standard_normal(rows)
    labels = np.where(scores > np.quantile(scores, 0.75), 1, -1)
    starts = np.arange(rows + 1) * len(levels)
    ones = np.ones(indices.size, np.int64)
    return Rows(labels, sparse.csr_matrix((ones, indices.ravel(), starts), shape=(rows, first)), 0)


def images(seed, rows, side, classes):
    """Pictures of `side` x `side` pixels in hundredths: strokes of the class, moved, dimmed and spoiled by
    noise; about a quarter of the pixels are not 0."""
    rng = np.random.default_rng(seed)
    patterns = np.stack([pattern(rng, side) for _ in range(classes * 3)])
    labels = rng.integers(0, classes, rows)
    kind = labels * 3 + rng.integers(0, 3, rows)
    shifts = range(-2, 3)
    across, down = rng.integers(-2, 3, rows), rng.integers(-2, 3, rows)
    # Where each pixel comes from, for every way to move a picture.
    grid = np.arange(side)
    sources = {
        (a, b): (((grid[:, None] - a) % side) * side + (grid[None, :] - b) % side).ravel()
        for a in shifts
        for b in shifts
    }
    moved = np.empty((rows, side * side), np.float32)
    for (a, b), source in sources.items():
        chosen = (across == a) & (down == b)
        moved[chosen] = patterns[kind[chosen]][:, source]
    moved *= (0.6 + 0.4 * rng.random((rows, 1), np.float32))
    moved += np.where(moved > 0, 0.4, 0.08) * rng.standard_normal(moved.shape, np.float32)
    units = np.rint(100 * np.clip(moved, 0, 1)).astype(np.int64)
    units[units < 15] = 0
    return Rows(labels, sparse.csr_matrix(units), 2)


def pattern(rng, side):
    """Three strokes on an empty square: a pixel is as bright as it is near to one of the lines."""
    at = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1).reshape(-1, 2)
    ends = rng.uniform(0.1 * side, 0.9 * side, (3, 2, 2))
    brightness = np.zeros(side * side)
    for start, end in ends:
        along = end - start
        share = np.clip((at - start) @ along / (along @ along), 0, 1)
        distance = np.linalg.norm(at - start - share[:, None] * along, axis=1)
        brightness = np.maximum(brightness, np.clip(1.6 - distance, 0, 1))
    return brightness


# ---------------------------------------------------------------- tables


def correlated_table(seed, rows, features, noise):
    """Columns that share hidden factors and differ in their scale by a factor of ten either way."""
    rng = np.random.default_rng(seed)
    factors = rng.standard_normal((6, features))
    scales = 10 ** rng.uniform(-0.7, 0.7, features)
    points = rng.standard_normal((rows, features)) + 0.5 * rng.standard_normal((rows, 6)) @ factors
    points = np.round(points * scales, 3)
    normal = rng.standard_normal(features) / scales
    scores = points @ normal + 0.3
    scores += noise * scores.std() * rng.standard_normal(rows)
    return Table(np.where(scores > 0, 1, -1), points, 3)


def integer_table(seed, rows, classes):
    """Integers of very different ranges, some negative."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, rows)
    columns = [
        rng.integers(low, high, rows) + labels * ((high - low) // 20)
        for low, high in [(0, 16)] * 8 + [(0, 256)] * 8 + [(-500, 500)] * 5 + [(0, 100_000)] * 3
    ]
    return Table(labels, np.column_stack(columns), 0)


def cut_by_plane(seed, rows, features, decimals, flipped=0, uniform=False):
    """Points on the sides of a random plane, with no gap between them: separable to the last digit, for the
    points are rounded before they are labelled. `flipped` rows of middling distance get the wrong label."""
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal(features)
    shape = (rows, features)
    points = rng.uniform(-2, 3, shape) if uniform else rng.standard_normal(shape)
    np.round(points, decimals, out=points)
    scores = points @ normal
    if uniform:
        scores -= np.median(scores) + 1e-3
    labels = np.where(scores > 0, 1, -1)
    middling = np.argsort(np.abs(np.abs(scores) - np.median(np.abs(scores))))
    labels[middling[:flipped]] *= -1
    return Table(labels, points, decimals)


def mirrored_gap(seed, pairs, features, gap, degrees):
    """Two classes with a gap, and with every row its mirror image of the other class: whoever has no bias
    and whoever has one then looks for the same plane. `degrees` of freedom of Student's t, heavy tails."""
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal(features)
    normal /= np.linalg.norm(normal)
    points = rng.standard_t(degrees, (pairs, features))
    sides = np.where(points @ normal > 0, 1, -1)
    points = np.round(points + gap * sides[:, None] * normal, 3)
    mixed = rng.permutation(2 * pairs)
    both = np.concatenate([points, -points])[mixed]
    return Table(np.concatenate([sides, -sides])[mixed], both, 3)
