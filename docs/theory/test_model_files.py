"""Tests of model files of version 2 by programs that share no code with linsep.

    python3 docs/theory/test_model_files.py
    LINSEP=target/release/linsep python3 docs/theory/test_model_files.py

check_certificate.py reads them with nothing but Python. Where the package `safetensors` is installed, it has
to load the same weights; without it that test is skipped, and says so.
"""
import copy, hashlib, json, math, os, pathlib, struct, subprocess, sys, tempfile, unittest, unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import check_certificate as checker  # noqa: E402
from test_check_certificate import FOLDER, LINSEP, ROOT, cases, part_of, run  # noqa: E402

try:
    import safetensors.numpy
except ImportError:
    safetensors = None
    if os.environ.get("LINSEP_NEEDS_SAFETENSORS"):
        raise

MODELS = ROOT / "testdata" / "models"

def pack(metadata, tensors):
    """A safetensors file of tensors {name: (dtype, shape, bytes)} with its checksum."""
    header, data = {"__metadata__": {"linsep": json.dumps(metadata)}}, b""
    for name, (dtype, shape, raw) in {**tensors, "sha256": ("U8", [32], bytes(32))}.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    raw = struct.pack("<Q", len(text)) + text + data
    return raw[:-32] + hashlib.sha256(raw).digest()

def floats(shape, numbers): return "F64", shape, struct.pack(f"<{len(numbers)}d", *numbers)
def words(value): return (lambda raw: ("U8", [len(raw)], raw))(json.dumps(value).encode())

def model_of(case):
    """A case of nearly best planes as metadata and tensors, the claims referring to the planes."""
    certificate, planes = case.certificate, []
    part = part_of(certificate["claims"])
    source = certificate.pop("input", None) or {}
    for claim in certificate["claims"]:
        planes += claim.get("planes") or [claim["plane"]]
        optimality = claim["optimality"]
        optimality["gap"] = (optimality["primal"] - optimality["bound"]) / optimality["bound"] * (1 + 1e-12)
        claim.update({"planes": "model"} if "planes" in claim else {"plane": len(planes) - 1})
    width = max([len(p.get("weights") or []) for p in planes] + [j + 1 for p in planes for j, _ in p.get("sparse") or []])
    rows = [p["weights"] if p.get("weights") else [dict(map(tuple, p["sparse"])).get(j, 0.0) for j in range(width)]
            for p in planes]
    certificate["format"] = "linsep.certificate/2"
    source = source or {"features": width}
    metadata = {"format": "linsep.model/2", "data": certificate["data"], "rule": part["rule"]}
    tensors = {"weights": floats([len(rows), width], [x for row in rows for x in row]),
               "bias": floats([len(rows)], [p.get("bias", 0.0) for p in planes]),
               "classes": words(part["classes"]), "input": words(source), "certificate": words(certificate)}
    return metadata, tensors

