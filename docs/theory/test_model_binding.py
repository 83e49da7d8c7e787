"""A claim is about the model that it stands beside: every part of a model that a claim is about is changed, the
file is signed anew, and both checkers have to refuse it.

    LINSEP=target/release/linsep python3 docs/theory/test_model_binding.py
"""
import contextlib, copy, io, json, math, pathlib, struct, subprocess, sys, tempfile, unittest, unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import check_certificate as checker  # noqa: E402
from test_check_certificate import LINSEP  # noqa: E402
from test_model_files import pack  # noqa: E402

AND = "a,b,label\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n"
TWO = "a,b,label\n" + "".join(f"{x},{y},{'no' if x + 2 * y < 5 else 'yes'}\n" for x in range(5) for y in range(4)) + "0,0,yes\n"
THREE = "a,b,label\n" + "".join(
    f"{x},{y},{'pqr'[(x > 2) + (y > 2)]}\n" for x in range(6) for y in range(6) if (x, y) != (3, 2)) + "0,1,r\n"
TINY = "x0,label\n-226.3,k1\n-0.8,k0\n-26.6,k2\n"  # a run that ends before its gap
LINE = "a,b,label\n0,1,p\n1,0,p\n4,9,q\n5,7,q\n9,-4,r\n9,-5,r\n"

WEIGHED = "a,b,label,w\n" + "".join(
    f"{x / 10},{y},{'pqr'[(x > 2) + (y > 2)]},{1 + (x + y) % 3 / 10}\n"
    for x in range(6) for y in range(6)) + "0,1,r,0.5\n9,9,p,0\n"
KINDS = "a,kind,label\n" + "".join(
    f"{x},{'uvw'[x * y % 3]},{'no' if x + 2 * y < 5 else 'yes'}\n" for x in range(5) for y in range(4)) + "0,u,yes\n"
LISTED = "".join(f"{'no' if x + 2 * y < 5 else 'yes'} 1:{x}.5 2:7 4:{y}.25\n" for x in range(5) for y in range(4)) + "yes 1:0.5\n"

# learner and flags, table, parameters whose change leaves the claim true and the objective another one
NUMBERS = [
    ("logistic --multiclass ovr --weight w --class-weight balanced --scale standard", WEIGHED, {"scale": "maxabs"}),
    ("logistic --scale standard", "a,b,label\n1,2,no\n1,3,yes\n1,4,no\n", {"scale": "unit"}),
    ("logistic --multiclass ovr --weight w --class-weight balanced --scale pow2", WEIGHED, {"scale": "standard"}),
    ("logistic --weight w --class-weight balanced --scale maxabs", WEIGHED, {"scale": "pow2"}),
    ("logistic --class-weight balanced --scale standard", THREE, {"scale": "maxabs"}),
    ("svm --multiclass crammer-singer --weight w --class-weight balanced --scale standard", WEIGHED, {"scale": "pow2"}),
    ("svm --weight w --class-weight balanced --scale pow2 --lower 0,#2=-0.1 --upper a=0.5,3", WEIGHED,
     {"lower": "-1,#2=-0.1", "upper": "a=0.5,4", "scale": "maxabs"}),
    ("logistic --positive q --weight w --class-weight balanced --scale standard", WEIGHED, {"scale": "maxabs"}),
    ("svm --positive q --multiclass crammer-singer --class-weight balanced --scale pow2", WEIGHED, {"scale": "maxabs"}),
    ("logistic --weight w --class-weight p=3,r=0.5", WEIGHED, {"class-weight": "p=3,r=0.6"}),
    ("svm --positive q --class-weight q=3,rest=0.5", WEIGHED, {"class-weight": "q=3,rest=2"}),
    ("logistic --lower 0", TWO, {"lower": "-1", "upper": "1"}),
    ("logistic --upper a=-0.5 --lower #2=0.1", TWO, {"upper": "b=-0.5", "lower": "#1=0.1"}),
    ("logistic --basis poly:2 --lower a*b=-1,b^2=-2 --upper 0.5,b=1 --scale maxabs", TWO,
     {"lower": "b^2=-1,a*b=-2", "upper": "0.5,a=1"}),
    ("svm --categorical onehot --lower kind=v=-0.5,#1=0 --scale standard --class-weight balanced", KINDS,
     {"lower": "kind=w=-0.5,#1=0", "upper": "2"}),
    ("svm --format svmlight --lower x4=0.5 --upper #1=2 --scale standard", LISTED, {"lower": "x1=0.5", "upper": "#2=2"}),
    ("svm --format svmlight --drop #2 --lower #4=0.5 --upper x1=2 --scale maxabs", LISTED, {"lower": "#3=0.5", "upper": "x2=2"}),
]

