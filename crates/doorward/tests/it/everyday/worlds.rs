//! Fresh projects on a real disk, set up as a person does who accepts what is offered.

use std::path::Path;
use std::process::Command;

use crate::support::Home;

/// Programs that a developer has beside those of the system; the hook only looks at them.
const TOOLS: &[&str] =
    &["rg", "jq", "gh", "uv", "pnpm", "yarn", "node", "npm", "npx", "docker", "lsof", "curl", "make", "file", "xxd"];

const NODE: &[(&str, &str)] = &[
    (
        "package.json",
        r#"{
  "name": "shop",
  "version": "0.3.0",
  "private": true,
  "type": "module",
  "scripts": {
    "build": "tsc -p tsconfig.json",
    "dev": "node --watch src/server.js",
    "test": "vitest run",
    "lint": "eslint src tests",
    "format": "prettier --write src",
    "typecheck": "tsc --noEmit"
  },
  "dependencies": { "picocolors": "^1.1.0" },
  "devDependencies": { "eslint": "^9.0.0", "prettier": "^3.0.0", "typescript": "^5.4.0", "vitest": "^2.0.0" }
}
"#,
    ),
    ("package-lock.json", "{ \"name\": \"shop\", \"lockfileVersion\": 3, \"packages\": {} }\n"),
    ("src/cart.js", "export const total = (items) => items.reduce((sum, item) => sum + item.price, 0);\n"),
    (
        "src/server.js",
        "import { createServer } from \"node:http\";\ncreateServer((_, answer) => answer.end(\"ok\")).listen(3000);\n",
    ),
    (
        "src/bill.ts",
        "import { total } from \"./cart.js\";\nexport const bill = (items: { price: number }[]): number => total(items);\n",
    ),
    (
        "tests/cart.test.js",
        "import { expect, test } from \"vitest\";\nimport { total } from \"../src/cart.js\";\ntest(\"adds\", () => expect(total([{ price: 2 }])).toBe(2));\n",
    ),
    (
        "tsconfig.json",
        "{ \"compilerOptions\": { \"target\": \"es2022\", \"module\": \"nodenext\", \"outDir\": \"dist\", \"allowJs\": true, \"strict\": true }, \"include\": [\"src\"] }\n",
    ),
    ("eslint.config.js", "export default [{ files: [\"**/*.js\"], rules: { \"no-unused-vars\": \"error\" } }];\n"),
    (".gitignore", "node_modules/\ndist/\ncoverage/\n*.log\n.env\n"),
    ("README.md", "# Shop\n\nA small shop.\n"),
    ("docs/api.md", "# Notes\n"),
    (
        "docker-compose.yml",
        "services:\n  web:\n    build: .\n    ports: [\"3000:3000\"]\n  db:\n    image: postgres:16\n",
    ),
    ("Dockerfile", "FROM node:22\nWORKDIR /app\nCOPY . .\nRUN npm ci\nCMD [\"node\", \"src/server.js\"]\n"),
];

const PYTHON: &[(&str, &str)] = &[
    (
        "pyproject.toml",
        r#"[build-system]
requires = ["setuptools>=68"]
build-backend = "setuptools.build_meta"

[project]
name = "ledgerlib"
version = "0.2.0"
requires-python = ">=3.10"
dependencies = []

[project.optional-dependencies]
dev = ["pytest", "ruff", "mypy"]

[tool.setuptools.packages.find]
where = ["src"]

[tool.pytest.ini_options]
testpaths = ["tests"]
markers = ["slow: takes long"]

[tool.ruff]
line-length = 100
"#,
    ),
    ("src/ledgerlib/__init__.py", "\"\"\"Accounts.\"\"\"\n"),
    (
        "src/ledgerlib/book.py",
        "def balance(rows: list[tuple[str, int]]) -> int:\n    return sum(amount for _, amount in rows)\n",
    ),
    (
        "src/ledgerlib/cli.py",
        "import argparse\n\nfrom ledgerlib.book import balance\n\n\ndef main() -> None:\n    parser = argparse.ArgumentParser()\n    parser.add_argument(\"--rows\", type=int, default=1)\n    print(balance([(\"a\", parser.parse_args().rows)]))\n\n\nif __name__ == \"__main__\":\n    main()\n",
    ),
    (
        "tests/test_book.py",
        "from ledgerlib.book import balance\n\n\ndef test_balance():\n    assert balance([(\"a\", 2)]) == 2\n",
    ),
    ("tests/conftest.py", "import pytest\n\n\n@pytest.fixture\ndef rows():\n    return [(\"a\", 1)]\n"),
    (
        ".gitignore",
        ".venv/\n__pycache__/\n*.egg-info/\n.pytest_cache/\n.mypy_cache/\n.ruff_cache/\ndist/\nbuild/\n.env\n*.log\n",
    ),
    ("Makefile", "test:\n\tpytest -q\n\nlint:\n\truff check .\n\nclean:\n\trm -rf build dist .pytest_cache\n"),
    ("README.md", "# Ledgerlib\n"),
    ("docs/design.md", "# Notes\n"),
    ("docker-compose.yml", "services:\n  db:\n    image: postgres:16\n"),
];

pub(super) fn title(name: &str) -> &'static str {
    match name {
        "node" => "Node: package.json, eslint, vitest, a compose file",
        _ => "Python: pyproject.toml, src layout, virtual environment, Makefile",
    }
}

