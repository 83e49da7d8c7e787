"""Files as spreadsheets, R, pandas and people write them: what linsep trains on, both checkers read alike.

    LINSEP=target/release/linsep python3 docs/theory/test_readings.py
"""
import contextlib, gzip, io, pathlib, subprocess, sys, tempfile, unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import check_certificate as checker  # noqa: E402
from test_check_certificate import LINSEP, ROOT  # noqa: E402

FILES = ROOT / "testdata" / "torture"
MOST = 12  # digits of a file that are changed

# name, text, flags; a name of .gz is packed
MADE = [
    ("comma-labels.csv", "x;y;label\n0,5;1;1,0\n1,5;2;2,0\n2,5;2;1\n", ""),
    ("comma-thousandths.csv", "x;label\n1,234;a\n0,25;a\n2,001;b\n3,002;b\n", ""),
    ("comma-weights.csv", "x;w;label\n0,5;1;a\n1,5;2;b\n2;3;b\n", "--weight w"),
    ("names-twice.csv", "a,a,label\n1,2,x\n3,1,y\n", ""),
    ("gap-in-header-row.csv", "NA,2,x\n3,4,y\n5,9,x\n7,6,y\n", "--missing zero"),
    ("last-row-left-out.csv", "x,y,label\n1,2,a\n2,4,b\nNA,7,b\n", "--missing drop-row"),
    ("sep-tab.csv", "\nsep=\t\r\na\tb\tlabel\r\n1,5\t2\tx\r\n2,5\t0\ty\r\n", ""),
    ("clock.csv", "x,at,label\n1,7:30,a\n4,8:30,b\n", "--drop at"),
    ("quoted-blanks.txt", '"name of"  x\tlabel\n"a b" 1\tu\n"c  d"   2 v\n  "e" 3 u\n', "--drop #1"),
    ("r-index-commas.txt", '"x";"k"\n"1";1,5;"a"\n"2";2,5;"b"\n"3";0,5;"a"\n', ""),
    ("left-out.svm", "1 1:2 3:4 5:1\n0 2:1 3:1\n0 5:4\n", "--drop #3"),
    ("first-left-out.svm", "1 1:2 3:4 5:1\n0 2:1 3:1\n0 5:4\n", "--drop #1"),
    ("chosen.svm", "1 0:2 3:4 5:1\n0 2:1 3:1\n0 5:4\n", "--features #1,#3,#6"),
    ("objects.ndjson", '{"a": 0.10, "on": true, "label": "x"}\n\n'
                       '{"label":"y","a":1e1,"on":false}\n{"on":true,"label":"x","a":2}\n', ""),
    ("gap.ndjson", '{"a":1,"b":2,"label":"x"}\n{"a":null,"b":3,"label":"y"}\n{"b":5,"label":"y"}\n', "--missing mean"),
    ("objects.ndjson.gz", '{"x":1.5,"label":"a"}\n{"x":2.5,"label":"b"}\n', ""),
    ("table.csv.gz", "x;label\n1,5;a\n2,5;b\n", ""),
    ("levels.txt", "size colour label\n1 red a\n2 blue b\n3 red b\n4 red a\n", ""),
]

def decoded(raw):
    raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    code = "utf-16-le" if raw[:2] == b"\xff\xfe" else "utf-16-be" if raw[:2] == b"\xfe\xff" else "utf-8"
    return raw.decode(code), code

@unittest.skipUnless(LINSEP, "needs LINSEP")
class Readings(unittest.TestCase):
    def codes(self, model, data):
        with contextlib.redirect_stdout(io.StringIO()) as words:
            here = checker.main([str(model), str(data)])
        there = subprocess.run([LINSEP, "verify", model, data], capture_output=True, text=True)
        return here, there.returncode, f"{words.getvalue()}{there.stdout}{there.stderr}"

    def check(self, name, raw, flags=""):
        """Whether a model comes of the file. Then both checkers accept it, and they agree on changed digits, of which
        one at least is another value."""
        with tempfile.TemporaryDirectory() as folder:
            model, data = pathlib.Path(folder, "m.linsep"), pathlib.Path(folder, name)
            data.write_bytes(raw)
            trained = subprocess.run([LINSEP, "train", data, "-o", model, *flags.split()], capture_output=True)
            if trained.returncode:
                return False
            self.assertEqual(self.codes(model, data)[:2], (0, 0), self.codes(model, data)[2])
            words, code = decoded(raw)
            refused = 0
            for at in [at for at, c in enumerate(words) if c in "0123456789"][-MOST:]:
                changed = (words[:at] + str((int(words[at]) + 1) % 10) + words[at + 1:]).encode(code)
                data.write_bytes(gzip.compress(changed) if name.endswith(".gz") else changed)
                here, there, said = self.codes(model, data)
                self.assertEqual(here, there, f"{name}: the digit at {at}: {said}")
                refused += here == 1
            self.assertGreater(refused, 0, name)
        return True

    def test_files_of_other_programs(self):
        read = 0
        for path in sorted(FILES.iterdir()):
            with self.subTest(path.name):
                read += path.name != "expected.txt" and self.check(path.name, path.read_bytes())
        self.assertGreaterEqual(read, 38)

    def test_made_files(self):
        for name, words, flags in MADE:
            with self.subTest(name):
                raw = words.encode()
                self.assertTrue(self.check(name, gzip.compress(raw) if name.endswith(".gz") else raw, flags))

    def test_both_orders_of_utf_16(self):
        for name, words in [("t.csv", "größe;label\n1,5;ä\n2,5;𝄞\n"),
                            ("t.ndjson", '{"größe":1.5,"label":"ä"}\n{"größe":2.5,"label":"𝄞"}\n'),
                            ("t.svm", "ä 1:1.5\n𝄞 1:2.5\n"), ("t.txt", "größe  label\n1.5  ä\n2.5  𝄞\n")]:
            for code in ("utf-16-le", "utf-16-be"):
                with self.subTest(f"{name} {code}"):
                    self.assertTrue(self.check(name, ("\ufeff" + words).encode(code)))

if __name__ == "__main__":
    unittest.main()
