//! Python: what its built-ins, its library and the methods of its values do. What is not listed is not known.

use doorward_code::Use;

use super::act::{
    Act, At, COPY, COPY_TREE, CREATE, DELETE, DELETE_TREE, FETCH_TO, FIRST, LIST, METADATA, MOVE, READ, SECOND,
    SELF_CREATE, SELF_DELETE, SELF_LIST, SELF_METADATA, SELF_MOVE, SELF_READ, SELF_WRITE, SEND, WRITE, listed,
};
use super::python_data;

pub(super) fn act(used: &Use) -> Option<Act> {
    let places = used.arguments.as_ref().map_or(0, Vec::len);
    match used.name.strip_prefix('.') {
        Some(method) => method_act(method, used),
        // With more than one argument they make a class.
        None if used.name == "type" && (places > 1 || used.spread) => None,
        None if used.name == "shutil.copytree" && used.named("dirs_exist_ok").is_some() => None,
        // What a module says about itself; the module was loaded by its import.
        None if used.arguments.is_none() && names_itself(&used.name) => Some(Act::Nothing),
        None if used.name == "dataclasses.dataclass" && (places > 0 || used.spread) => None,
        None => function_act(&used.name).or_else(|| python_data::function(used)),
    }
}

fn names_itself(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, member)| matches!(member, "__version__" | "__doc__" | "__file__" | "__name__"))
}

/// Modules of which every member only computes.
// Modules whose every function works on its arguments alone. Members that break this are taken out again below.
const COMPUTING: &[&str] = &[
    "json",
    "math",
    "re",
    "datetime",
    "collections",
    "itertools",
    "string",
    "textwrap",
    "statistics",
    "random",
    "decimal",
    "fractions",
    "hashlib",
    "base64",
    "time",
    "typing",
    "dataclasses",
    "enum",
    "pprint",
    "difflib",
    "uuid",
    "html",
    "urllib.parse",
    "struct",
    "binascii",
    "copy",
    "heapq",
    "bisect",
    "traceback",
    "unicodedata",
    "calendar",
    "platform",
    "ast",
    "csv",
    "zlib",
    "keyword",
    "numbers",
    "cmath",
    "operator",
    "functools",
    "abc",
    "secrets",
    "hmac",
    "colorsys",
    "locale",
    "textwrap",
    "sysconfig",
    "zoneinfo",
    "tomllib",
    "ipaddress",
    "__future__",
];

/// Members of those modules that do more.
// They fetch attributes by name, evaluate annotations or start a shell, so "the module only computes" is not true of
// them.
const NOT_COMPUTING: &[&str] = &[
    "operator.attrgetter",
    "operator.methodcaller",
    "operator.call",
    "platform.popen",
    "typing.get_type_hints",
    "dataclasses.make_dataclass",
];

/// Modules that are members of those modules: whoever holds one reaches everything.
// `json.codecs`, `random._os`: the library imports its own modules under these names, and each is a way back to `os`
// (interpreters-053).
const MODULES: &[&str] = &[
    "abc",
    "base64",
    "binascii",
    "bltns",
    "builtins",
    "codecs",
    "collections",
    "contextlib",
    "copyreg",
    "decoder",
    "encoder",
    "encodings",
    "entities",
    "enum",
    "functools",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "keyword",
    "linecache",
    "locale",
    "math",
    "numbers",
    "operator",
    "os",
    "parser",
    "platform",
    "random",
    "re",
    "scanner",
    "socket",
    "stdlib_re",
    "struct",
    "subprocess",
    "sys",
    "textwrap",
    "threading",
    "tokenize",
    "tool",
    "types",
    "warnings",
    "weakref",
];

