"""Tests of check_certificate.py: what it accepts, and above all what it refuses.

    python3 docs/theory/test_check_certificate.py
    LINSEP=target/release/linsep python3 docs/theory/test_check_certificate.py

Every certificate of testdata/certificates is changed in every way listed below, and each change has
to be refused. With LINSEP set, `linsep verify` gets the same files and has to agree.
"""
import contextlib, copy, csv, gzip, io, json, math, os, pathlib, struct, subprocess, sys, tempfile, unittest, unittest.mock
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import check_certificate as checker  # noqa: E402

ROOT = HERE.parent.parent
FOLDER = ROOT / "testdata" / "certificates"
LINSEP = os.environ.get("LINSEP")

class Case:
    """A certificate with the text of its data."""

    def __init__(self, name, certificate, data, suffix):
        self.name, self.certificate, self.data, self.suffix = name, certificate, data, suffix

    def copy(self, name=""):
        return Case(f"{self.name}: {name}", copy.deepcopy(self.certificate), self.data, self.suffix)

    def read(self):
        """(labels, parts, rows, width) of the data."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "data" + self.suffix)
            path.write_bytes(as_bytes(self.data))
            return checker.read_data(path, self.certificate.get("input") or {})

    def sealed(self):
        """With the digest of its present data, so that only the claims can be wrong."""
        labels, _, rows, _ = self.read()
        version = self.certificate["data"].get("digest", 1)
        self.certificate["data"] = checker.identity(labels, rows, version)
        return self

    def exact(self):
        return checker.Checker(self.certificate, *self.read())

    def lists(self):
        """The lists of weighted rows of all claims."""
        for claim in self.certificate["claims"]:
            yield from ((claim, entries) for _, entries in entries_of(claim))

def as_bytes(text): return text if isinstance(text, bytes) else text.encode()
def named(name): return next(case for case in cases() if case.name == name)

def part_of(claims):
    """Classes and rule of a model that these claims about its planes fit."""
    first = claims[0]
    if "planes" in first:
        return {"classes": [plane["class"] for plane in first["planes"]], "rule": "arg-max"}
    if len(claims) == 1:
        return {"classes": first["negative"] + first["positive"], "rule": "sign"}
    return {"classes": [claim["positive"][0] for claim in claims], "rule": "rest"}

def entries_of(claim):
    return [(field, claim[field]) for field in ("witness", "support", "weights") if claim.get(field)]

def cases(folder=FOLDER):
    for path in sorted(folder.glob("*.json")):
        found = [path.with_suffix(end) for end in (".csv", ".svm")]
        data = next((file for file in found if file.exists()), ROOT / "testdata" / "tables" / "iris.csv")
        yield Case(path.stem, json.loads(path.read_text()), data.read_text(), data.suffix)

def run(case, only_here=False):
    """The exit code of the checker, and of linsep if there is one."""
    raw = case.certificate if isinstance(case.certificate, (str, bytes)) else json.dumps(case.certificate)
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder, "certificate.json"), pathlib.Path(folder, "data" + case.suffix)]
        paths[0].write_bytes(raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass"))
        paths[1].write_bytes(as_bytes(case.data))
        with contextlib.redirect_stdout(io.StringIO()):
            code = checker.main([str(path) for path in paths])
        if only_here or not LINSEP:
            return code, None
        return code, subprocess.run([LINSEP, "verify", *paths], capture_output=True).returncode

class Test(unittest.TestCase):
    def settle(self, case, accepted):
        """Both checkers accept, or both refuse; accepted None asks only that they agree."""
        with self.subTest(case.name):
            code, other = run(case)
            self.assertIn(code, (0, 1, 3, 4))
            if accepted is not None:
                self.assertEqual(code == 0, accepted, f"{case.name}: exit code {code}")
            if other is not None:
                self.assertIn(other, (0, 1, 3, 4), f"{case.name}: linsep verify broke")
                self.assertEqual(code == 0, other == 0, f"{case.name}: {code}, linsep verify {other}")

    @unittest.skipUnless(LINSEP, "needs LINSEP")
    def test_the_margins_that_linsep_finds_are_accepted_and_no_others(self):
        for name, flags in [("iris", ["--pair", "setosa,versicolor"]),
                            ("iris", ["--pair", "setosa,virginica", "--constant", "10"]),
                            ("wine", ["--positive", "1"]), ("sonar", []), ("breast_cancer", [])]:
            data = ROOT / "examples" / f"{name}.csv"
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "proof.json")
                subprocess.run([LINSEP, "separable", data, "--margin", "--cert", path, *flags],
                               capture_output=True, check=True)
                case = Case(f"margins of {name}", json.loads(path.read_text()), data.read_bytes(), ".csv")
            self.assertEqual([claim["claim"] for claim in case.certificate["claims"]],
                             ["separable", "margin", "geometric-margin", "coefficients"])
            self.settle(case, True)
            for k in (1, 2):
                p, q = case.certificate["claims"][k]["gamma2"].split("/")
                for gamma2 in (f"{int(p) + 1}/{q}", f"{p}/{int(q) + 1}"):
                    changed = case.copy("gamma2")
                    changed.certificate["claims"][k]["gamma2"] = gamma2
                    self.refuse(changed)
                # A row that is alone on its side may have any weight; one of many may not.
                changed = case.copy("lambda")
                for entry in changed.certificate["claims"][k]["support"]:
                    entry["lambda"] = str(int(entry["lambda"]) + entry["row"] + 1)
                self.refuse(changed)

    def refuse(self, case): self.settle(case, False)
    def accept(self, case): self.settle(case, True)

class Accepted(Test):
    def test_every_certificate_is_accepted(self):
        names = set()
        for case in cases():
            names |= {checker.full_name(claim) for claim in case.certificate["claims"]}
            (self.refuse if case.name == "unproved" else self.accept)(case)
        for folder in ("optimal", "fitted", "firth", "format-2"):
            names |= {checker.full_name(claim) for case in cases(FOLDER / folder) for claim in case.certificate["claims"]}
        self.assertEqual(names, set(checker.CLAIMS), "every kind of claim has a certificate")

    def test_the_documentation_says_what_every_claim_binds(self):
        text = (HERE / "certificates.md").read_text().partition("### What a claim binds")[2]
        lines = [line for line in text.split("\n") if line.startswith("| ")]
        cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[:lines.index(next(
            line for line in lines if line.startswith("| `unproved`"))) + 1]]
        self.assertTrue(all(len(row) == 4 and all(row) for row in cells), cells)
        names = {"joint " * ("joint" in row[0]) + row[0].split("`")[1] for row in cells[1:]}
        both = {"joint stationary", "joint counts", "joint optimal"}  # one row each, with those of two classes
        self.assertLessEqual(set(checker.CLAIMS) - both, names)

    def test_the_form_of_the_data_does_not_matter(self):
        case = named("separable")
        table = case.data
        forms = {
            "tab": table.replace(",", "\t"), "semicolon": table.replace(",", ";"),
            "bar": table.replace(",", "|"), "CRLF": table.replace("\n", "\r\n"),
            "blank lines": "\n" + table.replace("\n", "\n\n"), "blanks": table.replace(",", " , "),
            "byte-order mark": "\ufeff" + table, "no last line break": table.rstrip("\n"),
            "quotes": table.replace("1,1,1", '"1"," 1","1"'), "gzip": gzip.compress(table.encode()),
            "no header": table.split("\n", 1)[1], "signs": table.replace("1,1,1", "+1,1.0,1e0"),
            "label first": "class,a,b\n0,0,0\n0,0,1\n0,1,0\n+1,1,1\n",
            "svmlight": "0\n0 2:1\n0 1:1\n1 1:1 2:1.0 # both\n",
            "svmlight from 0": "0\n0 1:1\n0 0:1\n1 qid:3 0:1 1:1\n"}
        for name, data in forms.items():
            changed = case.copy(name)
            changed.data, changed.suffix = data, ".svm" if "svm" in name else ".csv"
            self.accept(changed)

    def test_labels_have_one_normal_form(self):
        for text, normal in {
                "+1": "1", "1.0": "1", "1e0": "1", "-0": "0", "0.50": "0.5", "1E2": "100", "a b": "a b",
                "0.00001": "0.00001", "0.000009": "9e-6", "1e16": "1e16", "1e17": "1e17",
                "-2.5e300": "-2.5e300", "nan": "nan", "1e400": "1e400", "0x1": "0x1", "1_0": "1_0"}.items():
            self.assertEqual(checker.normal(text), normal)

    def test_the_certificate_of_a_model(self):
        """A claim about the data counts in any model. One about planes counts if they are the model's."""
        accepted = 0
        for case in cases():
            model = {"format": "linsep.model/1", "input": case.certificate.pop("input", None), "rule": "arg-max",
                     "classes": [], "planes": [], "data": case.certificate["data"], "certificate": case.certificate}
            inside = case.certificate
            about_planes = any(claim["claim"] in ("separable", "mistakes") and not any(map(
                checker.has_fractions, claim.get("planes") or [claim["plane"]])) for claim in inside["claims"])
            # A margin in a model goes with a claim about the model's own plane.
            margin = any(claim["claim"] == "geometric-margin" for claim in inside["claims"])
            alone = case.name != "unproved" and not about_planes and not margin
            accepted += alone
            for name, new, right in (
                    ("as it is", {}, alone), ("version", {"format": "linsep.model/2"}, False),
                    ("other data", {"data": {**model["data"], "rows": 1}}, False),
                    ("version inside", {"certificate": {**inside, "format": "linsep.certificate/3"}}, False),
                    ("basis inside", {"certificate": {**inside, "basis": "poly"}}, False)):
                case.certificate = copy.deepcopy({**model, **new})
                code = run(case, only_here=True)[0]
                self.assertEqual(code == 0, right, f"{case.name}: {name}")
        self.assertGreater(accepted, 10)

    def test_planes_that_stand_once_in_a_model(self):
        """Claims about the planes of a model leave their numbers out; without them nothing is shown."""
        for case in cases(FOLDER / "optimal"):
            if not case.certificate["bias"]:
                continue  # a model always has biases
            claims, planes = case.certificate["claims"], []
            model = {"format": "linsep.model/1", "input": case.certificate.pop("input", None), "planes": planes,
                     "data": case.certificate["data"], "certificate": case.certificate, **part_of(claims)}
            for claim in claims:
                for plane in claim.get("planes") or [claim["plane"]]:
                    planes.append({k: plane.pop(k) for k in ("weights", "sparse", "bias") if k in plane})
            other = copy.deepcopy(planes)
            numbers = other[0].get("weights") or [pair for pair in other[0]["sparse"]]
            numbers[0] = [numbers[0][0], 1e3] if isinstance(numbers[0], list) else 1e3
            for name, new, accepted in (("as it is", {}, True), ("other planes", {"planes": other}, False),
                                        ("no planes", {"planes": None}, False), ("few", {"planes": []}, False),
                                        ("other classes", {"classes": model["classes"][::-1]}, False)):
                case.certificate = copy.deepcopy({**model, **new})
                # These models have no parameters; what parameters bind is tested in test_model_binding.py.
                with unittest.mock.patch.object(checker, "beside", return_value={}):
                    code = run(case, only_here=True)[0]
                self.assertEqual(code == 0, accepted, f"{case.name}: {name}")

    @unittest.skipUnless(LINSEP, "needs LINSEP")
    def test_forty_problems_of_every_loss_and_penalty(self):
        """What linsep proves of the problems that its peers solved too is accepted here."""
        problems = json.loads((ROOT / "testdata" / "peers" / "optimal.json").read_text())
        flags = {"logistic": "logistic", "softmax": "logistic --multiclass softmax",
                 "crammer-singer": "svm --multiclass crammer-singer", "hinge": "svm --loss hinge",
                 "squared-hinge": "svm", "ovr-hinge": "svm --loss hinge", "ovr-squared-hinge": "svm"}
        for number, case in enumerate(problems):
            lines, weights = [], case.get("weights")
            for i, row in enumerate(case["rows"]):
                values = dict(row)
                cells = [str(case["labels"][i])] + [repr(values.get(j, 0.0)) for j in range(case["columns"])]
                lines.append(",".join(cells + ([repr(weights[i])] if weights else [])))
            names = ["label"] + [f"x{j}" for j in range(case["columns"])] + ["weight"] * bool(weights)
            with self.subTest(f"problem {number}"), tempfile.TemporaryDirectory() as folder:
                data, model = pathlib.Path(folder, "data.csv"), pathlib.Path(folder, "model.linsep")
                data.write_text("\n".join([",".join(names), *lines]) + "\n")
                words = [LINSEP, "train", data, "-o", model, "--learner", *flags[case["loss"]].split(), "--quiet",
                         "--c", repr(case["c"]), "--gap", "1e-5", "--intercept", case["intercept"],
                         "--label", "label", "--penalty", case["penalty"],
                         *(["--weight", "weight"] if weights else [])]
                done = subprocess.run(words, capture_output=True, text=True)
                self.assertIn(done.returncode, (0, 5), done.stderr)
                with contextlib.redirect_stdout(io.StringIO()) as said:
                    code = checker.main([str(model), str(data)])
                self.assertEqual(code, 0, said.getvalue())

    def test_line_and_file_are_for_people(self):
        for case in cases():
            changed = case.copy("other notes")
            for _, entries in changed.lists():
                for entry in entries:
                    entry |= {"line": 7, "file": "another.csv"}
            self.settle(changed, case.name != "unproved")

