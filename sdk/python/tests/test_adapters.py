"""The frameworks themselves, with a scripted model: what is approved runs, what is asked about takes a yes, and nothing runs unjudged.

`adapters.sh` installs the frameworks. Each test plays the same calls; what ran is read from the disk.
"""

import asyncio
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src"), str(HERE.parents[2] / "crates/doorward/tests/real_clients")]

from doorward import Doorward  # noqa: E402
from doorward.adapters import shell  # noqa: E402
from model import Model  # noqa: E402
from room import Room  # noqa: E402

ALLOWED, ASKED, BLOCKED = "echo a > allowed.txt", "sh tool.sh", "touch blocked.txt; rm -rf /nowhere/../../"
TOOLS = {"run_shell": shell("cmd")}


def run_in(project, cmd):
    # What a model would run; the blocked one never gets here, which is the point.
    assert "rm -rf" not in cmd, "a blocked call ran"
    return subprocess.run(["sh", "-c", cmd], cwd=project, capture_output=True, text=True).stdout or "done"


class Framework:
    """The scenarios; a framework supplies `play`, which has a model make calls and carries them out."""

    agents = ("generic",)

    def play(self, room, door, commands):
        raise NotImplementedError

    def door(self, room, **more):
        return Doorward(cwd=room.project, **({"program": room.program} | more))

    def room(self):
        room = Room(*self.agents)
        self.addCleanup(room.__exit__, None, None, None)
        room.__enter__()
        (room.project / "tool.sh").write_text("echo on > asked.txt\ngit push -q nowhere main\n")
        return room

    def ran(self, room):
        return sorted(path.name for path in room.project.glob("*.txt"))

    def test_what_is_approved_runs_and_what_is_blocked_does_not(self):
        room = self.room()
        results = self.play(room, self.door(room), [ALLOWED, BLOCKED])
        self.assertEqual(self.ran(room), ["allowed.txt"])
        self.assertIn("doorward blocks", results[1])

    def test_a_question_runs_on_a_yes_only(self):
        for yes in (True, False):
            room = self.room()
            results = self.play(room, self.door(room, ask=lambda *_: yes), [ASKED])
            self.assertEqual(self.ran(room), ["asked.txt"] if yes else [], results)

    def test_without_a_person_a_question_does_not_run(self):
        room = self.room()
        self.play(room, self.door(room), [ASKED])
        self.assertEqual(self.ran(room), [])

    def test_nothing_runs_when_doorward_is_missing_killed_late_or_silent(self):
        for how in ("killed", "late", "silent", "garbage", "failing"):
            room = self.room()
            self.play(room, self.door(room, program=room.broken(how), timeout=1, ask=lambda *_: True), [ALLOWED])
            self.assertEqual(self.ran(room), [], how)
        room = self.room()
        self.play(room, self.door(room, program=room.base / "gone"), [ALLOWED])
        self.assertEqual(self.ran(room), [])


class OpenAIAgents(Framework, unittest.TestCase):
    def play(self, room, door, commands):
        from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
        from openai import AsyncOpenAI
        from doorward.adapters.openai_agents import guarded

        set_tracing_disabled(True)

        @function_tool
        def run_shell(cmd: str) -> str:
            """Runs a command."""
            return run_in(room.project, cmd)

        model = Model([[("run_shell", {"cmd": command})] for command in commands])
        self.addCleanup(model.stop)

        async def main():
            client = AsyncOpenAI(base_url=model.url + "/v1", api_key="none")
            agent = Agent(name="dev", tools=guarded([run_shell], door, TOOLS), model=OpenAIChatCompletionsModel("m", client))
            await Runner.run(agent, "go")

        asyncio.run(main())
        return model.results

    def test_a_tool_that_cannot_be_judged_is_not_taken(self):
        from agents import WebSearchTool
        from doorward.adapters.openai_agents import guarded

        with self.assertRaises(TypeError):
            guarded([WebSearchTool()], Doorward())


