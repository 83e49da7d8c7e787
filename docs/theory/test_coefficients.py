"""Tests of check_certificate.py on claims about coefficients: every changed word and number is refused.

    python3 docs/theory/test_coefficients.py
    LINSEP=target/release/linsep python3 docs/theory/test_coefficients.py

With LINSEP set, `linsep verify` gets the same files and has to agree, and what `linsep separable` proves of
random tables has to be accepted here, and to be what brute force says.
"""
import itertools, json, pathlib, random, subprocess, sys, tempfile, unittest
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import check_certificate as checker  # noqa: E402
from test_check_certificate import FOLDER, LINSEP, Case, Test, cases  # noqa: E402

CASES = ("coefficients", "joint-coefficients")
def named(name): return next(case for case in cases(FOLDER / "format-2") if case.name == name)

def evidence(case): return case.certificate["claims"][0]["estimates"]
def raised(number): return str(int(number) + 1) if isinstance(number, str) else number + 1
def turned(number): return str(-int(number)) if isinstance(number, str) else -number

class Changed(Test):
    def changed(self, case, words, change):
        """Refused after the change, by both checkers."""
        other = case.copy(words)
        change(evidence(other))
        self.assertNotEqual(other.certificate, case.certificate, words)
        self.refuse(other)

    def test_the_certificates_are_accepted(self):
        for name in CASES:
            self.accept(named(name))

    def test_every_other_word(self):
        for case in map(named, CASES):
            for k, coefficient in enumerate(evidence(case)["coefficients"]):
                for word in set(checker.WORDS) - {coefficient["estimate"], "undecided"} | {"inf", "", None, 1}:
                    def change(e): e["coefficients"][k]["estimate"] = word
                    self.changed(case, f"coefficient {k}: {word!r}", change)
                other = case.copy(f"coefficient {k} undecided")
                entry = evidence(other)["coefficients"][k]
                entry["estimate"] = "undecided"
                entry.pop("combination", None)
                self.settle(other, coefficient["estimate"] != "aliased")

    def test_every_other_number(self):
        for case in map(named, CASES):
            e = evidence(case)
            for k, entry in enumerate(e["tied"]):
                def change(e): e["tied"][k]["factor"] = raised(entry["factor"])
                self.changed(case, f"tied {k}", change)
                for wrong in ("0", "-1", "1.0", "", 1):
                    def change(e): e["tied"][k]["factor"] = wrong
                    self.changed(case, f"tied {k}: {wrong!r}", change)
            for k, coefficient in enumerate(e["coefficients"]):
                rows = coefficient.get("combination", [])
                for i, entry in enumerate(rows):
                    for number in [turned(entry["factor"]), "0", "x"] + [raised(entry["factor"])] * (len(rows) > 1):
                        def change(e): e["coefficients"][k]["combination"][i]["factor"] = number
                        self.changed(case, f"combination {k}, {i}: {number}", change)
                    for row in set(range(-1, case.certificate["data"]["rows"] + 1)) - {entry["row"]}:
                        alike = dict(entry, row=row)
                        further = (entry["row"], row, len(self.classes(case))) == (2, 3, 3)  # x = 2 for x = 1
                        if self.vector(case, alike) != self.vector(case, entry) and not further:
                            def change(e): e["coefficients"][k]["combination"][i]["row"] = row
                            self.changed(case, f"combination {k}, {i}: row {row}", change)
            for field in ("relations", "complement"):
                for k, vector in enumerate(e.get(field, [])):
                    for i, (c, number) in enumerate(vector):
                        if len(vector) > 1:
                            def change(e): e[field][k][i][1] = raised(number)
                            self.changed(case, f"{field} {k}, {i}", change)
                        def change(e): e[field][k][i][0] = 99
                        self.changed(case, f"{field} {k}, {i} out of range", change)
            for k, vector in enumerate(e["directions"]):
                def change(e): e["directions"][k] = [[c, turned(x)] for c, x in vector]
                self.changed(case, f"direction {k} turned around", change)

    def classes(self, case): return evidence(case).get("classes", [])
    def vector(self, case, entry):
        try:
            judge = checker.Coefficients(case.exact(), case.certificate["claims"][0], "against" in entry)
            return judge.stacked(entry["row"], entry.get("against")) if entry["row"] >= 0 else None
        except checker.Refusal:
            return None

    def test_every_part_left_out(self):
        for case in map(named, CASES):
            for field, values in evidence(case).items():
                for k in range(len(values)):
                    def change(e):
                        del e[field][k]
                        if not e[field] and field not in ("coefficients", "independent"):
                            del e[field]
                    self.changed(case, f"without {field} {k}", change)
                    def change(e): e[field].append(values[k])
                    # One more direction or relation changes nothing.
                    if field not in ("directions", "relations"):
                        self.changed(case, f"{field} {k} twice", change)
                def change(e): e[field] = []
                self.changed(case, f"{field} empty", change)
                def change(e): e[field] = None
                self.changed(case, f"{field} null", change)

    def test_another_format_and_other_fields(self):
        for case in map(named, CASES):
            other = case.copy("the first format")
            other.certificate["format"] = "linsep.certificate/1"
            self.refuse(other)
            def change(e): e["more"] = 1
            self.changed(case, "an unknown field", change)
            def change(e): e["coefficients"][0]["relation"] = []
            self.changed(case, "an unknown field of a coefficient", change)
            other = case.copy("another scheme")
            claim = other.certificate["claims"][0]
            claim["scheme"] = "binary" if claim["scheme"] == "joint" else "joint"
            self.refuse(other)