class ChangedCertificates(Test):
    def test_a_lambda_that_is_one_off(self):
        for case in cases():
            for c, (_, entries) in enumerate(case.lists()):
                for k in range(len(entries)):
                    if alone_on_its_side(case, entries, k):
                        continue
                    for step in (-1, 1):
                        changed = case.copy(f"lambda {k} of list {c} by {step}")
                        entry = list(changed.lists())[c][1][k]
                        entry["lambda"] = str(int(entry["lambda"]) + step)
                        self.refuse(changed)

    def test_a_lambda_that_is_no_positive_whole_number(self):
        for case in cases():
            for c, (_, entries) in enumerate(case.lists()):
                for wrong in ("0", "-1", "+1", " 1", "1 ", "1.0", "1e0", "1/1", "", "-", "1_0", "\u0661", 1):
                    changed = case.copy(f"lambda {wrong!r}")
                    list(changed.lists())[c][1][0]["lambda"] = wrong
                    self.refuse(changed)

    def test_a_row_that_is_dropped_repeated_or_not_there(self):
        for case in cases():
            rows = case.certificate["data"]["rows"]
            for c, (_, entries) in enumerate(case.lists()):
                for k in range(len(entries)):
                    changed = case.copy(f"without entry {k}")
                    del list(changed.lists())[c][1][k]
                    self.refuse(changed)
                    changed = case.copy(f"entry {k} twice")
                    again = list(changed.lists())[c][1]
                    again.append(again[k])
                    self.refuse(changed)
                    for row in (rows, -1, 2**64, 0.0, "0", None):
                        changed = case.copy(f"row {row!r}")
                        list(changed.lists())[c][1][k]["row"] = row
                        self.refuse(changed)
                changed = case.copy("no entries")
                list(changed.lists())[c][1].clear()
                self.refuse(changed)

    def test_a_weight_that_turns_a_sign(self):
        """w - 2 (z·w)/z_j puts the row z as far on the other side as it was on its own."""
        for case in cases():
            exact = case.exact()
            for c, claim in enumerate(case.certificate["claims"]):
                for at, plane, rows in planes(exact, claim):
                    for j in exact.columns:
                        row = next((i for i in rows if exact.rows[i].get(j) and rows[i]), None)
                        if row is None:
                            continue
                        weight = plane.get(j, Fraction(0)) - rows[row] / exact.rows[row][j]
                        changed = case.copy(f"weight {j} of plane {at} of claim {c}")
                        new = changed.certificate["claims"][c]
                        set_weight(new["plane"] if at is None else new["planes"][at], j, weight)
                        self.refuse(changed)
                    changed = case.copy(f"plane {at} of claim {c} turned round")
                    new = changed.certificate["claims"][c]
                    for j in exact.columns:
                        set_weight(new["plane"] if at is None else new["planes"][at], j, -plane.get(j, 0))
                    self.refuse(changed)

    def test_a_plane_of_another_form(self):
        for case in cases():
            for c, claim in enumerate(case.certificate["claims"]):
                for at, plane in enumerate(claim.get("planes") or [claim.get("plane")]):
                    if plane is None:
                        continue
                    dense = plane.get("weights")
                    for name, new in {
                            "no weights": {"weights": None, "sparse": None},
                            "one too many": {"weights": (dense or [0] * 9) + [0], "sparse": None},
                            "out of range": {"weights": None, "sparse": [[99, 0]]},
                            "twice": {"weights": None, "sparse": [[0, 1], [0, 1]]},
                            "negative column": {"weights": None, "sparse": [[-1, 0]]},
                            "both": {"weights": dense or [], "sparse": plane.get("sparse") or []},
                            "wrong bias": {"bias": None if "bias" in plane else 0},
                            "words": {"bias": "1.5"}, "huge": {"bias": "1e400"}, "zero": {"bias": "1/0"}}.items():
                        changed = case.copy(f"plane with {name}")
                        place = changed.certificate["claims"][c]
                        (place["planes"][at] if "planes" in place else place["plane"]).update(new)
                        self.refuse(changed)

    def test_margins_bounds_and_null_vectors(self):
        for case in cases():
            for c, claim in enumerate(case.certificate["claims"]):
                changes = []
                for field in ("gamma2", "bound"):
                    if field in claim:
                        value = Fraction(claim[field])
                        wrong = [str(value * Fraction(999, 1000)), str(-value), "0", "1/0", "x", "", 1]
                        wrong += [str(value * Fraction(1001, 1000))] * (field == "gamma2")
                        changes += [(field, new) for new in wrong]
                if "constant" in claim:
                    changes += [("constant", new) for new in ("3", "0", "-2", "2/1", "x", 2)]
                for k, vector in enumerate(claim.get("null") or []):
                    for j, x in enumerate(vector):
                        for new in (str(int(x) + 1), "x", "1/2"):
                            other = copy.deepcopy(claim["null"])
                            other[k][j] = new
                            changes.append(("null", other))
                    changes += [("null", claim["null"] + [vector]), ("null", [vector[1:]]), ("null", [])]
                    changes += [("null", [["0"] * len(vector)])]
                for field, new in changes:
                    changed = case.copy(f"{field} {new}")
                    changed.certificate["claims"][c][field] = new
                    self.refuse(changed)

    def test_another_digest_or_number_of_rows(self):
        for case in cases():
            digest, rows = (case.certificate["data"][field] for field in ("sha256", "rows"))
            for new in ({"sha256": ("1" if digest[0] == "0" else "0") + digest[1:]}, {"sha256": ""},
                        {"sha256": digest.upper()}, {"rows": rows + 1}, {"rows": -rows}, {"rows": str(rows)}):
                changed = case.copy(f"data {new}")
                changed.certificate["data"] |= new
                self.refuse(changed)

    def test_both_versions_of_the_digest(self):
        for case in cases():
            case.certificate["data"]["digest"] = 2
            self.settle(case.copy("version 2").sealed(), case.name != "unproved")
            for new in (1, 3, 0, None, True, 2.0, "2", [2]):
                changed = case.copy(f"version {new!r}").sealed()
                changed.certificate["data"]["digest"] = new
                self.refuse(changed)
            changed = case.copy("version left out").sealed()
            del changed.certificate["data"]["digest"]
            self.refuse(changed)
            labels, _, rows, _ = case.read()
            last = case.copy("a cell of the last row, version 2").sealed()
            column = numeric(case)[0]
            last.data = with_cell(case, len(rows) - 1, column, rows[-1].get(column, 0.0) + 2**-40)
            self.refuse(last)

    def test_another_reading(self):
        for name, default in (("tie-decimal", "binary64"), ("tie-binary64", "decimal")):
            case = named(name)
            case.certificate["reading"]["default"] = default
            self.refuse(case)
        case = named("tie-decimal").copy("one column")
        case.certificate["reading"]["binary64"] = [2]
        self.refuse(case)
        for case in cases():
            for new in ({"default": "float"}, {"binary64": [1, 0]}, {"binary64": [0, 0]}, {"binary64": [-1]},
                        {"binary64": None}):
                changed = case.copy(f"reading {new}")
                changed.certificate["reading"] |= new
                self.refuse(changed)

    def test_another_bias(self):
        for case in cases():
            if case.name in ("bracket", "inseparable-no-bias") or "iris" in case.name:
                continue
            changed = case.copy("bias turned")
            changed.certificate["bias"] = not changed.certificate["bias"]
            # Without the constant, a sum that is 0 stays 0; the other claims need their bias.
            still = [claim["claim"] in ("inseparable", "overlapping") and not claim.get("null")
                     for claim in changed.certificate["claims"]]
            self.settle(changed, None if all(still) else False)

    def test_sides_that_are_not_those_of_the_data(self):
        for case in cases():
            for c, claim in enumerate(case.certificate["claims"]):
                if "positive" not in claim:
                    continue
                yes, no = claim["positive"], claim["negative"]
                for new in ({"positive": no, "negative": no}, {"positive": []}, {"negative": []},
                            {"positive": yes + yes}, {"negative": no + yes}, {"positive": yes[0]},
                            {"scheme": "joint"}, {"scheme": "all"}, {"scheme": None}):
                    changed = case.copy(f"claim {c} with {new}")
                    changed.certificate["claims"][c] |= new
                    self.refuse(changed)
        for case in cases():
            if case.name in ("rest-iris", "joint-inseparable"):
                for scheme in ("binary", "rest"):
                    changed = case.copy(f"a class belongs to no side of {scheme}")
                    changed.certificate["claims"][0] |= {"scheme": scheme, "negative": ["1", "a"]}
                    self.refuse(changed)

    def test_limits_on_the_number_of_rows(self):
        """In one column D is 2: at most 3 rows show inseparable, at most 4 overlapping."""
        table = "x,label\n" + "".join(f"{x},{label}\n" for x in range(3) for label in (0, 1))
        rows = [{"row": row, "lambda": "1"} for row in range(6)]
        sides = {"scheme": "binary", "positive": ["1"], "negative": ["0"]}
        plane = {"weights": [0], "bias": 0}
        frame = next(cases()).certificate
        for name, body, accepted in (
                ("inseparable", {"witness": rows[:2]}, True), ("inseparable", {"witness": rows[:4]}, False),
                ("touching", {"witness": rows[:4], "plane": plane}, False),
                ("overlapping", {"witness": rows[:4]}, True), ("overlapping", {"witness": rows}, False)):
            case = Case(f"{name} {len(body['witness'])}", {**frame, "claims": [{"claim": name, **sides, **body}]},
                        table, ".csv").sealed()
            self.settle(case, accepted)
        witness = [{"row": row, "against": str(1 - row % 2), "lambda": "1"} for row in range(6)]
        for count, accepted in ((2, True), (4, False)):
            claim = {"claim": "inseparable", "scheme": "joint", "witness": witness[:count]}
            self.settle(Case(f"joint {count}", {**frame, "claims": [claim]}, table, ".csv").sealed(), accepted)

    def test_fields_that_are_unknown_or_missing(self):
        for case in cases():
            for path, _ in objects(case.certificate):
                changed = case.copy(f"an unknown field at {path}")
                at(changed.certificate, path)["extra"] = 1
                self.assertEqual(run(changed)[0], 4, changed.name)
                self.refuse(changed)
            for path, value in objects(case.certificate):
                for field in value if "input" not in path else ():
                    if field not in ("line", "file", "basis"):
                        changed = case.copy(f"no {field} at {path}")
                        del at(changed.certificate, path)[field]
                        self.refuse(changed)

    def test_other_formats(self):
        for case in cases():
            if case.name != "unproved":
                changed = case.copy("the second version, with planes of its own")
                changed.certificate["format"] = "linsep.certificate/2"
                self.accept(changed)
            for new in ({"format": "linsep.certificate/3"}, {"format": "linsep.model/1"}, {"format": 1},
                        {"basis": "poly"}, {"claims": []}, {"claims": {}}, {"claims": None}, {"bias": 1}):
                changed = case.copy(f"{new}")
                changed.certificate |= new
                self.refuse(changed)
            text = json.dumps(case.certificate)
            for name, new in {
                    "cut": text[:-1], "more": text + "{}", "list": f"[{text}]", "empty": "", "mark": "\ufeff" + text,
                    "twice": text.replace('"bias"', '"bias": false, "bias"', 1), "NaN": text.replace("true", "NaN"),
                    "half": text.replace('"basis": null', '"basis": "\\ud800"'),
                    "deep": "[" * 100000}.items():
                changed = case.copy(name)
                changed.certificate = new
                if new != text:
                    self.refuse(changed)

    def test_claims_have_their_own_names(self):
        for case in cases():
            for c, claim in enumerate(case.certificate["claims"]):
                for new in ({"claim": checker.full_name(claim) + " "}, {"claim": "joint " + claim["claim"]},
                            {"claim": "joint separable", "scheme": "pair"}, {"claim": claim["claim"].upper()}):
                    changed = case.copy(f"claim {c} is {new}")
                    changed.certificate["claims"][c] |= new
                    self.refuse(changed)

    def test_damage_is_judged_alike(self):
        """Every value is replaced by others; linsep verify has to agree, whatever the answer is."""
        for case in cases():
            for path in leaves(case.certificate):
                if path[0] == "input" and path[-1] == "name":
                    continue  # names only help to find the columns
                for new in (None, [], {}, "", "0", "x", -1, 0, 1.5, True, 2**64):
                    changed = case.copy(f"{new!r} at {path}")
                    at(changed.certificate, path[:-1])[path[-1]] = new
                    self.settle(changed, None)

