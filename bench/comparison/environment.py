"""What the comparison needs besides Python packages: small programs that it compiles, Debian's tools,
linfa. What cannot be had is named in `missing` with the reason; nothing is dropped in silence."""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
NATIVE = BENCH / "native"
LIBLINEAR = "2.50.0"
# Threads of OpenMP wait for more work so long before they sleep: 0.2 seconds by default.
SPINNING_SECONDS = 0.3
DEBIAN_PACKAGES = ("liblinear-tools", "liblinear4", "libblas3", "libgfortran5", "libquadmath0")
PACKAGES = {
    "scikit-learn": "sklearn", "liblinear-official": "liblinear", "vowpalwabbit": "vowpalwabbit",
    "snapml": "snapml", "scikit-learn-intelex": "sklearnex", "polars": "polars", "celer": "celer",
    "skglm": "skglm", "quadprog": "quadprog", "highspy": "highspy",
}  # fmt: skip


class Environment:
    def __init__(self, folder):
        self.folder = folder
        self.python = sys.executable
        self.missing = {}
        self.versions = {"python": sys.version.split()[0]}
        for package, module in PACKAGES.items():
            if importlib.util.find_spec(module):
                self.versions[package] = importlib.metadata.version(package)
            else:
                self.missing[package] = "pip could not install it"
        for package in ("numpy", "scipy"):
            self.versions[package] = importlib.metadata.version(package)
        # Without these two nothing can be measured or judged.
        self.measured = self.compile("measured", "-O2")
        self.warmer = self.compile("warm", "-O2")
        self.crammer_singer = self.compile("crammer_singer", "-O3", "-march=native")
        self.liblinear = self.obtain("LIBLINEAR library", self.compile_liblinear)
        self.debian = self.obtain("liblinear-tools", self.fetch_debian)
        self.phases = self.obtain("phases of liblinear-train", self.compile_phases)
        self.linfa = self.obtain("linfa", self.build_linfa)

    def obtain(self, name, make):
        try:
            return make()
        except (OSError, subprocess.CalledProcessError, tarfile.TarError) as error:
            text = getattr(error, "stderr", None) or str(error)
            self.missing[name] = text.strip().splitlines()[-1] if text.strip() else type(error).__name__
            return None

    def has(self, package):
        return package not in self.missing

    def warm(self, mib):
        """Makes so much memory ready, see native/warm.c, once threads of the run before have gone to sleep."""
        time.sleep(SPINNING_SECONDS)
        call(self.warmer, mib)

    def target(self, name, *sources):
        """A file of the environment, and whether it is newer than its sources."""
        path = self.folder / name
        fresh = path.exists() and all(
            path.stat().st_mtime >= source.stat().st_mtime for source in sources
        )
        return path, fresh

    def compile(self, name, *flags):
        source = NATIVE / f"{name}.c"
        path, fresh = self.target(name, source)
        if not fresh:
            call("gcc", "-Wall", *flags, source, "-o", path, "-lm")
        return path

    def compile_phases(self):
        source = NATIVE / "phases.c"
        path, fresh = self.target("phases.so", source)
        if not fresh:
            call("gcc", "-O2", "-Wall", "-shared", "-fPIC", source, "-o", path, "-ldl")
        return path

    def compile_liblinear(self):
        """The library's source comes from its Python package; -O3 is what its own Makefile uses."""
        source = NATIVE / "liblinear_session.cpp"
        path, fresh = self.target("liblinear_session", source)
        if fresh:
            return path
        unpacked = self.folder / f"liblinear_official-{LIBLINEAR}"
        if not unpacked.exists():
            call(
                self.python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
                "--dest", self.folder, f"liblinear-official=={LIBLINEAR}",
            )  # fmt: skip
            with tarfile.open(self.folder / f"{unpacked.name}.tar.gz") as archive:
                archive.extractall(self.folder, filter="data")
        code = unpacked / "cpp-source"
        objects = []
        for blas in sorted((code / "blas").glob("*.c")):
            objects.append(self.folder / f"{blas.stem}.o")
            call("gcc", "-O3", "-w", "-c", blas, "-o", objects[-1])
        call("g++", "-O3", "-w", "-I", code, source, code / "linear.cpp", code / "newton.cpp", *objects, "-o", path)
        return path

    def fetch_debian(self):
        """The tools and their libraries, unpacked into the environment: nothing is installed."""
        root = self.folder / "debian"
        if not root.exists():
            packages = self.folder / "debian-packages"
            packages.mkdir(exist_ok=True)
            fetch = ["apt-get", "download", "-qq", *DEBIAN_PACKAGES]
            try:
                call(*fetch, folder=packages)
            except subprocess.CalledProcessError:
                call("apt-get", "update", "-qq")
                call(*fetch, folder=packages)
            partial = self.folder / "debian.partial"
            shutil.rmtree(partial, ignore_errors=True)
            for package in sorted(packages.glob("*.deb")):
                call("dpkg", "-x", package, partial)
            partial.rename(root)
        names = sorted((self.folder / "debian-packages").glob("liblinear-tools_*"))
        self.versions["liblinear-tools"] = names[0].name.split("_")[1] if names else "unknown"
        return root

    def debian_environment(self, phases=None):
        """The variables under which Debian's tools find their libraries; with `phases`, a file to which
        liblinear-train's phases are written."""
        libraries = [p for p in (self.debian / "usr/lib").glob("*-linux-gnu*")]
        libraries += [p / "blas" for p in libraries]
        variables = os.environ | {"LD_LIBRARY_PATH": ":".join(str(p) for p in libraries)}
        if phases and self.phases:
            variables |= {"LD_PRELOAD": str(self.phases), "LINSEP_PHASES": str(phases)}
        return variables

    def build_linfa(self):
        target = self.folder / "linfa-target"
        path = target / "release" / "linfa-session"
        source = BENCH / "linfa" / "src" / "main.rs"
        if not (path.exists() and path.stat().st_mtime >= source.stat().st_mtime):
            manifest = BENCH / "linfa" / "Cargo.toml"
            call("cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", manifest,
                 "--target-dir", target)  # fmt: skip
        self.versions["linfa"] = "0.8.1"
        return path


def call(*words, folder=None):
    subprocess.run(
        [str(word) for word in words], cwd=folder, check=True, text=True, stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