class LangGraph(Framework, unittest.TestCase):
    def graph(self, room, door, commands):
        from langchain_core.messages import AIMessage
        from langchain_core.tools import tool
        from langgraph.graph import END, START, MessagesState, StateGraph
        from langgraph.prebuilt import ToolNode
        from doorward.adapters.langgraph import wrappers

        @tool
        def run_shell(cmd: str) -> str:
            """Runs a command."""
            return run_in(room.project, cmd)

        def model(state):
            done = sum(message.type == "tool" for message in state["messages"])
            if done == len(commands):
                return {"messages": [AIMessage("done")]}
            return {"messages": [AIMessage("", tool_calls=[{"name": "run_shell", "args": {"cmd": commands[done]}, "id": f"c{done}", "type": "tool_call"}])]}

        graph = StateGraph(MessagesState)
        graph.add_node("model", model), graph.add_node("tools", ToolNode([run_shell], **wrappers(door, TOOLS)))
        graph.add_edge(START, "model"), graph.add_edge("tools", "model")
        graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
        return graph

    def play(self, room, door, commands, asynchronous=False):
        graph = self.graph(room, door, commands)
        state = asyncio.run(graph.compile().ainvoke({"messages": []})) if asynchronous else graph.compile().invoke({"messages": []})
        return [message.content for message in state["messages"] if message.type == "tool"]

    def test_the_asynchronous_way_is_guarded_too(self):
        room = self.room()
        self.play(room, self.door(room), [ALLOWED, BLOCKED], asynchronous=True)
        self.assertEqual(self.ran(room), ["allowed.txt"])

    def test_a_question_interrupts_the_graph_and_only_true_is_a_yes(self):
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.types import Command
        from doorward.adapters.langgraph import interrupt

        for answer, runs in ((True, True), ("yes", False), (False, False)):
            room = self.room()
            graph = self.graph(room, self.door(room, ask=interrupt), [ASKED]).compile(checkpointer=InMemorySaver())
            settings = {"configurable": {"thread_id": "1"}}
            self.assertIn("doorward", str(graph.invoke({"messages": []}, settings)["__interrupt__"]))
            self.assertEqual(self.ran(room), [])
            graph.invoke(Command(resume=answer), settings)
            self.assertEqual(self.ran(room), ["asked.txt"] if runs else [], answer)


class PydanticAI(Framework, unittest.TestCase):
    def play(self, room, door, commands):
        from pydantic_ai import Agent
        from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
        from pydantic_ai.models.function import FunctionModel
        from pydantic_ai.toolsets import FunctionToolset
        from doorward.adapters.pydantic_ai import GuardedToolset

        results = []

        def model(messages, _info):
            results[:] = [str(part.content) for message in messages for part in message.parts if part.part_kind == "tool-return"]
            if len(results) == len(commands):
                return ModelResponse(parts=[TextPart("done")])
            return ModelResponse(parts=[ToolCallPart("run_shell", {"cmd": commands[len(results)]})])

        def run_shell(cmd: str) -> str:
            """Runs a command."""
            return run_in(room.project, cmd)

        agent = Agent(FunctionModel(model), toolsets=[GuardedToolset(FunctionToolset([run_shell]), door, TOOLS)])
        agent.run_sync("go")
        return results


class MCPClient(unittest.TestCase):
    """A tool server that nobody has trusted: each call is a question."""

    def call(self, door, room):
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client
        from doorward.adapters.mcp import GuardedSession

        server = HERE.parents[2] / "crates/doorward/tests/real_clients/server.py"
        parameters = StdioServerParameters(command=sys.executable, args=[str(server)], env={"CALLED": str(room.base / "called"), "PATH": os.environ["PATH"]})

        async def main():
            async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
                await session.initialize()
                guarded = GuardedSession(session, door, server="things")
                names = [tool.name for tool in (await guarded.list_tools()).tools]
                self.assertIn("destroy", names)
                return await guarded.call_tool("destroy", {"what": "everything"})

        return asyncio.run(main())

    def test_the_tool_is_called_on_a_yes_only_and_never_unjudged(self):
        for how, ask, called in (("well", True, True), ("well", False, False), ("killed", True, False), ("late", True, False), ("silent", True, False)):
            with Room() as room:
                program = room.program if how == "well" else room.broken(how)
                result = self.call(Doorward(program=program, cwd=room.project, timeout=2, ask=lambda *_: ask), room)
                self.assertEqual((room.base / "called").exists(), called, (how, ask, result))


class ClaudeAgentSDK(Framework, unittest.TestCase):
    agents = ("generic",)

    def play(self, room, door, commands):
        from claude_agent_sdk import ClaudeAgentOptions, PermissionResultAllow, PermissionResultDeny, query
        from doorward.adapters.claude_agent_sdk import hooks

        model = Model([[("Bash", {"command": command, "description": "scripted"})] for command in commands])
        self.addCleanup(model.stop)
        room.at_terminal("setup", "claude", "--without-hooks", "--yes", "--mode", "auto")

        async def person(_name, _input, _context):
            yes = door.ask is not None and door.ask(None, "", {})
            return PermissionResultAllow() if yes else PermissionResultDeny(message="no")

        async def prompt():
            yield {"type": "user", "message": {"role": "user", "content": "go"}, "parent_tool_use_id": None, "session_id": "s"}

        async def main():
            env = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none", "HOME": str(room.home), "CLAUDE_CONFIG_DIR": str(room.home / ".claude"),
                   "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "IS_SANDBOX": "1"}
            # Without a person the client would refuse questions itself; in this mode only doorward stands in the way.
            mode = {"can_use_tool": person} if door.ask else {"permission_mode": "bypassPermissions"}
            options = ClaudeAgentOptions(hooks=hooks(door), cwd=str(room.project), env=env, setting_sources=[], **mode)
            async for _message in query(prompt=prompt(), options=options):
                pass

        asyncio.run(asyncio.wait_for(main(), 60))
        return model.results


if __name__ == "__main__":
    unittest.main()