class ChangedData(Test):
    def test_a_cell_that_breaks_the_claim(self):
        for case in cases():
            exact = case.exact()
            for row, column, value in breaking_cells(case, exact):
                changed = case.copy(f"row {row}, column {column} = {value}")
                changed.data = with_cell(case, row, column, value)
                self.refuse(changed.copy("digest as it was"))
                self.refuse(changed.sealed())

    def test_a_cell_of_any_row(self):
        for case in cases():
            labels, _, rows, _ = case.read()
            for row in range(len(rows)):
                for column in numeric(case):
                    changed = case.copy(f"row {row}, column {column} changed")
                    changed.data = with_cell(case, row, column, rows[row].get(column, 0.0) + 1)
                    self.refuse(changed)

    def test_a_label_of_the_other_side(self):
        for case in cases():
            exact = case.exact()
            for row, label in breaking_labels(case, exact):
                changed = case.copy(f"row {row} is of {label}")
                changed.data = with_cell(case, row, "label", label)
                self.refuse(changed.copy("digest as it was"))
                self.refuse(changed.sealed())

    def test_rows_in_another_number_or_order(self):
        for case in cases():
            lines = case.data.rstrip("\n").split("\n")
            for new in (lines[:-1], lines + lines[-1:], lines[:-2] + lines[:-3:-1]):
                changed = case.copy(f"{len(new)} lines")
                changed.data = "\n".join(new) + "\n"
                self.refuse(changed)

    def test_data_that_cannot_be_read(self):
        case = named("separable")
        for cell in ("", "NA", "nan", "inf", "0x1", "1_0", "1e400", "1e-400", "9007199254740993", "\u0661", "x", "1,1"):
            changed = case.copy(cell)
            changed.data = case.data.replace("1,1,1", f"1,{cell},1")
            self.refuse(changed)
        for data in (b"", b"\n", b"x1,x2,label\n", case.data.encode() + b"1,1,\xff\n", case.data + "1,1\n",
                     case.data + "1,1,\n", b"\x1f\x8b\x08junk", case.data.replace("x2", "class")):
            changed = case.copy(f"{data!r}")
            changed.data = data
            self.refuse(changed)

