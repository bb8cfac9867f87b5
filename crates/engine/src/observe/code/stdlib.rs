//! Modules that come with Python and with Node: code of theirs, unless a file beside the program hides them.

/// Names of every version since 3.8.
// The union over versions: a module that one version dropped is still the library's in another. A file of the project
// with the same name is imported first, so it is looked for first.
const PYTHON: &str = "__future__ _abc _aix_support _ast _asyncio _bisect _blake2 _bootsubprocess _bz2 _codecs _codecs_cn _codecs_hk \
    _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw _collections _collections_abc _compat_pickle _compression \
    _contextvars _crypt _csv _ctypes _curses _curses_panel _datetime _dbm _decimal _elementtree _frozen_importlib \
    _frozen_importlib_external _functools _gdbm _hashlib _heapq _imp _io _json _locale _lsprof _lzma _markupbase \
    _md5 _msi _multibytecodec _multiprocessing _opcode _operator _osx_support _overlapped _pickle _posixshmem \
    _posixsubprocess _py_abc _pydecimal _pyio _queue _random _scproxy _sha1 _sha256 _sha3 _sha512 _signal \
    _sitebuiltins _socket _sqlite3 _sre _ssl _stat _statistics _string _strptime _struct _symtable _thread \
    _threading_local _tkinter _tokenize _tracemalloc _typing _uuid _warnings _weakref _weakrefset _winapi _zoneinfo \
    abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb \
    binascii binhex bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections \
    colorsys compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes \
    curses dataclasses datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno \
    faulthandler fcntl filecmp fileinput fnmatch formatter fractions ftplib functools gc genericpath getopt getpass \
    gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io \
    ipaddress itertools json keyword lib2to3 linecache locale logging lzma macpath mailbox mailcap marshal math \
    mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode \
    operator optparse os ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib \
    posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri random re \
    readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site smtpd \
    smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string \
    stringprep struct subprocess sunau symbol symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile \
    termios textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty \
    turtle turtledemo types typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg \
    winsound wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo";

// Node finds these before `node_modules`, so no package can stand in for them.
const NODE: &str = "_http_agent _http_client _http_common _http_incoming _http_outgoing _http_server _stream_duplex \
    _stream_passthrough _stream_readable _stream_transform _stream_wrap _stream_writable _tls_common _tls_wrap \
    assert assert/strict async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel \
    dns dns/promises domain events fs fs/promises http http2 https inspector inspector/promises module net os path \
    path/posix path/win32 perf_hooks process punycode querystring readline readline/promises repl stream \
    stream/consumers stream/promises stream/web string_decoder sys timers timers/promises tls \
    trace_events tty url util util/types v8 vm wasi worker_threads zlib";

/// Without the prefix these are packages of somebody else.
const NODE_PREFIXED: &str = "sea sqlite test test/reporters";

/// A module, or what lies in it, comes with Python.
pub(super) fn python(module: &str) -> bool {
    let top = module.split('.').next().unwrap_or(module);
    listed(PYTHON, top)
}

/// A module comes with Node.
pub(super) fn node(module: &str) -> bool {
    match module.strip_prefix("node:") {
        Some(module) => listed(NODE, module) || listed(NODE_PREFIXED, module),
        None => listed(NODE, module),
    }
}

fn listed(names: &str, name: &str) -> bool {
    names.split(' ').any(|known| known == name)
}
