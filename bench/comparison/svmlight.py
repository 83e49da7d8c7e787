"""Writes svmlight text quickly: whole blocks of tokens at once, no loop over values.

Values are integers in units of the last decimal, so that what is written is exactly what the caller holds:
7100 with four decimals is 0.71, spelled without the zeros at its end.
"""

import numpy as np

# Tokens that are spelled at once: a few hundred MB of working memory.
BLOCK_TOKENS = 1_000_000


def write(path, labels, starts, indices, units, decimals):
    """`starts` of the rows in `indices` (from 0) and `units`; the file counts indices from 1."""
    labels = np.asarray(labels, dtype=np.int64)
    starts = np.asarray(starts, dtype=np.int64)
    row = 0
    with open(path, "wb") as out:
        while row < len(labels):
            # Whole rows up to the size of a block, one at least.
            end = int(np.searchsorted(starts, starts[row] + BLOCK_TOKENS, side="right")) - 1
            end = min(max(end, row + 1), len(labels))
            tokens = slice(starts[row], starts[end])
            out.write(rows_text(
                labels[row:end], starts[row : end + 1] - starts[row], indices[tokens], units[tokens], decimals
            ))  # fmt: skip
            row = end


def rows_text(labels, starts, indices, units, decimals):
    """The bytes of some rows: a token for each label, one for each value, joined in their order."""
    label_text, label_used = signed_digits(labels, 0)
    ends = np.full((len(labels), 1), ord("\n"), np.uint8)
    # A line break stands before every label but the first of the block; the last one is added at the end.
    head = np.hstack([ends, label_text])
    head_used = np.hstack([np.ones((len(labels), 1), bool), label_used])
    head_used[0, 0] = False

    index_text, index_used = signed_digits(np.asarray(indices, dtype=np.int64) + 1, 0)
    value_text, value_used = signed_digits(units, decimals)
    count = len(units)
    space, colon = np.full((count, 1), ord(" "), np.uint8), np.full((count, 1), ord(":"), np.uint8)
    always = np.ones((count, 1), bool)
    body = np.hstack([space, index_text, colon, value_text])
    body_used = np.hstack([always, index_used, always, value_used])

    # Both kinds of token in one matrix, each label before the values of its row.
    width = max(head.shape[1], body.shape[1])
    at_label = starts[:-1] + np.arange(len(labels))
    is_label = np.zeros(len(labels) + count, bool)
    is_label[at_label] = True
    text = np.zeros((len(is_label), width), np.uint8)
    used = np.zeros((len(is_label), width), bool)
    text[is_label, : head.shape[1]], used[is_label, : head.shape[1]] = head, head_used
    text[~is_label, : body.shape[1]], used[~is_label, : body.shape[1]] = body, body_used
    return text[used].tobytes() + b"\n"


def signed_digits(units, decimals):
    """The characters of integers in units of 10^-decimals, and which of them are written."""
    units = np.asarray(units, dtype=np.int64)
    size = np.abs(units)
    digits = max(len(str(int(size.max(initial=0)))), decimals + 1)
    columns, used = [np.full(len(units), ord("-"), np.uint8)], [units < 0]
    for place in range(digits - 1, -1, -1):
        digit = (size // 10**place) % 10
        is_whole = place >= decimals
        if is_whole:
            # No zeros in front, but one before the point.
            used.append((size >= 10**place) | (place == decimals))
        else:
            used.append(size % 10 ** (place + 1) != 0)
        columns.append((digit + ord("0")).astype(np.uint8))
        if place == decimals and decimals > 0:
            columns.append(np.full(len(units), ord("."), np.uint8))
            used.append(size % 10**decimals != 0)
    return np.column_stack(columns), np.column_stack(used)