class OptimalModels(Test):
    """Certificates of testdata/certificates/optimal: a model against every other one."""

    def cases(self):
        found = list(cases(FOLDER / "optimal"))
        self.assertGreaterEqual(len(found), 12)
        losses = {case.certificate["claims"][0]["optimality"]["objective"]["loss"] for case in found}
        self.assertEqual(losses, {"logistic", "hinge", "squared-hinge", "squared", "softmax", "crammer-singer"})
        return found

    def changed(self, case, name, change):
        """The case with its claim changed: change(claim, optimality)."""
        changed = case.copy(name)
        claim = changed.certificate["claims"][0]
        change(claim, claim["optimality"])
        return changed

    @staticmethod
    def is_close(case):
        """Whether the gap is so small that any other weight breaks the claim."""
        return case.certificate["claims"][0]["optimality"]["gap"] < 1e-9

    def is_strict(self, case):
        """Whether every row counts, and every weight: no hinge leaves rows out, no l1 weights at 0."""
        objective = case.certificate["claims"][0]["optimality"]["objective"]
        smooth = objective["loss"] in ("logistic", "softmax")
        return self.is_close(case) and smooth and not objective["l1"] and "limits" not in objective

    def test_every_certificate_is_accepted(self):
        for case in self.cases():
            self.accept(case)
        self.assertGreaterEqual(sum(map(self.is_strict, self.cases())), 2)

    def test_a_weight_that_is_moved(self):
        for case in self.cases():
            claim = case.certificate["claims"][0]
            for k, plane in enumerate(claim.get("planes") or [claim["plane"]]):
                for j in range(len(plane["weights"]) + ("bias" in plane)):
                    for step in (1e-3, -1e-3):
                        def move(claim, _):
                            plane = claim["planes"][k] if "planes" in claim else claim["plane"]
                            if j < len(plane["weights"]):
                                plane["weights"][j] += step
                            else:
                                plane["bias"] += step
                        changed = self.changed(case, f"weight {k} {j} by {step}", move)
                        self.settle(changed, False if self.is_close(case) else None)
            self.refuse(self.changed(case, "as words", lambda claim, _: (
                claim["planes"][0] if "planes" in claim else claim["plane"])["weights"].__setitem__(0, "1")))

    def test_numbers_that_say_too_much(self):
        for case in self.cases():
            def bound(_, o):
                doubt = 1e-6 * o["primal"] + (1e-3 if case.name == "paper" else 0)
                o["bound"] += doubt
                o["primal"] += doubt
            self.refuse(self.changed(case, "primal", lambda _, o: o.update(
                primal=o["primal"] - 1e-6 * abs(o["primal"]))))
            self.refuse(self.changed(case, "bound", bound))
            self.refuse(self.changed(case, "gap", lambda _, o: o.update(
                gap=(o["primal"] - o["bound"]) / o["primal"] * (1 - 1e-12))))
            l2 = case.certificate["claims"][0]["optimality"]["objective"]["l2"]
            for new in (None, 0.0) if l2 else (0.0, 1e9):
                self.refuse(self.changed(case, f"radius {new}", lambda _, o: o.update(radius=new)))
            wide = {"least": -1e9, "most": 1e9, "tilt": [0.5, 0.5]}
            had = case.certificate["claims"][0]["optimality"].get("bias")
            self.settle(self.changed(case, "an interval", lambda _, o: o.update(bias=wide)), had is not None)
            for new in ({"least": had["least"] + 1e-5}, {"most": had["most"] - 1e-5}, {"tilt": [0, 0.1]},
                        {"tilt": [0.1, 1.5]}, {"tilt": [0.1]}, {"least": None}) if had else ():
                self.refuse(self.changed(case, f"interval {new}", lambda _, o: o["bias"].update(new)))

    def test_other_objectives(self):
        for case in self.cases():
            objective = case.certificate["claims"][0]["optimality"]["objective"]
            strict = False if self.is_strict(case) else None
            for new in ({"c": 1.01 * objective["c"]}, {"c": 0.99 * objective["c"]}, {"l1": objective["l1"] + 0.01},
                        {"scale": [1.3] * 3}, {"intercept": "free"}, {"intercept": "penalised"}, {"intercept": "none"}):
                if any(objective.get(field) != value for field, value in new.items()):
                    self.settle(self.changed(case, str(new), lambda _, o: o["objective"].update(new)), strict)
            for new in ({"c": 0}, {"c": -1}, {"c": "1"}, {"c": 1e200}, {"l1": -1}, {"l2": -1}, {"l1": None},
                        {"loss": "exponential"}, {"loss": None}, {"intercept": "some"}, {"scale": []}, {"scale": None},
                        {"scale": [0] * 3}, {"class-weights": []}, {"class-weights": [["nobody", 2]]},
                        {"class-weights": [["no", 0], ["a", 0]]}, {"class-weights": None}, {"limits": []},
                        {"limits": None}, {"limits": [{"column": 99}]}, {"limits": [{"column": 0, "least": 1, "most": 0}]},
                        {"limits": [{"column": 0, "least": 7}]}, {"extra": 1}):
                self.refuse(self.changed(case, str(new), lambda _, o: o["objective"].update(new)))
            joint = "planes" in case.certificate["claims"][0]
            for loss in ("logistic", "hinge", "squared-hinge", "squared", "softmax", "crammer-singer"):
                if loss != objective["loss"] and (joint != (loss in ("softmax", "crammer-singer"))):
                    self.refuse(self.changed(case, loss, lambda _, o: o["objective"].update(loss=loss)))

    def test_multipliers_out_of_their_domain(self):
        for case in self.cases():
            rows = case.certificate["data"]["rows"]
            for alpha in ([[0, -1e-9]], [[0, 1e101]], [[rows, 0]], [[-1, 0]], [[0, 0], [0, 0]], [[1, 0], [0, 0]],
                          [[0, "0"]], [[0]], [], None, [[0, None]]):
                self.refuse(self.changed(case, f"alpha {alpha}", lambda _, o: o["dual"].update(alpha=alpha)))
            for shares in ([[0, [[0, 0.6], [1, 0.6], [2, 0.6]]]], [[0, [[7, 0.1]]]], [[0, [[1, -0.1], [2, -0.1]]]],
                           [[rows, []]], [[0, []], [0, []]], [[0, [[1, 0.1], [1, 0.1]]]], [], None, [[0, None]]):
                self.refuse(self.changed(case, f"shares {shares}", lambda _, o: o["dual"].update(shares=shares)))
            for new in ({"dual": None}, {"dual": []}, {"primal": None}, {"bound": "0"}, {"gap": None}, {"extra": 0}):
                self.refuse(self.changed(case, str(new), lambda _, o: o.update(new)))
            self.refuse(self.changed(case, "no dual", lambda _, o: o.pop("dual")))

    def test_other_data(self):
        for case in self.cases():
            strict = False if self.is_strict(case) else None
            for row in range(case.certificate["data"]["rows"]):
                labels, parts, rows, _ = case.read()
                if not parts[row]:
                    continue
                other = next(label for label in sorted(set(labels)) if label != labels[row])
                for column, value in (("label", other), (0, rows[row].get(0, 0) + 0.5)):
                    changed = case.copy(f"row {row}: {column} is {value}")
                    changed.data = with_cell(changed, row, column, value)
                    self.refuse(changed)
                    self.settle(changed.sealed(), strict)