FITTED = [("least-squares --l2 2 --class-weight balanced", TWO), ("least-squares --l2 0.5 --weight w", WEIGHED),
          ("fisher --shrinkage 0.3", TWO), ("lda --shrinkage 0.25 --weight w", WEIGHED), ("multinomial-nb --alpha 2", TWO),
          ("bernoulli-nb --binarize 1.5 --alpha 0.5", THREE), ("shared-variance-nb --var-smoothing 0.1", THREE)]

# learner and flags, table, parameters whose change the claim contradicts
MODELS = [
    ("perceptron", AND, {}),
    ("perceptron --multiclass ovr", LINE, {}),
    ("perceptron --multiclass ovo", LINE, {}),
    ("perceptron --multiclass joint", LINE, {}),
    ("hard-margin", AND, {}),
    ("logistic", TWO, {"c": "1000", "penalty": "l1", "intercept": "none", "class-weight": "balanced"}),
    ("logistic --c 0.3 --penalty elastic-net --l1-ratio 0.25", TWO, {"c": "1", "l1-ratio": "0.5", "penalty": "l2"}),
    ("logistic --class-weight balanced --scale standard", TWO, {"class-weight": "none", "scale": "none"}),
    ("logistic --terms kind*a+poly(a,2) --reference kind=v", KINDS, {"c": "1000", "penalty": "l1"}),
    ("logistic --lower a=0.1", TWO, {"lower": "none"}),
    ("logistic", THREE, {"c": "1000", "intercept": "penalised"}),
    ("logistic --penalty none", TWO, {"penalty": "l2", "c": "2", "intercept": "none"}),
    ("logistic --penalty none --intercept none", TWO, {"penalty": "l1", "intercept": "free"}),
    ("logistic --penalty none --gap 1e-6", THREE, {"penalty": "l2", "c": "2", "intercept": "none", "multiclass": "ovr"}),
    ("svm", TWO, {"c": "2", "loss": "hinge", "penalty": "l1"}),
    ("svm --loss hinge", TWO, {"loss": "squared-hinge"}),
    ("svm", THREE, {"c": "2", "multiclass": "crammer-singer"}),
    ("svm --multiclass crammer-singer", THREE, {"c": "2", "multiclass": "ovr"}),
    ("svm --multiclass crammer-singer", TINY, {"c": "2"}),
    ("svm --multiclass crammer-singer --epochs 20 --gap 1e-9", TINY, {"c": "2"}),
    ("svm --multiclass crammer-singer", TWO, {"c": "2", "multiclass": "ovr"}),
    ("logistic --multiclass ovr", THREE, {"c": "2"}),
    ("least-squares", TWO, {"l2": "1", "class-weight": "balanced"}),
    ("least-squares --l2 2", THREE, {"l2": "0"}),
    ("fisher", TWO, {"threshold": "prior", "shrinkage": "0.5"}),
    ("lda", THREE, {"priors": "uniform", "shrinkage": "0.5"}),
    ("multinomial-nb", TWO, {"alpha": "2", "priors": "uniform"}),
    ("bernoulli-nb --binarize 1", THREE, {"alpha": "2", "binarize": "0", "priors": "uniform"}),
    ("shared-variance-nb", THREE, {"priors": "uniform", "var-smoothing": "0.1"}),
    ("least-squares --class-weight p=3,q=0.5", THREE, {"class-weight": "p=3,q=0.6"}),
    ("lda --priors p=0.2,q=0.5,r=0.3", THREE, {"priors": "p=0.2,q=0.4,r=0.4"}),
    ("multinomial-nb --priors p=0.2,q=0.5,r=0.3", THREE, {"priors": "data"}),
    ("bernoulli-nb --priors p=0.2,q=0.5,r=0.3", THREE, {"priors": "p=0.5,q=0.2,r=0.3"}),
    ("shared-variance-nb --priors p=0.2,q=0.5,r=0.3", THREE, {"priors": "uniform"}),
    ("logistic --class-weight p=3,q=0.5", THREE, {"class-weight": "none"}),
]