// An allow-list by full name, one role per argument: what is not here is unknown and asks.
const FUNCTIONS: &[(&str, Act)] = &[
    (
        "print len sum range sorted reversed min max int str float bool list dict set tuple frozenset abs round repr \
         enumerate zip any all hex bin oct ord chr pow divmod type isinstance issubclass map filter iter next format \
         bytes bytearray complex slice hash id input exit quit super property staticmethod classmethod object callable \
         ascii memoryview hasattr dir",
        Act::Nothing,
    ),
    (
        "Exception ValueError TypeError KeyError IndexError RuntimeError StopIteration OSError IOError \
         FileNotFoundError PermissionError AssertionError AttributeError ImportError ModuleNotFoundError NameError \
         ZeroDivisionError ArithmeticError OverflowError UnicodeDecodeError UnicodeEncodeError UnicodeError \
         NotImplementedError KeyboardInterrupt SystemExit BaseException LookupError TimeoutError ConnectionError \
         EOFError SyntaxError json.JSONDecodeError NotImplemented Ellipsis __name__ __file__ __doc__",
        Act::Nothing,
    ),
    ("open io.open codecs.open gzip.open bz2.open lzma.open", Act::Open(FIRST, SECOND)),
    (
        "sys.argv sys.argv[] sys.exit sys.stdin sys.stdout sys.stderr sys.version sys.version_info sys.version_info[] \
         sys.platform sys.maxsize sys.byteorder sys.executable sys.prefix sys.base_prefix sys.path sys.path[] \
         sys.getsizeof sys.getrecursionlimit sys.implementation.name sys.float_info sys.getdefaultencoding \
         sys.version_info.major sys.version_info.minor sys.version_info.micro sys.setrecursionlimit",
        Act::Nothing,
    ),
    (
        "sys.stdin.read sys.stdin.readline sys.stdin.readlines sys.stdin.buffer.read sys.stdin.buffer sys.stdout.write \
         sys.stderr.write sys.stdout.flush sys.stderr.flush sys.stdout.buffer.write sys.stdout.reconfigure \
         sys.stdin.isatty sys.stdout.isatty",
        Act::Nothing,
    ),
    (
        "os.getcwd os.sep os.linesep os.pathsep os.name os.curdir os.devnull os.cpu_count os.getpid os.getppid os.uname \
         os.getuid os.getlogin os.fspath os.PathLike os.path.join os.path.exists os.path.isfile os.path.isdir \
         os.path.islink os.path.basename os.path.dirname os.path.splitext os.path.split os.path.abspath \
         os.path.normpath os.path.relpath os.path.realpath os.path.expanduser os.path.isabs os.path.commonpath \
         os.path.commonprefix os.path.getsize os.path.getmtime os.path.getctime os.path.sep os.path.samefile os.access \
         os.R_OK os.W_OK os.X_OK os.get_terminal_size os.urandom",
        Act::Nothing,
    ),
    ("os.listdir os.scandir os.walk os.stat os.lstat os.readlink", LIST),
    ("glob.glob glob.iglob glob.escape fnmatch.fnmatch fnmatch.filter", Act::Nothing),
    ("os.remove os.unlink", DELETE),
    ("os.rmdir os.removedirs shutil.rmtree", DELETE_TREE),
    ("os.mkdir os.makedirs", CREATE),
    ("os.rename os.replace os.renames shutil.move", MOVE),
    ("os.chmod os.chown os.utime shutil.copymode", METADATA),
    ("os.truncate", WRITE),
    ("shutil.copy shutil.copy2 shutil.copyfile", COPY),
    ("shutil.copytree", COPY_TREE),
    ("shutil.which shutil.get_terminal_size shutil.disk_usage", Act::Nothing),
    ("os.system os.popen subprocess.getoutput subprocess.getstatusoutput", Act::Shell),
    ("subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen", Act::Run),
    (
        "subprocess.PIPE subprocess.DEVNULL subprocess.STDOUT subprocess.CalledProcessError subprocess.TimeoutExpired",
        Act::Nothing,
    ),
    ("os.getenv os.environ.get os.environ[]", Act::Variable),
    ("os.environ os.environ.items os.environ.keys os.environ.values os.environ.copy", Act::Environment),
    ("pathlib.Path pathlib.PurePath pathlib.PurePosixPath pathlib.Path.home pathlib.Path.cwd", Act::Nothing),
    ("io.StringIO io.BytesIO io.TextIOWrapper", Act::Nothing),
    ("tempfile.gettempdir", Act::Nothing),
    ("requests.get requests.head urllib.request.urlopen httpx.get httpx.head", Act::Request),
    ("requests.post requests.put requests.patch requests.delete httpx.post httpx.put httpx.delete", SEND),
    ("urllib.error.HTTPError urllib.error.URLError requests.exceptions.RequestException", Act::Nothing),
    ("urllib.request.urlretrieve", FETCH_TO),
    ("zipfile.ZipFile tarfile.open", Act::Open(FIRST, SECOND)),
    ("zipfile.is_zipfile tarfile.is_tarfile", READ),
    ("yaml.safe_load yaml.safe_dump yaml.safe_load_all yaml.YAMLError toml.loads toml.dumps", Act::Nothing),
    ("importlib.metadata.version importlib.metadata.PackageNotFoundError", Act::Nothing),
    ("contextlib.suppress contextlib.redirect_stdout contextlib.closing contextlib.contextmanager", Act::Nothing),
    ("warnings.filterwarnings warnings.simplefilter warnings.warn", Act::Nothing),
    ("argparse.ArgumentParser", Act::Nothing),
    ("xml.etree.ElementTree.fromstring xml.etree.ElementTree.tostring", Act::Nothing),
    ("xml.etree.ElementTree.parse", READ),
    ("linecache.getline linecache.getlines", READ),
    ("py_compile.compile", READ),
    ("sqlite3.Row sqlite3.Error sqlite3.sqlite_version", Act::Nothing),
];