class FirthModels(Test):
    """The certificate of testdata/certificates/firth, of the endometrial data."""

    def changed(self, name, change):
        case = next(iter(cases(FOLDER / "firth"))).copy(name)
        change(case.certificate["claims"][0])
        return case

    def test_it_is_accepted_and_a_smaller_residual_is_not(self):
        self.accept(self.changed("as it is", lambda claim: None))
        for residual in (1e-18, -1.0, 0.0):
            self.refuse(self.changed(f"residual {residual}", lambda claim: claim["modified-score"].update(residual=residual)))

    def test_one_bit_of_a_weight_that_matters_at_the_residual(self):
        for j in range(3):
            for bit in (25, 40, 51, 52, 62, 63):
                def flip(claim):
                    weights = claim["plane"]["weights"]
                    number = struct.unpack("<Q", struct.pack("<d", weights[j]))[0] ^ 1 << bit
                    weights[j] = struct.unpack("<d", struct.pack("<Q", number))[0]
                self.refuse(self.changed(f"weight {j}, bit {bit}", flip))

    def test_other_sides_columns_and_values(self):
        self.refuse(self.changed("turned", lambda claim: claim.update(positive=["0"], negative=["1"])))
        for out in ([0], [3], [1, 0]):
            self.refuse(self.changed(f"without {out}", lambda claim: claim["modified-score"].update({"left-out": out})))
        for old, new in (("0,13,1.64,0", "0,13,1.64,1"), ("0,16,2.26,0", "0,16,2.27,0")):
            case = self.changed(new, lambda claim: None)
            case.data = case.data.replace(old, new, 1)
            self.refuse(case.sealed())

