"""What functions give back: verdicts, certificates, and what is known of planes of other programs."""

import numpy as np

from linsep import _input, _linsep


class Certificate:
    """What is proved, with the evidence that lets anybody check it.

    True where at least one claim proves something and none is left unproved.
    """

    __slots__ = ("_inner",)

    def __init__(self, inner):
        self._inner = inner

    @classmethod
    def from_json(cls, text):
        """Reads the text of a certificate."""
        return cls(_linsep.Certificate.from_json(text))

    def to_json(self):
        """The certificate as text; ``linsep verify`` reads it, too."""
        return self._inner.to_json()

    @property
    def claims(self):
        """Every claim with its evidence, as plain data."""
        import json

        return json.loads(self.to_json())["claims"]

    @property
    def kinds(self):
        """The kinds of the claims, such as ``'separable'`` and ``'optimal'``."""
        return [kind for kind, _ in self._inner.kinds]

    @property
    def gap(self):
        """The largest relative gap to the optimum that is proved, or ``None``."""
        gaps = [gap for _, _, gap in self._inner.optimality]
        return max(gaps) if gaps else None

    def verify(self, X, y, sample_weight=None):
        """Checks every claim against data, in exact arithmetic."""
        from linsep._functions import verify

        return verify(self, X, y, sample_weight)

    def __bool__(self):
        kinds = self.kinds
        return bool(kinds) and "unproved" not in kinds

    def __eq__(self, other):
        return isinstance(other, Certificate) and self.to_json() == other.to_json()

    __hash__ = None

    def __reduce__(self):
        return Certificate.from_json, (self.to_json(),)

    def _lines(self):
        lines = [(kind, about) for kind, about in self._inner.kinds if kind != "unproved"]
        return lines + [("unproved", reason) for reason in self._inner.unproved]

    def __repr__(self):
        lines = [f"{kind} ({about})" if about else kind for kind, about in self._lines()]
        return f"<linsep certificate: {'; '.join(lines) or 'nothing is claimed'}>"

    def _repr_html_(self):
        return _table("certificate", self._lines())


class Checked(list):
    """What the checker found of each claim: dicts with claim, about, finding and words.

    True where every claim holds, and there is one.
    """

    def __bool__(self):
        return len(self) > 0 and all(found["finding"] == "true" for found in self)

    def __repr__(self):
        lines = [f"{found['finding']}: {found['claim']}: {found['words']}" for found in self]
        return "\n".join(lines) or "nothing is claimed"

    def _repr_html_(self):
        return _table("checked", [(f["claim"], f"{f['finding']}: {f['words']}") for f in self])


class Verdict:
    """Whether planes separate the classes, with the proof. True where they do.

    Attributes
    ----------
    verdict : str
        ``'separable'``, ``'touching'``, ``'overlapping'``, ``'inseparable'`` or ``'undecided'``.
    certificate : Certificate
        The proof.
    witness : list of (int, int)
        Rows that refute every plane, each with its whole multiplier. Empty where the classes are separable.
    margin : (float or None, float or None)
        Between which numbers the largest margin of a plane of unit length (w, b) lies.
    coefficients : list of (str or None, str, str)
        What becomes of each coefficient of a logistic fit without a penalty: class, column and ``'finite'``,
        ``'+inf'``, ``'-inf'``, ``'undetermined'`` or ``'aliased'``.
    pairs : list of (class, class, str)
        The verdict on each pair of classes.
    """

    __slots__ = ("_classes", "_inner", "_names")

    def __init__(self, inner, classes, names):
        self._inner = inner
        self._classes = classes
        self._names = names

    @property
    def verdict(self):
        return self._inner.verdict

    @property
    def certificate(self):
        return Certificate(self._inner.certificate)

    @property
    def witness(self):
        return [(row, int(multiplier)) for row, multiplier in self._inner.witness]

    @property
    def rows(self):
        """The rows of the witness."""
        return list(self._inner.rows)

    @property
    def margin(self):
        return self._inner.margin

    @property
    def coefficients(self):
        found = self._inner.coefficients
        if found is None:
            return None
        return [(label, self._column(column), word) for label, column, word in found]

    @property
    def pairs(self):
        return self._inner.pairs

    @property
    def plane(self):
        """Weights and bias of a plane that separates two classes, or ``None``."""
        found = self._inner.plane
        return None if found is None else (np.asarray(found[0]), found[1])

    def plot(self, title=None):
        """A picture of the rows, with the plane if there is one."""
        return Picture(self._inner.plot(title))

    def _column(self, column):
        if column is None:
            return "intercept"
        return self._names[column] if self._names else f"x{column}"

    def __bool__(self):
        return bool(self._inner)

    def __repr__(self):
        return repr(self._inner)

    def _repr_html_(self):
        lower, upper = self.margin
        lines = [("verdict", self.verdict)]
        if self.witness:
            lines.append(("rows that prove it", ", ".join(map(str, self.rows[:12]))))
        if self:
            lines.append(("margin", f"from {lower} to {upper}"))
        lines += [(f"coefficient of {name}", word) for _, name, word in (self.coefficients or [])[:12]]
        return _table("linsep", lines)