/// Methods of texts, lists, dictionaries, sets, files, matches, dates, paths and readers.
// Names that are harmless on every built-in type, because the receiver's type is not known. `write` and `unlink` have
// their own roles below.
const METHODS: &[(&str, Act)] = &[
    (
        "append extend insert pop remove clear sort reverse index count copy update setdefault get items keys values add \
         discard union intersection difference issubset issuperset fromkeys popitem symmetric_difference \
         difference_update intersection_update appendleft popleft extendleft rotate most_common elements subtract total",
        Act::Nothing,
    ),
    (
        "split rsplit splitlines strip lstrip rstrip startswith endswith lower upper title capitalize casefold swapcase \
         join find rfind rindex format format_map encode decode center ljust rjust zfill isdigit isalpha isalnum isspace \
         isupper islower isnumeric isdecimal isidentifier partition rpartition expandtabs translate maketrans \
         removeprefix removesuffix hex fromhex tobytes",
        Act::Nothing,
    ),
    (
        "read readline readlines write writelines close flush seek tell truncate readable writable isatty getvalue \
         getbuffer detach fileno readinto __enter__ __exit__ writerow writerows writeheader",
        Act::Nothing,
    ),
    (
        "group groups groupdict start end span match search findall finditer sub subn fullmatch strftime isoformat \
         timestamp date time total_seconds weekday isoweekday utcoffset astimezone hexdigest digest \
         as_integer_ratio is_integer bit_length conjugate from_bytes to_bytes quantize",
        Act::Nothing,
    ),
    (
        "exists is_file is_dir is_symlink is_absolute resolve absolute relative_to with_suffix with_name with_stem \
         joinpath as_posix as_uri expanduser samefile match parents is_relative_to stat lstat owner __init__ __str__ __repr__ \
         __len__ __getitem__ __iter__ __eq__ __hash__ __contains__",
        Act::Nothing,
    ),
    (
        "json text raise_for_status iter find_all iterfind findtext getroot itertext namelist infolist getinfo getnames \
         getmembers testzip add_argument parse_args add_mutually_exclusive_group print_help fieldnames",
        Act::Nothing,
    ),
    ("read_text read_bytes", SELF_READ),
    ("iterdir glob rglob walk", SELF_LIST),
    ("write_text write_bytes", SELF_WRITE),
    ("mkdir touch", SELF_CREATE),
    ("unlink rmdir", SELF_DELETE),
    ("chmod", SELF_METADATA),
    ("rename", SELF_MOVE),
    ("open", Act::Open(At::Receiver, FIRST)),
];

fn function_act(name: &str) -> Option<Act> {
    if let Some(act) = listed(name, FUNCTIONS) {
        return Some(act);
    }
    let (module, member) = name.trim_end_matches("[]").rsplit_once('.')?;
    let known = COMPUTING.contains(&module) || is_class(module);
    let inner = member.starts_with('_') || MODULES.contains(&member) && !is_class(name);
    (known && !inner && !NOT_COMPUTING.contains(&name)).then_some(Act::Nothing)
}

/// A class of a computing module. A module that is reached through another one (`json.codecs`, `enum.bltns`) is none.
fn is_class(name: &str) -> bool {
    // Classes with lowercase names. Everywhere else a capital tells a class, whose methods are harmless, from a
    // module.
    const LOWER: &[&str] = &[
        "datetime.datetime",
        "datetime.date",
        "datetime.time",
        "datetime.timedelta",
        "datetime.timezone",
        "collections.abc",
        "collections.deque",
        "itertools.chain",
    ];
    let Some((module, class)) = name.rsplit_once('.') else { return false };
    LOWER.contains(&name)
        || (COMPUTING.contains(&module) && class.starts_with(|first: char| first.is_ascii_uppercase()))
}

fn method_act(method: &str, used: &Use) -> Option<Act> {
    match (method, used.arguments.as_ref().map(Vec::len)) {
        // `text.replace(a, b)` computes, `path.replace(b)` moves a file, `date.replace(year=…)` computes.
        ("replace", Some(0 | 2 | 3)) if !used.spread => Some(Act::Nothing),
        ("replace", _) => Some(SELF_MOVE),
        ("to_csv" | "to_json" | "savefig" | "save", Some(0)) if used.named.is_empty() => Some(Act::Nothing),
        ("to_csv" | "to_json" | "savefig" | "save" | "to_excel" | "to_parquet", _) => Some(WRITE),
        ("extract" | "extractall", _) => None,
        _ => listed(method, METHODS).or_else(|| python_data::method(method, used)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Option<Act> {
        act(&Use { name: name.into(), arguments: Some(Vec::new()), ..Use::default() })
    }

    #[test]
    fn only_what_is_listed_is_known() {
        for harmless in
            ["json.loads", "math.pi", "datetime.datetime.now", "re.sub", ".split", "print", "collections.Counter"]
        {
            assert_eq!(of(harmless), Some(Act::Nothing), "{harmless}");
        }
        for unknown in [
            "eval",
            "exec",
            "getattr",
            "compile",
            "__import__",
            "os.execv",
            "json.codecs.builtins.exec",
            "random._os.system",
            "re.__dict__",
            "json.__loader__",
            ".__class__",
            ".extractall",
            "pickle.loads",
            "ctypes.CDLL",
            "operator.methodcaller",
            "importlib.import_module",
            "platform.os.system",
            "enum.bltns.exec",
            "pathlib.os.remove",
            "sys.modules",
            "uuid.os.system",
        ] {
            assert_eq!(of(unknown), None, "{unknown}");
        }
        assert_eq!(of("os.remove"), Some(DELETE));
    }
}