class FittedModels(Test):
    """Certificates of testdata/certificates/fitted: least squares, discriminants, naive Bayes."""

    def cases(self):
        found = list(cases(FOLDER / "fitted"))
        self.assertGreaterEqual(len(found), 18)
        return found

    @staticmethod
    def body(case):
        """The claim, and its equations or statistics."""
        claim = case.certificate["claims"][0]
        return claim, claim["equations" if claim["claim"] == "stationary" else "statistics"]

    def changed(self, case, name, change):
        changed = case.copy(name)
        change(*self.body(changed))
        return changed

    @staticmethod
    def seen(case):
        """The rows that count with their weights, as the model sees them, the constant as column -1."""
        exact, stated = case.exact(), FittedModels.body(case)[1]
        for row, part in zip(exact.rows, exact.parts):
            values = {j: float(row.get(j, 0)) for j in exact.columns}
            if stated.get("model") == "bernoulli":
                values = {j: float(j < 0 or x > stated["binarize"]) for j, x in values.items()}
            if part:
                yield part, values

    def test_every_certificate_is_accepted(self):
        kinds = set()
        for case in self.cases():
            self.accept(case)
            stated = self.body(case)[1]
            kinds.add(stated.get("kind") or stated["model"])
        self.assertEqual(kinds, {"least-squares", "discriminant", "multinomial", "bernoulli", "gaussian"})

    def test_a_weight_that_moves_the_scores(self):
        for case in self.cases():
            rows = list(self.seen(case))
            claim, stated = self.body(case)
            for k, plane in enumerate(claim.get("planes") or [claim["plane"]]):
                w = {-1: plane["bias"]} | dict(enumerate(plane["weights"]))
                size = lambda v: math.sqrt(sum(part * sum(v[j] * row[j] for j in v) ** 2 for part, row in rows))
                for j in w:
                    length = size({j: 1})
                    for step in (1e-5, -1e-5) if length else ():
                        # Classes may count alike in the norm, rows by their weights here.
                        def move(claim, _):
                            plane = claim["planes"][k] if "planes" in claim else claim["plane"]
                            if j < 0:
                                plane["bias"] += step * size(w) / length
                            else:
                                plane["weights"][j] += step * size(w) / length
                        free = j < 0 and stated.get("bias") == "free"
                        moved = self.changed(case, f"plane {k}, weight {j} by {step}", move)
                        self.settle(moved, free) if moved.certificate != case.certificate else None

    def test_a_bit_of_nearly_dependent_columns(self):
        for name in ("near-decimal", "near-binary64"):
            case = next(case for case in self.cases() if case.name == name)
            for j in (0, 1):
                for end in (math.inf, -math.inf):
                    move = lambda claim, _: claim["plane"]["weights"].__setitem__(
                        j, math.nextafter(claim["plane"]["weights"][j], end))
                    self.refuse(self.changed(case, f"the last bit of weight {j}", move))
            self.refuse(self.changed(case, "the columns taken for one", lambda claim, _: claim["plane"].update(
                weights=[0.0, 0.0], bias=0.0)))

    def test_the_reading_of_nearly_dependent_columns(self):
        """With another reading the differences of the columns are others, and so is the answer."""
        case = next(case for case in self.cases() if case.name == "near-decimal")
        changed = case.copy("binary64")
        changed.certificate["reading"]["default"] = "binary64"
        self.refuse(changed)

    def test_other_settings(self):
        for case in self.cases():
            labels, parts, _, _ = case.read()
            claim, stated = self.body(case)
            weight = {label: sum(p for other, p in zip(labels, parts) if other == label) for label in labels}
            alike = len(set(weight.values())) == 1  # then priors and weights of classes change nothing
            turned = lambda word: {"data": "uniform", "uniform": "data", "none": "balanced", "balanced": "none"}[word]
            changes = []
            for field, value in stated.items():
                if field in ("l2", "shrinkage", "alpha", "smoothing"):
                    changes += [({field: value + 0.01}, False), ({field: -1}, False), ({field: None}, False)]
                elif field in ("priors", "class-weight"):
                    # The planes of more classes than two have logarithms of the priors of their own.
                    changes += [({field: turned(value)}, alike), ({field: "some"}, False)]
                elif field == "bias":
                    changes += [({field: new}, None) for new in {"midpoint", "prior", "free"} - {value}]
                    changes += [({field: "some"}, False)]
                elif field == "binarize":
                    changes += [({field: value + 3}, False), ({field: None}, False)]
                else:
                    changes += [({field: new}, False) for new in ("some", "least-squares", "gaussian") if new != value]
            changes += [({"shrinkage": 1.5}, False), ({"extra": 1}, False)]
            for new, accepted in changes:
                name = f"{new} instead of {stated}"
                self.settle(self.changed(case, name, lambda _, body: body.update(new)), accepted)
            for field in stated:
                self.refuse(self.changed(case, f"no {field}", lambda _, body: body.pop(field)))
            other = "statistics" if "equations" in claim else "equations"
            self.refuse(self.changed(case, "both", lambda claim, body: claim.update({other: dict(body)})))

    def test_a_bias_that_is_another(self):
        for name, bias in (("lda", "midpoint"), ("lda-uniform", "midpoint"), ("fisher-midpoint", "prior")):
            case = next(case for case in self.cases() if case.name == name)
            self.refuse(self.changed(case, bias, lambda _, body: body.update(bias=bias)))
            self.accept(self.changed(case, "free", lambda _, body: body.update(bias="free")))

    def test_other_data(self):
        for case in self.cases():
            labels, parts, rows, width = case.read()
            stated = self.body(case)[1]
            for row in range(0, len(rows), 3):
                other = next(label for label in sorted(set(labels)) if label != labels[row])
                cells = [("label", other)]
                for j in range(width):
                    x = rows[row].get(j, 0.0)
                    threshold = stated.get("binarize")
                    cells.append((j, x + 1.5 if threshold is None or x <= threshold < x + 1.5 else threshold - 1 if
                                  x > threshold else threshold + 1))
                for column, value in cells:
                    changed = case.copy(f"row {row}: {column} is {value}")
                    changed.data = with_cell(changed, row, column, value)
                    self.refuse(changed)
                    # A row of weight 0 counts for nothing, and a negative value is no count.
                    self.settle(changed.sealed(), False if parts[row] else None)

    def test_planes_of_another_form(self):
        for case in self.cases():
            claim, _ = self.body(case)
            first = lambda claim: claim["planes"][0] if "planes" in claim else claim["plane"]
            for name, change in {
                    "words": lambda c, _: first(c)["weights"].__setitem__(0, "1/2"), "no bias": lambda c, _: first(c).pop("bias"),
                    "few": lambda c, _: first(c)["weights"].pop(), "pair": lambda c, _: c.update(scheme="pair"),
                    "many": lambda c, _: first(c)["weights"].append(0.0)}.items():
                self.refuse(self.changed(case, name, change))
            sparse = self.changed(case, "sparse", lambda c, _: first(c).update(sparse=[
                list(pair) for pair in enumerate(first(c).pop("weights"))]))
            self.accept(sparse)
            changed = case.copy("without a bias")
            changed.certificate["bias"] = False
            self.refuse(changed)
            if "planes" in claim:
                for name, change in {"two planes": lambda c, _: c["planes"].append(c["planes"][0]),
                                     "a plane less": lambda c, _: c["planes"].pop(),
                                     "a class without rows": lambda c, _: c["planes"].append({**c["planes"][0], "class": "nobody"}),
                                     "classes turned": lambda c, _: c.update(planes=[
                                         p | {"class": q["class"]} for p, q in zip(c["planes"], c["planes"][::-1])])}.items():
                    self.refuse(self.changed(case, name, change))
            else:
                for name, new in {"turned": {"positive": claim["negative"], "negative": claim["positive"]},
                                  "nobody": {"positive": claim["positive"] + ["nobody"]},
                                  "nobody beside": {"negative": claim["negative"] + ["nobody"]},
                                  "only nobody": {"positive": ["nobody"]}}.items():
                    self.refuse(self.changed(case, name, lambda c, _: c.update(new)))

    def test_products_beyond_binary64(self):
        case = next(case for case in self.cases() if case.name == "least-squares-basis")
        case.data = with_cell(case, 0, 0, 1e-200)
        self.refuse(case.copy("a product of 1e-400").sealed())

    def test_a_column_too_small_for_squares_counts(self):
        """Its squares are 0 in binary64, but it tells the classes apart; the answer without it is another."""
        x, t = [i * i % 7 for i in range(12)], [1 if i % 3 == 0 else -1 for i in range(12)]
        table = "x,small,label\n" + "".join(f"{a},{b}e-200,{b}\n" for a, b in zip(x, t))
        slope = (12 * sum(a * b for a, b in zip(x, t)) - sum(x) * sum(t)) / (12 * sum(a * a for a in x) - sum(x) ** 2)
        frame = next(iter(self.cases())).certificate
        for weights, bias, accepted in (([0.0, 1e200], 0.0, True), ([slope, 0.0], (sum(t) - slope * sum(x)) / 12, False)):
            claim = {"claim": "stationary", "scheme": "binary", "positive": ["1"], "negative": ["-1"],
                     "plane": {"weights": weights, "bias": bias},
                     "equations": {"kind": "least-squares", "l2": 0.0, "class-weight": "none"}}
            certificate = {**frame, "input": None, "basis": None, "claims": [claim],
                           "reading": {"default": "decimal", "binary64": []}}
            self.settle(Case(f"weights {weights}", certificate, table, ".csv").sealed(), accepted)

    def test_what_is_too_large_is_not_called_false(self):
        """Elimination without fractions takes too long here; linsep verify has other means."""
        width, rows = 150, 40
        table = "".join(f"c{j}," for j in range(width)) + "label\n" + "".join(
            "".join(f"{(i * 7919 + j * j * 104729) % 9973}," for j in range(width)) + f"{i % 2}\n" for i in range(rows))
        claim = {"claim": "stationary", "scheme": "binary", "positive": ["1"], "negative": ["0"],
                 "plane": {"weights": [0.0] * width, "bias": 0.0},
                 "equations": {"kind": "least-squares", "l2": 0.0, "class-weight": "none"}}
        frame = {"format": "linsep.certificate/1", "data": {}, "bias": True, "basis": None,
                 "reading": {"default": "decimal", "binary64": []}, "claims": [claim]}
        case = Case("wide", frame, table, ".csv").sealed()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as said:
            paths = [pathlib.Path(folder, name) for name in ("c.json", "d.csv")]
            paths[0].write_text(json.dumps(case.certificate))
            paths[1].write_text(table)
            self.assertEqual(checker.main([str(path) for path in paths]), 1)
        self.assertTrue(said.getvalue().startswith("unchecked"), said.getvalue())

