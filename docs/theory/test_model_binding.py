"""A claim is about the model that it stands beside: every part of a model that a claim is about is changed, the
file is signed anew, and both checkers have to refuse it.

    LINSEP=target/release/linsep python3 docs/theory/test_model_binding.py
"""
import contextlib, copy, io, json, pathlib, struct, subprocess, sys, tempfile, unittest

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

    def test_every_part_of_a_model_is_bound(self):
        count = 0
        for flags, data, parameters in MODELS:
            with tempfile.TemporaryDirectory() as folder:
                model, table = pathlib.Path(folder, "m.linsep"), pathlib.Path(folder, "d.csv")
                table.write_text(data)
                trained = subprocess.run([LINSEP, "train", table, "-o", model, "--learner", *flags.split()],
                                         capture_output=True, text=True)
                self.assertIn(trained.returncode, (0, 5), f"{flags}: {trained.stderr}")
                raw = model.read_bytes()
            whole = Model(raw)
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