/// A home with a project that was set up, trusted, and never worked in.
pub(super) fn fresh(name: &str) -> Home {
    let home = Home::new();
    let project = home.project();
    for tool in TOOLS {
        runnable(&home.path(".local/bin").join(tool));
    }
    let files = if name == "node" { NODE } else { PYTHON };
    for (file, text) in files {
        write(&project.join(file), text);
    }
    match name {
        "node" => installed_node(&project),
        _ => installed_python(&project),
    }
    write(&project.join(".env"), "SESSION_KEY=k9f8a7b6c5d4e3f2\n");
    write(&home.path("old-projects/notes.txt"), "kept for later\n");
    commits(&home);
    let answers = ["--yes", "--mode", "auto", "--trust"];
    let mut setup = home.command(&[&["setup", "claude"], answers.as_slice()].concat());
    let ran = crate::support::feed(environment(&home, &mut setup), b"");
    assert_eq!(ran.code, 0, "{} {}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("this project is trusted"), "{}", ran.stdout);
    home
}

/// What a section wants besides: a rebase that stopped at a conflict.
pub(super) fn begin(home: &Home, section: &str) {
    if section != "A rebase that stopped" {
        return;
    }
    let project = home.project();
    git(home, &["stash", "push", "-q", "--include-untracked"]);
    for (branch, text) in [("one", "first\n"), ("two", "second\n")] {
        git(home, &["switch", "-q", "-c", branch, "feature/begun"]);
        write(&project.join("docs/order.md"), text);
        git(home, &["add", "docs/order.md"]);
        git(home, &["commit", "-q", "-m", branch]);
    }
    let ran = git_command(home, &["rebase", "-q", "one"]).output().unwrap();
    assert!(!ran.status.success(), "there is a conflict");
}

/// The search path of a developer, and nothing of what the machine that runs the tests has set.
pub(super) fn environment<'c>(home: &Home, command: &'c mut Command) -> &'c mut Command {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", home.path(".local/bin").display());
    command.env_clear().env("HOME", home.path("").components().as_path());
    command.env("PATH", path).env("GIT_CONFIG_NOSYSTEM", "1").env("LANG", "C.UTF-8").env("USER", "dev")
}

fn commits(home: &Home) {
    git(home, &["config", "--global", "user.name", "Dev"]);
    git(home, &["config", "--global", "user.email", "dev@example.com"]);
    git(home, &["checkout", "-q", "-b", "main"]);
    git(home, &["add", "."]);
    git(home, &["commit", "-q", "-m", "Begin"]);
    git(home, &["remote", "add", "origin", "https://github.com/example/project.git"]);
    git(home, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    git(home, &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    git(home, &["branch", "-q", "--set-upstream-to=origin/main"]);
    git(home, &["checkout", "-q", "-b", "feature/begun"]);
    for (text, wish) in [("# Notes\n\nA start.\n", "commit"), ("# Notes\n\nA draft.\n", "stash")] {
        write(&home.project().join("docs/notes.md"), text);
        git(home, &["add", "docs/notes.md"]);
        match wish {
            "commit" => git(home, &["commit", "-q", "-m", "Begin notes"]),
            _ => git(home, &["stash", "-q"]),
        }
    }
}

fn installed_node(project: &Path) {
    for (package, program) in [
        ("eslint", "eslint"),
        ("prettier", "prettier"),
        ("typescript", "tsc"),
        ("vitest", "vitest"),
        ("picocolors", ""),
    ] {
        let directory = project.join("node_modules").join(package);
        write(&directory.join("package.json"), &format!("{{ \"name\": \"{package}\", \"version\": \"1.0.0\" }}\n"));
        write(&directory.join("bin.js"), "#!/usr/bin/env node\n");
        executable(&directory.join("bin.js"));
        if !program.is_empty() {
            linked(&Path::new("..").join(package).join("bin.js"), &project.join("node_modules/.bin").join(program));
        }
    }
    // More than are looked at one by one.
    for number in 0..2_100 {
        write(&project.join(format!("node_modules/many/lib/part{number}.js")), "");
    }
}

fn installed_python(project: &Path) {
    let environment = project.join(".venv");
    write(&environment.join("pyvenv.cfg"), "home = /usr/bin\ninclude-system-site-packages = false\n");
    linked(Path::new("/usr/bin/python3"), &environment.join("bin/python3"));
    linked(Path::new("python3"), &environment.join("bin/python"));
    write(
        &environment.join("bin/activate"),
        "VIRTUAL_ENV=.venv\nPATH=\"$VIRTUAL_ENV/bin:$PATH\"\nexport VIRTUAL_ENV PATH\n",
    );
    let packages = environment.join("lib/python3.12/site-packages");
    for (program, module) in [("pytest", "pytest"), ("ruff", "ruff"), ("mypy", "mypy"), ("pip", "pip")] {
        let start = format!("#!{}\nfrom {module} import main\nmain()\n", environment.join("bin/python").display());
        write(&environment.join("bin").join(program), &start);
        executable(&environment.join("bin").join(program));
        write(&packages.join(module).join("__init__.py"), "");
    }
    write(&packages.join("__editable__.ledgerlib-0.2.0.pth"), &project.join("src").display().to_string());
}

fn git_command(home: &Home, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(home.project()).env("HOME", home.path("")).env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("GIT_EDITOR", "true");
    command
}

fn git(home: &Home, arguments: &[&str]) {
    let ran = git_command(home, arguments).output().unwrap();
    assert!(ran.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn runnable(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::copy("/bin/true", path).unwrap();
    executable(path);
}

fn executable(path: &Path) {
    let mode: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(path, mode).unwrap();
}

fn linked(to: &Path, path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(to, path).unwrap();
}