class BasisFunctions(Test):
    """Certificates of testdata/certificates/basis, whose claims are about products of columns."""

    OTHERS = [[[[0, 2]]], [[[1, 2]], [[0, 2]]], [[[0, 5], [1, 1]]], [[[0, 1], [77, 1]]], "poly:3", "rbf:2,1",
              "poly:1", "poly:7", "poly:02", "poly", "", [], [[]], [[[0, 1]]], [[[0, 0], [1, 2]]],
              [[[1, 1], [0, 1]]], [[[0, 7]]], [[[0, 2]], [[0, 2]]], [[[0, 2.0]]], [[[0, -2]]], {}, 2, True]

    def cases(self):
        found = list(cases(FOLDER / "basis"))
        self.assertGreaterEqual(len(found), 5)
        return found

    def test_every_certificate_is_accepted(self):
        kinds = set()
        for case in self.cases():
            self.accept(case)
            kinds |= {claim["claim"] for claim in case.certificate["claims"]}
        self.assertLessEqual({"separable", "margin", "geometric-margin"}, kinds)
        self.assertTrue(kinds & {"inseparable", "touching", "overlapping"})

    def test_another_basis_is_refused(self):
        for case in self.cases():
            for other in self.OTHERS:
                changed = case.copy(f"basis {other}")
                changed.certificate["basis"] = changed.certificate["input"]["basis"] = other
                self.refuse(changed)
                for alone in (True, False):
                    changed = case.copy(f"one basis {other}")
                    place = changed.certificate if alone else changed.certificate["input"]
                    place["basis"] = other
                    self.refuse(changed)
            changed = case.copy("no basis in the input")
            del changed.certificate["input"]["basis"]
            self.refuse(changed)
            changed = case.copy("no basis for the claims")
            changed.certificate["basis"] = None
            self.refuse(changed)

    def test_a_basis_without_an_input_counts_as_well(self):
        case = next(case for case in self.cases() if case.name == "xor-product")
        del case.certificate["input"]
        self.accept(case)
        case.certificate["basis"] = "poly:2"
        self.refuse(case)

    def test_numbers_that_are_changed_are_refused(self):
        for case in self.cases():
            for k, claim in enumerate(case.certificate["claims"]):
                plane = claim.get("plane") or {}
                for j in range(len(plane.get("weights") or [])):
                    changed = case.copy(f"weight {j}")
                    weights = changed.certificate["claims"][k]["plane"]["weights"]
                    weights[j] = -1000 * weights[j] if isinstance(weights[j], float) else "-" + weights[j]
                    self.settle(changed, None)
                for field, entries in entries_of(claim):
                    for at in range(len(entries)):
                        changed = case.copy(f"lambda {at}")
                        entry = changed.certificate["claims"][k][field][at]
                        entry["lambda"] += "7"
                        # A row alone on its side has the same blend whatever its weight.
                        self.settle(changed, None if claim["claim"] == "geometric-margin" else False)

    def test_cells_that_are_changed_are_refused(self):
        for case, old, new in [("xor-product", "2,2,0", "2,0.5,0"), ("line-of-decimals", "0.2,0.7", "0.2,0.70000000000001"),
                               ("line-of-binary64", "0.2,0.7", "0.2,0.7000000000000002"), ("ring", "0.2,-1.3", "0.2,-0.1")]:
            case = next(c for c in self.cases() if c.name == case)
            self.assertIn(old, case.data)
            case.data = case.data.replace(old, new)
            self.refuse(case.copy("another cell"))
            self.refuse(case.copy("another cell with its digest").sealed())