def unpack(raw):
    """Metadata and tensors of a model."""
    size, = struct.unpack_from("<Q", raw)
    header, data = json.loads(raw[8:8 + size]), raw[8 + size:]
    metadata = json.loads(header.pop("__metadata__")["linsep"])
    tensors = {name: (t["dtype"], t["shape"], data[slice(*t["data_offsets"])]) for name, t in header.items()}
    del tensors["sha256"]
    return metadata, tensors

class Model:
    def __init__(self, raw):
        self.metadata, self.tensors = unpack(raw)
    def text(self, name): return json.loads(self.tensors[name][2])
    def put(self, name, value):
        raw = json.dumps(value, ensure_ascii=False).encode()
        self.tensors[name] = "U8", [len(raw)], raw
    def floats(self, name):
        return list(struct.unpack(f"<{len(self.tensors[name][2]) // 8}d", self.tensors[name][2]))
    def put_floats(self, name, numbers):
        self.tensors[name] = (*self.tensors[name][:2], struct.pack(f"<{len(numbers)}d", *numbers))
    def claims(self, change):
        certificate = self.text("certificate")
        for claim in certificate["claims"]:
            change(claim)
        self.put("certificate", certificate)

def changes(parameters, model):
    """(name, function that changes the model); every one makes a claim false or malformed."""
    weights = "weights" if "weights" in model.tensors else "values"
    kinds = {claim["claim"] for claim in model.text("certificate")["claims"]}
    yield "weights of 0", lambda m: (m.put_floats(weights, [0.0] * len(m.floats(weights))), m.put_floats("bias", [0.0] * len(m.floats("bias"))))
    yield "planes turned over", lambda m: [m.put_floats(name, [-x for x in m.floats(name)]) for name in (weights, "bias")]
    # Another weight may separate as well; it solves nothing else.
    for k in range(len(model.floats(weights)) if kinds & {"optimal", "stationary", "counts"} else 0):
        yield f"weight {k} turned far", lambda m: m.put_floats(weights, [-1e4 - x if j == k else x for j, x in enumerate(m.floats(weights))])
    yield "classes swapped", lambda m: m.put("classes", m.text("classes")[::-1])
    if len(model.text("classes")) > 2:
        yield "classes rotated", lambda m: m.put("classes", m.text("classes")[1:] + m.text("classes")[:1])
    yield "another class", lambda m: m.put("classes", [*m.text("classes")[:-1], "zz"])
    yield "the label is a feature", lambda m: m.put("input", m.text("input") | {"label": {"position": 0, "name": "x"}})
    for rule in {"vote", "rest-last"} - {model.metadata["rule"]}:
        yield f"rule {rule}", lambda m: m.metadata.update(rule=rule)
    yield "a basis", lambda m: m.put("input", m.text("input") | {"basis": "poly:2"})
    yield "another digest", lambda m: m.metadata["data"].update(sha256="0" * 64)
    if kinds & {"optimal", "stationary", "counts"}:
        yield "another learner", lambda m: m.metadata.update(learner="perceptron", parameters={})
        for name, value in parameters.items():
            yield f"{name} {value}", lambda m: m.metadata["parameters"].update({name: value})
    if "optimal" in kinds:
        for field, change in {"primal": 0.99, "bound": 1.01, "gap": 0.5, "radius": 0.5}.items():
            def number(claim):
                if claim["claim"] == "optimal" and claim["optimality"].get(field):
                    claim["optimality"][field] *= change
            if field != "radius" or any("radius" in c.get("optimality", {}) for c in model.text("certificate")["claims"]):
                yield f"{field} times {change}", lambda m: m.claims(number)
        for field, value in {"c": 7.0, "l2": 0.125, "intercept": "none", "loss": "logistic", "scale": [1.0, 2.0]}.items():
            def objective(claim):
                if claim["claim"] == "optimal" and claim["optimality"]["objective"].get(field) != value:
                    claim["optimality"]["objective"][field] = value
            if any(c["optimality"]["objective"].get(field) != value for c in model.text("certificate")["claims"]):
                yield f"objective {field}", lambda m: m.claims(objective)
    corrections = [c for c in model.text("certificate")["claims"] if c.get("optimality", {}).get("dual", {}).get("correction")]
    for number in range(3 if corrections else 0):
        def correction(claim):
            rows = claim["optimality"]["dual"]["correction"]
            claim["optimality"]["dual"]["correction"] = [rows[1:], rows + [rows[-1] + 100], rows[::-1]][number]
        yield f"correction rows {number}", lambda m: m.claims(correction)
    if corrections:
        yield "no correction", lambda m: m.claims(lambda claim: claim["optimality"]["dual"].pop("correction"))
    moves = [c for c in model.text("certificate")["claims"] if c.get("optimality", {}).get("dual", {}).get("moves")]
    for number in range(5 if moves else 0):
        def move(claim):
            m = claim["optimality"]["dual"]["moves"]
            row, to, other = m[0]
            claim["optimality"]["dual"]["moves"] = [m[1:], m + [[m[-1][0] + 10**6, 0, 1]], m[::-1], [[row, to, to]] + m[1:],
                                                    [[row, to, 10**6]] + m[1:]][number]
        yield f"moves {number}", lambda m: m.claims(move)
    if moves:
        yield "no moves", lambda m: m.claims(lambda claim: claim["optimality"]["dual"].pop("moves"))
    if model.text("input").get("binarize") is not None:
        yield "another threshold", lambda m: m.put("input", m.text("input") | {"binarize": 2.5})
    if "geometric-margin" in kinds:
        def alone(m):
            certificate = m.text("certificate")
            certificate["claims"] = [c for c in certificate["claims"] if c["claim"] != "separable"]
            m.put("certificate", certificate)
        yield "a margin without its plane", alone

