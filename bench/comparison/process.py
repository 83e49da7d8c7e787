"""Starting programs and measuring them: whole commands, and sessions that answer request by request."""

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass


class Failed(Exception):
    """A contender that did not do its job; the text says why."""


class TookTooLong(Failed):
    """A contender that was stopped by its time limit."""

    def __init__(self, limit):
        super().__init__(f"over {limit:.3g} s")
        self.limit = limit


@dataclass(frozen=True)
class Finished:
    seconds: float
    cpu: float
    peak_mib: float
    output: str


class Launcher:
    """Runs commands from start to end through native/measured.c: wall time and peak memory."""

    def __init__(self, measured, scratch):
        self.measured = measured
        self.report = scratch / "measured.json"

    def run(self, words, limit, good_exits=(0,), environment=None):
        words = [str(word) for word in (self.measured, self.report, *words)]
        self.report.unlink(missing_ok=True)
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            # A group of its own, so that the time limit ends the launcher and what it started.
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors, env=environment,
                start_new_session=True,
            )  # fmt: skip
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise TookTooLong(limit) from None
            out.seek(0)
            errors.seek(0)
            output, message = out.read().decode(), errors.read().decode().strip()
        if process.returncode != 0:
            raise Failed(message or "the launcher failed")
        report = json.loads(self.report.read_text())
        if report["exit"] not in good_exits:
            raise Failed(complaint(message) or f"exit code {report['exit']}")
        return Finished(report["seconds"], report["cpu"], report["peak_kib"] / 1024, output)


def complaint(message):
    """The line of what a program wrote to stderr that says why it failed. linsep with --json writes an
    object there, after its notes."""
    lines = message.splitlines()
    for line in lines:
        if line.startswith("{"):
            with contextlib.suppress(ValueError):
                return json.loads(line).get("message", line)
    errors = [line for line in lines if line.startswith("error")]
    return next(iter(errors + lines), "")


class Session:
    """A program that loads data once and then answers requests, a line of JSON for a line of words.

    The first line it writes tells how long loading took. A request that takes too long ends it.
    """

    def __init__(self, words, limit, environment=None):
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment,
        )
        self.unread = b""
        self.ready = self.answer(limit)

    def ask(self, *words, limit):
        request = " ".join(str(word) for word in words) + "\n"
        try:
            self.process.stdin.write(request.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has died; reading its answer says of what
        return self.answer(limit)

    def answer(self, limit):
        end = time.monotonic() + limit
        while b"\n" not in self.unread:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                self.close()
                raise TookTooLong(limit)
            piece = os.read(self.process.stdout.fileno(), 1 << 16)
            if not piece:
                self.process.wait()
                words = self.last_words()
                self.close()
                raise Failed(words)
            self.unread += piece
        line, _, self.unread = self.unread.partition(b"\n")
        answer = json.loads(line)
        if "error" in answer:
            raise Failed(answer["error"])
        return answer

    def last_words(self):
        self.errors.seek(0)
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"ended with exit code {self.process.returncode}"

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            with contextlib.suppress(BrokenPipeError):
                stream.close()