class BothCheckers(Test):
    """Rules that one of the two checkers once took more lightly than the other."""

    TABLE = "x1,x2,label\n0,0,0\n0,1,0\n1,0,0\n1,1,1\n"
    XOR = "x1,x2,label\n0,0,0\n0,1,1\n1,0,1\n1,1,0\n"
    PLANE = {"weights": [1, 1], "bias": -1.5}
    WITNESS = [{"row": row, "lambda": "1"} for row in range(4)]

    def case(self, name, claim, data, **head):
        frame = {"format": "linsep.certificate/1", "data": {}, "bias": True, "basis": None,
                 "reading": {"default": "decimal", "binary64": []}, "claims": [claim], **head}
        return Case(name, frame, data, ".csv").sealed()

    def two(self, name, positive="1", negative="0", scheme="binary", **body):
        return {"claim": name, "scheme": scheme, "positive": [positive], "negative": [negative], **body}

    def test_a_decimal_reading_needs_decimals(self):
        for cell in ("0.30000000000000004", "5e-324"):
            data = self.TABLE.replace("1,1,1", f"2,{cell},1")
            claim = self.two("separable", plane=self.PLANE)
            self.refuse(self.case(f"decimal {cell}", claim, data))
            reading = {"default": "decimal", "binary64": [1]}
            self.accept(self.case(f"binary64 {cell}", claim, data, reading=reading))

    def test_a_side_needs_a_row(self):
        plane = {"weights": [0, 0], "bias": -1}
        for scheme, positive, negative in (("pair", "a", "b"), ("pair", "a", "0")):
            claim = self.two("separable", positive, negative, scheme, plane=plane)
            self.refuse(self.case(f"{positive} | {negative}", claim, self.TABLE))
        claim = self.two("separable", "a", plane=plane) | {"negative": ["0", "1"]}
        self.refuse(self.case("a | 0, 1", claim, self.TABLE))

    def test_every_class_of_a_side_occurs(self):
        for side in ("positive", "negative"):
            claim = self.two("separable", plane=self.PLANE)
            self.accept(self.case("as it is", claim, self.TABLE))
            self.refuse(self.case(f"{side} ghost", claim | {side: claim[side] + ["ghost"]}, self.TABLE))

    def test_planes_of_no_rows_are_refused(self):
        planes = [{"class": name, "weights": [0], "bias": 0} for name in ("a", "b")]
        source = {"features": 1, "columns": [{"position": 0, "name": "x"}], "label": {"position": 1, "name": "label"},
                  "weight": {"position": 2, "name": "weight"}, "source_columns": 3}
        claim = {"claim": "separable", "scheme": "joint", "planes": planes}
        self.refuse(self.case("no rows", claim, "x,label,weight\n1,a,0\n2,b,0\n", input=source))

    def test_every_row_of_a_binary_problem_has_a_side(self):
        for scheme, accepted in (("binary", False), ("rest", False), ("pair", True)):
            for name, body in (("inseparable", {"witness": self.WITNESS}), ("overlapping", {"witness": self.WITNESS}),
                               ("bracket", {"weights": self.WITNESS, "bound": "1"})):
                claim = self.two(name, scheme=scheme, **body)
                self.settle(self.case(f"{name} {scheme}", claim, self.XOR + "5,5,2\n"), accepted)

    def test_an_entry_of_a_joint_witness_stands_once(self):
        entries = [{"row": 0, "against": "b", "lambda": "1"}] * 2 + [{"row": 1, "against": "a", "lambda": "2"}]
        claim = {"claim": "inseparable", "scheme": "joint", "witness": entries}
        self.refuse(self.case("an entry twice", claim, "x,y\n1,a\n1,b\n2,b\n"))

    def test_joint_planes_may_have_fractions(self):
        planes = [{"class": "0", "weights": ["0", "0"], "bias": "3/2"}, {"class": "1", "weights": [1, 1], "bias": "0"}]
        claim = {"claim": "separable", "scheme": "joint", "planes": planes}
        self.accept(self.case("fractions", claim, self.TABLE))

    def test_a_free_bias_needs_a_bias(self):
        support = [{"row": row, "lambda": weight} for row, weight in ((0, "3"), (1, "2"), (2, "1"))]
        claim = self.two("geometric-margin", negative="-1", support=support, gamma2="9/5")
        table = "x1,x2,label\n0,2,1\n2,3,1\n2,0,-1\n5,1,-1\n"
        self.accept(self.case("with a bias", claim, table))
        self.refuse(self.case("without", claim, table, bias=False))

    def test_objects_are_objects_and_fields_stand_once(self):
        case = self.case("XOR", self.two("inseparable", witness=self.WITNESS), self.XOR)
        text = json.dumps(case.certificate)
        entry, data = json.dumps(self.WITNESS[0]), json.dumps(case.certificate["data"])
        for name, old, new in (("list", entry, '[0, null, null, "1"]'), ("field twice", entry, '{"row": 3, ' + entry[1:]),
                               ("data list", data, json.dumps(list(case.certificate["data"].values())))):
            changed = case.copy(name)
            changed.certificate = text.replace(old, new)
            self.assertNotEqual(changed.certificate, text)
            self.refuse(changed)

# --- Helpers.

def objects(x, path=()):
    """Every object of a JSON value, with its path."""
    if isinstance(x, dict):
        yield path, x
    for key, value in x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ():
        yield from objects(value, path + (key,))

def leaves(x, path=()):
    """The path of every value inside a JSON value."""
    for key, value in x.items() if isinstance(x, dict) else enumerate(x) if isinstance(x, list) else ():
        yield path + (key,)
        yield from leaves(value, path + (key,))

def at(x, path): return at(x[path[0]], path[1:]) if path else x

def alone_on_its_side(case, entries, k):
    """In a geometric margin each side has a mean of its own, so a single row may have any lambda."""
    labels = case.read()[0]
    same = [entry for entry in entries if labels[entry["row"]] == labels[entries[k]["row"]]]
    return case.name == "geometric-margin" and len(same) == 1

def planes(exact, claim):
    """(place, plane, {row: twice the amount by which it is on its side}) of each plane of a claim."""
    if "plane" in claim:
        plane, signs = exact.plane(claim["plane"]), exact.signs(claim)
        yield None, plane, {i: 2 * checker.dot(exact.rows[i], plane) for i, sign in enumerate(signs) if sign}
    for place, own in enumerate(claim.get("planes") or []):
        other = exact.plane(next(p for p in claim["planes"] if p["class"] != own["class"]))
        plane = exact.plane(own)
        mine = [i for i, label in enumerate(exact.labels) if label == own["class"]]
        yield place, plane, {
            i: 2 * (checker.dot(exact.rows[i], plane) - checker.dot(exact.rows[i], other)) for i in mine}

def set_weight(plane, j, weight):
    """A weight as whole numbers p/q; the bias is column -1."""
    if j < 0:
        plane["bias"] = str(weight)
    elif plane.get("weights") is not None:
        plane["weights"][j] = str(weight)
    else:
        pairs = dict(map(tuple, plane["sparse"])) | {j: str(weight)}
        plane["sparse"] = [list(pair) for pair in sorted(pairs.items())]

def numeric(case):
    """The features that stand in a column of their own."""
    return [0] if case.name.startswith("input") else range(case.read()[3])

def with_cell(case, row, column, value):
    """The data with another value; column "label" is the label."""
    if case.suffix == ".svm":
        lines = case.data.split("\n")
        label, *pairs = lines[row + 1].split("#")[0].split()
        label = value if column == "label" else label
        pairs = {int(j): v for j, v in (pair.split(":") for pair in pairs)}
        pairs |= {} if column == "label" else {column + 1: value}
        lines[row + 1] = " ".join([label] + [f"{j}:{v}" for j, v in sorted(pairs.items())])
        return "\n".join(lines)
    delimiter = ";" if ";" in case.data else ","
    table = list(csv.reader(case.data.splitlines(), delimiter=delimiter))
    names = [name for name in table[0] if name in ("label", "class", "y", "answer")]
    place = table[0].index(names[0])
    others = [j for j in range(len(table[0])) if j != place and (";" not in case.data or table[0][j] == "size")]
    table[row + 1][place if column == "label" else others[column]] = str(value)
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(table)
    return out.getvalue()

def breaking_cells(case, exact):
    """(row, column, value) of cells without which some claim is false."""
    for claim in case.certificate["claims"]:
        for field, entries in entries_of(claim):
            for entry in entries:
                for j in numeric(case):
                    step = 1
                    if field == "weights":  # a bound: make the blend longer
                        signs = exact.signs(claim)
                        sums, _ = exact.blend(entries, lambda e: [(0, signs[e["row"]])])
                        step = 10 * signs[entry["row"]] * (1 if sums[0][j] >= 0 else -1)
                    yield entry["row"], j, float(exact.rows[entry["row"]].get(j, 0) + step)
        for _, plane, rows in planes(exact, claim):
            for i, score in list(rows.items())[:12]:
                j = next((j for j in numeric(case) if plane.get(j)), None)
                if j is not None and score:
                    step = math.ceil(abs(score / plane[j])) + 1
                    step = -step if (score > 0) == (plane[j] > 0) else step
                    yield i, j, float(exact.rows[i].get(j, 0) + step)

def breaking_labels(case, exact):
    """(row, label) that put a row on the other side and make some claim false."""
    for claim in case.certificate["claims"]:
        if checker.full_name(claim) == "unproved":
            continue
        rows = {entry["row"] for _, entries in entries_of(claim) for entry in entries}
        for _, _, scores in planes(exact, claim):
            rows |= {i for i, score in scores.items() if score}
        for row in sorted(rows)[:12]:
            own = exact.labels[row]
            if "positive" in claim:
                yield row, claim["negative" if own in claim["positive"] else "positive"][0]
            else:
                yield row, next(label for label in sorted(set(exact.labels)) if label != own)

if __name__ == "__main__":
    unittest.main()