def nearly(field, at):
    """A change of one number of an objective so small that a wider gap holds for the other objective."""
    def change(claim):
        if claim["claim"] != "optimal":
            return
        stated, objective = claim["optimality"], claim["optimality"]["objective"]
        part = objective[field][at]
        if field == "limits":
            end = "least" if part.get("least") is not None else "most"
            part[end] += -1e-9 if end == "least" else 1e-9
        elif field == "scale":
            objective[field][at] *= 1 + 1e-9
        else:
            part[1] *= 1 + 1e-9
        stated["primal"], stated["bound"] = stated["primal"] * (1 + 1e-6), stated["bound"] * (1 - 1e-6)
        stated["gap"] = (stated["primal"] - stated["bound"]) / stated["bound"] * (1 + 1e-9)
        if stated.get("radius"):
            stated["radius"] = math.sqrt(2 * (stated["primal"] - stated["bound"]) / objective["l2"]) * (1 + 1e-9)
        stated.pop("bias", None)
    return change

@unittest.skipUnless(LINSEP, "needs LINSEP")
class Binding(unittest.TestCase):
    def codes(self, raw, data):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, "m.linsep"), pathlib.Path(folder, "d.csv")]
            paths[0].write_bytes(raw)
            paths[1].write_text(data)
            with contextlib.redirect_stdout(io.StringIO()):
                here = checker.main([str(path) for path in paths])
            return here, subprocess.run([LINSEP, "verify", *paths], capture_output=True).returncode

    def trained(self, flags, data):
        with tempfile.TemporaryDirectory() as folder:
            model, table = pathlib.Path(folder, "m.linsep"), pathlib.Path(folder, "d.csv")
            table.write_text(data)
            trained = subprocess.run([LINSEP, "train", table, "-o", model, "--learner", *flags.split()],
                                     capture_output=True, text=True)
            self.assertIn(trained.returncode, (0, 5), f"{flags}: {trained.stderr}")
            return Model(model.read_bytes())

    def test_every_number_of_an_objective_is_bound(self):
        """Every changed file is true of another objective than that of its parameters, as its acceptance shows
        where the numbers are not compared."""
        fields = set()
        for flags, data, parameters in NUMBERS:
            whole = self.trained(flags, data)
            self.assertEqual(self.codes(pack(whole.metadata, whole.tensors), data), (0, 0), flags)
            stated = whole.text("certificate")["claims"][-1]["optimality"]["objective"]
            found = {name: value for name, value in parameters.items() if whole.metadata["parameters"].get(name) != value}
            self.assertEqual(found, parameters, flags)
            changed = [(f"{name} {value}", lambda m, name=name, value=value: m.metadata["parameters"].update({name: value}))
                       for name, value in parameters.items()]
            for field in stated.keys() & {"class-weights", "scale", "limits"}:
                for at in range(len(stated[field])):
                    changed.append((f"{field} {at}", lambda m, field=field, at=at: m.claims(nearly(field, at))))
                    fields.add(field)
            for name, change in changed:
                with self.subTest(f"{flags}: {name}"):
                    model = copy.deepcopy(whole)
                    change(model)
                    raw = pack(model.metadata, model.tensors)
                    self.assertEqual(self.codes(raw, data), (1, 1))
                    patch = unittest.mock.patch.object
                    with patch(checker.Settled, "check"), patch(checker, "beside", return_value={}):
                        self.assertEqual(self.codes(raw, data)[0], 0)
        self.assertEqual(fields, {"class-weights", "scale", "limits"})

    def test_every_number_of_equations_and_counts_is_bound(self):
        """By so little that the answer stays near enough: only the parameters tell."""
        count = 0
        for flags, data in FITTED:
            whole = self.trained(flags, data)
            claim, = whole.text("certificate")["claims"]
            body = "equations" if claim["claim"] == "stationary" else "statistics"
            for field in [k for k, x in claim[body].items() if isinstance(x, float)]:
                with self.subTest(f"{flags}: {field}"):
                    model = copy.deepcopy(whole)
                    model.claims(lambda claim: claim[body].update({field: claim[body][field] * (1 + 1e-11)}))
                    raw = pack(model.metadata, model.tensors)
                    self.assertEqual(self.codes(raw, data), (1, 1))
                    with unittest.mock.patch.object(checker, "beside", return_value={}):
                        self.assertEqual(self.codes(raw, data)[0], 0)
                    count += 1
        self.assertEqual(count, 8)

    def test_weights_of_rows_are_bound(self):
        """They are not in the digest, but class weights and scales are measured with them."""
        flags, _, _ = NUMBERS[0]
        whole = self.trained(flags, WEIGHED)
        other = WEIGHED.replace("0,1,r,0.5", "0,1,r,0.500001")
        self.assertNotEqual(other, WEIGHED)
        self.assertEqual(self.codes(pack(whole.metadata, whole.tensors), other), (1, 1))

    def test_rows_of_a_pair_are_measured_alone(self):
        rows = [{0: 1.0}, {0: 3.0}, {0: 100.0}, {0: 4.0}]
        labels, parts = ["p", "q", "r", "p"], [1, 1, 1, 0.5]
        certificate = {"bias": True, "reading": {"default": "decimal", "binary64": []}}
        judge = checker.Checker(certificate, labels, parts, rows, 1)
        given = {"lower": "none", "upper": "none", "scale": "maxabs", "class-weight": "balanced"}
        def code(scheme, scale, weights=()):
            objective = {"scale": [scale]} | ({"class-weights": weights} if weights else {})
            claim = {"scheme": scheme, "positive": ["q"], "negative": ["p"] + ["r"] * (scheme != "pair"),
                     "optimality": {"objective": objective}}
            try:
                checker.Settled(given, {}, claim, judge, rows, []).check()
            except checker.Refusal as refusal:
                return refusal.args[0]
            return 0
        self.assertEqual([code("pair", 4), code("pair", 100), code("rest", 4), code("rest", 100)], [0, 1, 1, 0])
        # 2.5 rows count, 1.5 of p and 1 of q, in data of three classes.
        weights = [["p", 2.5 / 4.5], ["q", 2.5 / 3], ["r", 1.0]]
        self.assertEqual(code("pair", 4, weights), 0)
        self.assertEqual(code("rest", 100, weights), 1)
        self.assertEqual(code("rest", 100, [["p", 3.5 / 4.5], ["q", 3.5 / 3], ["r", 3.5 / 3]]), 0)
        self.assertEqual(code("pair", 4, weights[:2]), 1)

    def test_every_part_of_a_model_is_bound(self):
        count = 0
        for flags, data, parameters in MODELS:
            whole = self.trained(flags, data)
            kinds = {claim["claim"] for claim in whole.text("certificate")["claims"]}
            here = int(bool(kinds & set(getattr(checker, "NOT_HERE", ()))))
            self.assertEqual(self.codes(pack(whole.metadata, whole.tensors), data), (here, 0), flags)
            for name, change in changes(parameters, whole):
                with self.subTest(f"{flags}: {name}"):
                    changed = copy.deepcopy(whole)
                    change(changed)
                    codes = self.codes(pack(changed.metadata, changed.tensors), data)
                    self.assertTrue(all(code in (1, 3, 4) for code in codes), codes)
                    count += 1
        self.assertGreater(count, 200)

if __name__ == "__main__":
    unittest.main()