class JointKinds(Test):
    """All classes at once: touching and overlapping."""
    def test_the_certificates_are_accepted(self):
        for name in ("joint-touching", "joint-overlapping"):
            self.accept(named(name))

    def test_every_other_number(self):
        for case in map(named, ("joint-touching", "joint-overlapping")):
            claim = case.certificate["claims"][0]
            for k, entry in enumerate(claim["witness"]):
                for field, values in {"lambda": ("2", "0", "-1", "", 1), "row": (99, -1, "0"),
                                      "against": ("d", case.read()[0][entry["row"]], None)}.items():
                    for value in values:
                        other = case.copy(f"entry {k}: {field} {value!r}")
                        other.certificate["claims"][0]["witness"][k][field] = value
                        self.refuse(other)
                other = case.copy(f"without entry {k}")
                del other.certificate["claims"][0]["witness"][k]
                self.refuse(other)
            for k, plane in enumerate(claim.get("planes", [])):
                for step in (-2, 2):
                    other = case.copy(f"plane {k} by {step}")
                    other.certificate["claims"][0]["planes"][k]["bias"] += step
                    self.refuse(other)
                other = case.copy(f"without plane {k}")
                del other.certificate["claims"][0]["planes"][k]
                self.refuse(other)
            other = case.copy("all planes alike")
            for plane in other.certificate["claims"][0].get("planes", []):
                plane |= {"weights": [0], "bias": 0}
            self.settle(other, "planes" not in claim)
            for null in ([], None, [["1", "-1", "1"]], claim.get("null", []) * 2, [["1", "-1"]]):
                other = case.copy(f"null {null}")
                other.certificate["claims"][0]["null"] = null
                self.settle(other, name_of(other) == "touching" and null is None)
            other = case.copy("the first format")
            other.certificate["format"] = "linsep.certificate/1"
            self.refuse(other)

class ForcedPoints(Test):
    def test_the_certificate_is_accepted(self): self.accept(named("forced"))

    def test_every_other_number_and_word(self):
        case = named("forced")
        for c, claim in enumerate(case.certificate["claims"]):
            forced = claim["forced"]
            def changed(words, change):
                other = case.copy(f"claim {c}: {words}")
                change(other.certificate["claims"][c]["forced"])
                self.assertNotEqual(other.certificate, case.certificate)
                self.refuse(other)
            for side in {"positive", "negative", "either", "", None} - {forced["side"]}:
                changed(f"side {side}", lambda f: f.update(side=side))
            for k, entry in enumerate(forced.get("combination", [])):
                for factor in (raised(entry["factor"]), turned(entry["factor"]), "0", 1):
                    changed(f"factor {k}: {factor}", lambda f: f["combination"][k].update(factor=factor))
                for row in {0, 1, 2, 3, 4, -1} - {entry["row"]}:
                    changed(f"row {k}: {row}", lambda f: f["combination"][k].update(row=row))
                changed(f"against {k}", lambda f: f["combination"][k].update(against="no"))
                changed(f"without {k}", lambda f: f["combination"].pop(k))
            for k in range(len(forced["planes"])):
                changed(f"plane {k} left out", lambda f: f["planes"].pop(k))
                changed(f"plane {k} turned around", lambda f: f["planes"][k].update(weights=[0, -1]))
            changed("a plane more", lambda f: f["planes"].append(f["planes"][0]))
            changed("another point", lambda f: f.update(point=[[0, 50], [1, -60]] if forced["side"] != "negative" else [[1, 60]]))
            changed("a column that is not there", lambda f: f["point"].append([9, 1]))
            changed("a column twice", lambda f: f["point"].append(f["point"][-1]))
            changed("an unknown field", lambda f: f.update(more=1))
            changed("no combination", lambda f: f.update(combination=[]))