class Picture:
    """A picture as SVG text; notebooks show it."""

    __slots__ = ("svg",)

    def __init__(self, svg):
        self.svg = svg

    def save(self, path):
        """Writes the picture to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self):
        return self.svg

    def __str__(self):
        return self.svg

    def __repr__(self):
        return f"<linsep picture: {len(self.svg)} bytes of SVG>"


class Certified:
    """How near the best the planes of another program are.

    Attributes
    ----------
    gap : float or None
        The objective is proved to be at most this share above the optimum.
    objective, bound : list of float
        For each plane no less than its objective, and no more than that of any plane.
    certificate : Certificate
        The proof.
    learner : str
        The learner of this package that minimises the same objective.
    settings : dict
        Its parameters.
    reasons : list of str
        Why nothing is proved, where that is so.
    sample_weight : array or None
        The weights of the rows that the proof is about, those of the classes included.
    flips : array of int or None
        The rows whose class a better model may change; of all others the prediction is final. ``None`` where it is
        not known: for classes that are learned together, and where nothing is proved.
    """

    __slots__ = ("bound", "certificate", "flips", "gap", "learner", "objective", "reasons", "sample_weight", "settings")

    def __init__(self, inner, settled, learner, settings, sample_weight=None):
        self.flips = None if settled is None else np.flatnonzero(~np.asarray(settled, dtype=bool))
        self.certificate = Certificate(inner)
        self.objective = [primal for primal, _, _ in inner.optimality]
        self.bound = [bound for _, bound, _ in inner.optimality]
        self.reasons = list(inner.unproved)
        self.gap = None if self.reasons else self.certificate.gap
        self.learner = learner
        self.settings = settings
        self.sample_weight = sample_weight

    def __bool__(self):
        return self.gap is not None

    def __repr__(self):
        if self.gap is None:
            return f"<linsep certified: nothing ({'; '.join(self.reasons)})>"
        flips = "" if self.flips is None else f", {len(self.flips)} predictions may change"
        return f"<linsep certified: at most {self.gap:.3g} (relative) above the optimum{flips}>"

    def _repr_html_(self):
        lines = [("learner", self.learner), ("gap", self.gap)]
        lines += [("objective", f"{a}, the optimum at least {b}") for a, b in zip(self.objective, self.bound)]
        return _table("certified", lines)


def _table(title, lines):
    import html

    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(str(name))}</th>"
        f"<td style='text-align:left'>{html.escape(str(words))}</td></tr>"
        for name, words in lines
    )
    return f"<table><caption>{html.escape(title)}</caption>{cells}</table>"


class Rows:
    """Data of a file: unpacks into ``X, y``.

    Attributes
    ----------
    X : array, or sparse array of scipy where the file is sparse
        One column for each feature, texts as 0 and 1 for each level.
    y : array
        The classes.
    sample_weight : array or None
        The weights of the rows, where the file has some.
    feature_names : list of str
        What the columns of ``X`` are called.
    notes : list of str
        How the file was read.
    """

    def __init__(self, held, notes):
        _, dense = held.encoding
        if dense:
            self.X = held.dense()
        else:
            from scipy.sparse import csr_array

            indptr, indices, values, width = held.sparse()
            self.X = csr_array((values, indices.astype(np.int64), indptr), shape=(held.rows, width))
        self.y = _input.typed_classes(held.classes)[held.codes()]
        self.sample_weight = held.weights()
        self.feature_names = held.feature_names
        self.notes = notes

    def __iter__(self):
        return iter((self.X, self.y))

    def __repr__(self):
        rows, columns = self.X.shape
        return f"<linsep rows: {rows} x {columns}, {len(np.unique(self.y))} classes>"
