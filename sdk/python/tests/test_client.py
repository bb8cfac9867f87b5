"""The client by itself: verdicts, guarded functions, and a doorward that is missing, killed, late or silent."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "src")]

from doorward import Doorward, NotInstalled, Refused, Verdict, find_program  # noqa: E402
from room import BROKEN, Room  # noqa: E402


class Check(unittest.TestCase):
    def test_each_verdict_arrives_and_is_on_record(self):
        with Room() as room:
            door = Doorward(program=room.program, cwd=room.project, ask=lambda *_: True)
            verdict = lambda command: door.check("bash", {"command": command}).verdict  # noqa: E731
            self.assertEqual(verdict("ls"), Verdict.APPROVE)
            self.assertEqual(verdict("git push"), Verdict.CONFIRM)
            self.assertEqual(verdict("rm -rf /"), Verdict.BLOCK)
            self.assertEqual(room.records("--kind", "decision").count('"git push"') >= 1, True)

    def test_without_a_person_a_question_is_a_refusal_that_waits(self):
        with Room() as room:
            judgement = Doorward(program=room.program, cwd=room.project).check("bash", {"command": "git push"})
            self.assertEqual(judgement.verdict, Verdict.BLOCK)
            self.assertIn("doorward approve", judgement.reason)
            self.assertFalse(judgement.unanswered)

    def test_a_broken_doorward_blocks(self):
        with Room() as room:
            for how in BROKEN:
                door = Doorward(program=room.broken(how), timeout=1, ask=lambda *_: True)
                judgement = door.check("bash", {"command": "ls"})
                self.assertEqual((judgement.verdict, judgement.unanswered), (Verdict.BLOCK, True), how)
                self.assertTrue(judgement.reason.startswith("Not run: "), how)
            for program in (room.base / "nowhere", "doorward", room.base):
                self.assertFalse(Doorward(program=program).check("bash", {"command": "ls"}).may_run, program)

    def test_what_cannot_be_said_in_json_blocks(self):
        with Room() as room:
            door = Doorward(program=room.program, cwd=room.project)
            deep: list = []
            for _ in range(100_000):
                deep = [deep]
            for value in (object(), float("nan"), deep, "\ud800"):
                self.assertFalse(door.check("bash", {"command": value}).may_run)

    def test_a_program_of_the_project_is_not_found(self):
        with Room() as room:
            planted = room.project / "doorward"
            planted.write_text("#!/bin/sh\n")
            planted.chmod(0o755)
            path, here = os.environ["PATH"], os.getcwd()
            os.environ["PATH"] = str(room.project)
            os.chdir(room.project)
            try:
                self.assertNotEqual(find_program(), str(planted))
            except NotInstalled:
                pass
            finally:
                os.environ["PATH"] = path
                os.chdir(here)


class Guard(unittest.TestCase):
    def guarded(self, door):
        ran = []

        @door.guard("bash", lambda command: {"command": command})
        def shell(command):
            ran.append(command)
            return "out"

        return shell, ran

    def test_only_what_may_run_runs_and_the_outcome_is_reported(self):
        with Room() as room:
            shell, ran = self.guarded(Doorward(program=room.program, cwd=room.project))
            self.assertEqual(shell("ls"), "out")
            for command in ("git push", "rm -rf /"):
                with self.assertRaises(Refused):
                    shell(command)
            self.assertEqual(ran, ["ls"])
            self.assertIn('"ran"', room.records("--kind", "outcome") + subprocess.run([str(room.program), "audit", "export"], capture_output=True, text=True).stdout)

    def test_only_true_is_a_yes(self):
        with Room() as room:
            for answer, runs in ((True, True), (False, False), ("yes", False), (1, False), (None, False)):
                shell, ran = self.guarded(Doorward(program=room.program, cwd=room.project, ask=lambda *_: answer))
                try:
                    shell("git push")
                except Refused:
                    pass
                self.assertEqual(bool(ran), runs, answer)
            # An asynchronous question in synchronous code must not count as truth.
            async def later(*_):
                return True

            shell, ran = self.guarded(Doorward(program=room.program, cwd=room.project, ask=later))
            with self.assertRaises(TypeError):
                shell("git push")
            self.assertEqual(ran, [])

    def test_asynchronous_functions_and_questions(self):
        with Room() as room:
            async def ask(*_):
                await asyncio.sleep(0)
                return True

            door = Doorward(program=room.program, cwd=room.project, ask=ask)
            ran = []

            @door.guard("bash")
            async def shell(command: str):
                ran.append(command)

            async def both():
                await shell("git push")
                with self.assertRaises(Refused):
                    await shell("rm -rf /")

            asyncio.run(both())
            self.assertEqual(ran, ["git push"])

    def test_arguments_that_change_while_they_are_judged_do_not_run(self):
        with Room() as room:
            given, ran = {"command": "git push"}, []

            def ask(*_):
                given["command"] = "rm -rf /"
                return True

            door = Doorward(program=room.program, cwd=room.project, ask=ask)

            @door.guard("bash", lambda call: call)
            def shell(call):
                ran.append(call)

            with self.assertRaises(Refused):
                shell(given)
            self.assertEqual(ran, [])

    def test_a_call_is_cancelled_before_it_runs(self):
        with Room() as room:
            door = Doorward(program=room.broken("late"), timeout=1)
            ran = []

            @door.guard("bash")
            async def shell(command: str):
                ran.append(command)

            async def cancel():
                task = asyncio.create_task(shell("ls"))
                await asyncio.sleep(0.1)
                task.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await task

            asyncio.run(cancel())
            self.assertEqual(ran, [])


class OverASocket(unittest.TestCase):
    def serving(self, room):
        path = room.base / "run/socket"
        server = subprocess.Popen([str(room.program), "serve", "--socket", str(path)], stdout=subprocess.PIPE)
        server.stdout.readline()
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close()))
        return server, path

    def test_many_calls_over_one_connection_each_get_their_own_answer(self):
        with Room() as room:
            server, path = self.serving(room)
            door = Doorward(socket=path, cwd=room.project)
            wrong = []

            def ask(number):
                command, verdict = (("ls", Verdict.APPROVE), ("rm -rf /", Verdict.BLOCK))[number % 2]
                if door.check("bash", {"command": command}).verdict is not verdict:
                    wrong.append(number)

            threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
            [thread.start() for thread in threads], [thread.join() for thread in threads]
            self.assertEqual(wrong, [])
            door.close()

    def test_a_server_that_is_killed_blocks_and_a_new_one_is_found(self):
        with Room() as room:
            server, path = self.serving(room)
            door = Doorward(socket=path, cwd=room.project)
            self.assertTrue(door.check("bash", {"command": "ls"}).may_run)
            server.kill(), server.wait()
            judgement = door.check("bash", {"command": "ls"})
            self.assertEqual((judgement.verdict, judgement.unanswered), (Verdict.BLOCK, True))
            self.serving(room)
            self.assertTrue(door.check("bash", {"command": "ls"}).may_run)
            door.close()

    def test_a_server_that_hangs_leaves_or_drips_blocks(self):
        with Room() as room:
            (room.base / "own").mkdir(mode=0o700)

            def drip(stream):
                for _ in range(50):
                    stream.sendall(b" ")
                    time.sleep(0.1)

            for number, behave in enumerate((lambda stream: time.sleep(2), lambda stream: None, drip, lambda stream: stream.sendall(b'{"verdict":"approve"'))):
                path = room.base / "own" / str(number)
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(str(path)), listener.listen()

                def serve(listener=listener, behave=behave):
                    stream, _ = listener.accept()
                    with stream:
                        stream.recv(65536)
                        try:
                            behave(stream)
                        except OSError:
                            pass

                threading.Thread(target=serve, daemon=True).start()
                started = time.monotonic()
                judgement = Doorward(socket=path, timeout=1).check("bash", {"command": "ls"})
                self.assertEqual((judgement.verdict, judgement.unanswered), (Verdict.BLOCK, True), number)
                self.assertLess(time.monotonic() - started, 3)
                listener.close()

    def test_an_answer_that_comes_too_late_is_not_taken_for_the_next(self):
        with Room() as room:
            (room.base / "own").mkdir(mode=0o700)
            path = room.base / "own/socket"
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(path)), listener.listen()

            def serve():
                for _ in range(2):
                    stream, _ = listener.accept()

                    def late(stream=stream):
                        with stream:
                            stream.recv(65536)
                            time.sleep(1.3)
                            try:
                                stream.sendall(b'{"verdict":"approve","reason":"late"}\n' * 2)
                            except OSError:
                                pass

                    threading.Thread(target=late, daemon=True).start()

            threading.Thread(target=serve, daemon=True).start()
            door = Doorward(socket=path, timeout=1)
            for _ in range(2):
                self.assertFalse(door.check("bash", {"command": "ls"}).may_run)
            door.close(), listener.close()

    def test_a_socket_in_a_directory_of_everybody_is_not_used(self):
        with Room() as room:
            server, path = self.serving(room)
            path.parent.chmod(0o777)
            judgement = Doorward(socket=path).check("bash", {"command": "ls"})
            self.assertTrue(judgement.unanswered)


if __name__ == "__main__":
    unittest.main()