class ModelFiles(unittest.TestCase):
    def code(self, case, raw):
        changed = case.copy("a model")
        changed.certificate = raw
        # These models have no parameters; what parameters bind is tested in test_model_binding.py.
        with unittest.mock.patch.object(checker, "beside", return_value={}):
            return run(changed, only_here=True)[0]

    def nearly_best(self):
        for case in cases(FOLDER / "optimal"):
            # Without its input map a certificate leaves the columns to the reader; a model never does.
            if case.certificate["bias"] and case.certificate.get("basis") is None:
                yield case, *model_of(case.copy())

    def test_claims_that_refer_to_planes_are_checked_with_them(self):
        count = 0
        for case, metadata, tensors in self.nearly_best():
            self.assertEqual(self.code(case, pack(metadata, tensors)), 0, case.name)
            dtype, shape, raw = tensors["weights"]
            moved = struct.pack("<d", 1e3) + raw[8:]
            other = {**tensors, "weights": (dtype, shape, moved)}
            self.assertEqual(self.code(case, pack(metadata, other)), 1, f"{case.name}: other weights")
            sparse = struct.unpack(f"<{len(raw) // 8}d", raw)
            rows = [sparse[k * shape[1]:(k + 1) * shape[1]] for k in range(shape[0])]
            entries = [[(j, w) for j, w in enumerate(row) if w] for row in rows]
            starts = [sum(map(len, entries[:k])) for k in range(len(rows) + 1)]
            flat = [entry for row in entries for entry in row]
            listed = {name: tensor for name, tensor in tensors.items() if name != "weights"} | {
                "indptr": ("I64", [len(starts)], struct.pack(f"<{len(starts)}q", *starts)),
                "indices": ("I64", [len(flat)], struct.pack(f"<{len(flat)}q", *[j for j, _ in flat])),
                "values": floats([len(flat)], [w for _, w in flat])}
            self.assertEqual(self.code(case, pack(metadata, listed)), 0, f"{case.name}: sparse")
            count += 1
        self.assertGreater(count, 5)

    def test_what_is_malformed_is_refused(self):
        case, metadata, tensors = next(iter(self.nearly_best()))
        certificate = json.loads(tensors["certificate"][2])
        claim = certificate["claims"][0]
        field = "plane" if "plane" in claim else "planes"
        for wrong in (7, -1, "model" if field == "plane" else 0, {}, [], None, "other", 0.5):
            changed = copy.deepcopy(certificate)
            changed["claims"][0][field] = wrong
            raw = pack(metadata, {**tensors, "certificate": words(changed)})
            self.assertIn(self.code(case, raw), (1, 4), f"{field} {wrong!r}")
        turned = json.loads(tensors["classes"][2])[::-1]
        self.assertIn(self.code(case, pack(metadata, {**tensors, "classes": words(turned)})), (1, 4))
        for version in ("linsep.model/1", "linsep.model/3", "linsep.certificate/2"):
            self.assertEqual(self.code(case, pack({**metadata, "format": version}, tensors)), 4, version)
        for name in tensors:
            left = {key: tensor for key, tensor in tensors.items() if key != name}
            self.assertEqual(self.code(case, pack(metadata, left)), 4, f"without {name}")
            dtype, shape, raw = tensors[name]
            self.assertEqual(self.code(case, pack(metadata, {**tensors, name: ("F32", shape, raw)})), 4, name)
            self.assertEqual(self.code(case, pack(metadata, {**tensors, name: (dtype, [*shape, 2], raw)})), 4, name)
        for wrong in (math.nan, math.inf):
            dtype, shape, raw = tensors["weights"]
            other = {**tensors, "weights": (dtype, shape, struct.pack("<d", wrong) + raw[8:])}
            self.assertEqual(self.code(case, pack(metadata, other)), 4, wrong)

    def test_every_byte_counts(self):
        case, metadata, tensors = next(iter(self.nearly_best()))
        whole = pack(metadata, tensors)
        for at in range(len(whole)):
            changed = bytearray(whole)
            changed[at] ^= 1 << at % 8
            self.assertEqual(self.code(case, bytes(changed)), 4, f"byte {at}")
        for length in range(0, len(whole), 7):
            self.assertEqual(self.code(case, whole[:length]), 4, f"cut at {length}")
        self.assertEqual(self.code(case, whole + b"x"), 4)

    @unittest.skipUnless(LINSEP, "needs LINSEP")
    def test_models_of_linsep_are_accepted(self):
        """The claims of both versions hold; a plane that is moved behind the checksum's back is found."""
        for name, flags in [("iris", "--positive setosa"), ("iris", "--learner svm --gap 1e-3"), ("sonar", ""),
                            ("iris", "--multiclass ovo --positive setosa"),
                            ("iris", "--learner logistic --multiclass softmax --gap 1e-3")]:
            data = ROOT / "examples" / f"{name}.csv"
            with self.subTest(flags), tempfile.TemporaryDirectory() as folder:
                model = pathlib.Path(folder, "m.linsep")
                subprocess.run([LINSEP, "train", data, "-o", model, *flags.split()], capture_output=True)
                verified = subprocess.run([LINSEP, "verify", model, data], capture_output=True).returncode
                with open(os.devnull, "w") as nowhere:
                    old, sys.stdout = sys.stdout, nowhere
                    try:
                        code = checker.main([str(model), str(data)])
                    finally:
                        sys.stdout = old
                self.assertEqual(code, verified, flags)

    @unittest.skipUnless(safetensors, "SKIPPED: the package safetensors is not installed, so nothing is shown of it")
    def test_the_package_safetensors_loads_the_weights(self):
        count = 0
        for path in sorted((MODELS / "v2").glob("*.linsep")):
            loaded = safetensors.numpy.load_file(path)
            expected = json.loads((MODELS / path.name).read_text())["planes"]
            self.assertEqual(list(loaded["bias"]), [plane["bias"] for plane in expected], path.name)
            for k, plane in enumerate(expected):
                if "weights" in loaded:
                    self.assertEqual(list(loaded["weights"][k]), plane["weights"], path.name)
                else:
                    part = slice(loaded["indptr"][k], loaded["indptr"][k + 1])
                    found = list(map(list, zip(loaded["indices"][part], loaded["values"][part])))
                    self.assertEqual(found, plane["sparse"], path.name)
            classes = json.loads(bytes(loaded["classes"]))
            self.assertEqual(classes, json.loads((MODELS / path.name).read_text())["classes"], path.name)
            with safetensors.safe_open(path, "numpy") as file:
                self.assertEqual(json.loads(file.metadata()["linsep"])["format"], "linsep.model/2")
            count += 1
        self.assertGreaterEqual(count, 8)

if __name__ == "__main__":
    unittest.main()