def name_of(case): return case.certificate["claims"][0]["claim"]

# --- Brute force.
def eliminate(rows):
    rows, pivots = [list(map(Fraction, row)) for row in rows], []
    for column in range(len(rows[0])):
        at = next((i for i in range(len(pivots), len(rows)) if rows[i][column]), None)
        if at is None:
            continue
        top = len(pivots)
        rows[top], rows[at] = rows[at], rows[top]
        for i, row in enumerate(rows):
            if i != top and row[column]:
                factor = row[column] / rows[top][column]
                rows[i] = [a - factor * b for a, b in zip(row, rows[top])]
        pivots.append(column)
    return rows, pivots

def balance(vectors):
    """Whether the one relation of the vectors is positive on all of them."""
    rows, pivots = eliminate(list(zip(*vectors)))
    free = [k for k in range(len(vectors)) if k not in pivots]
    return len(free) == 1 and all(rows[i][p] * rows[i][free[0]] < 0 for i, p in enumerate(pivots))

def goes(vectors, coordinate, sign):
    """Whether some w with z·w >= 0 for all vectors has this sign there."""
    unit = [sign * (j == coordinate) for j in range(len(vectors[0]))]
    sizes = range(len(vectors[0]) + 1)
    return not any(balance([*chosen, unit]) for k in sizes for chosen in itertools.combinations(vectors, k))

def truth(vectors):
    kept = eliminate(vectors)[1]
    reduced = [[z[j] for j in kept] for z in vectors]
    words = {(True, True): "undetermined", (True, False): "+inf", (False, True): "-inf", (False, False): "finite"}
    return [words[goes(reduced, kept.index(j), 1), goes(reduced, kept.index(j), -1)] if j in kept else "aliased"
            for j in range(len(vectors[0]))]

@unittest.skipUnless(LINSEP, "needs LINSEP")
class Random(Test):
    def test_what_linsep_proves_is_what_brute_force_says(self):
        source, seen = random.Random(7), set()
        for number in range(60):
            width, count = source.randint(1, 3), source.randint(3, 7)
            rows = [[source.randint(-1, 2) for _ in range(width)] for _ in range(count)]
            labels = [int(row[0] > 0 or row[0] == 0 and source.random() < 0.5) for row in rows]
            labels[:2] = [1, 0]
            lines = [",".join(map(str, [*row, label])) for row, label in zip(rows, labels)]
            text = "\n".join([",".join([*(f"x{j}" for j in range(width)), "label"]), *lines]) + "\n"
            with tempfile.TemporaryDirectory() as folder:
                data, proof = pathlib.Path(folder, "data.csv"), pathlib.Path(folder, "proof.json")
                data.write_text(text)
                subprocess.run([LINSEP, "separable", data, "--cert", proof], capture_output=True)
                case = Case(f"table {number}", json.loads(proof.read_text()), text, ".csv")
            self.accept(case)
            claim = next(c for c in case.certificate["claims"] if c["claim"] == "coefficients")
            found = [entry["estimate"] for entry in claim["estimates"]["coefficients"]]
            sign = {1: 1, 0: -1}
            vectors = [[sign[label] * x for x in (1, *row)] for row, label in zip(rows, labels)]
            self.assertEqual(found, truth(vectors), text)
            seen |= set(found)
        self.assertEqual(len(seen), 5)

if __name__ == "__main__":
    unittest.main()
