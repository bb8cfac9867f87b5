//! JavaScript: what its globals, the library of Node and the methods of its values do. What is not listed is not known.

use doorward_code::Use;

use super::act::{APPEND, Act, COPY, CREATE, DELETE, DELETE_TREE, LIST, METADATA, MOVE, READ, SEND, WRITE, listed};

pub(super) fn act(used: &Use) -> Option<Act> {
    match used.name.strip_prefix('.') {
        Some(method) => listed(method, METHODS),
        None => function_act(&used.name),
    }
}

/// Objects of which every member only computes or prints.
// Kept to objects that reach neither the disk, the network nor a process, so that a new method of theirs is harmless
// too. `process`, `fs` and `global` can never be here.
const COMPUTING: &[&str] = &[
    "console",
    "JSON",
    "Math",
    "Object",
    "Array",
    "String",
    "Number",
    "Date",
    "Promise",
    "Buffer",
    "Intl",
    "BigInt",
    "Symbol",
    "path",
    "path.posix",
    "url",
    "querystring",
    "util",
    "util.types",
    "assert",
    "assert.strict",
    "URL",
    "performance",
    "perf_hooks",
    "perf_hooks.performance",
    "string_decoder",
    "timers/promises",
    "crypto.webcrypto",
    "process.versions",
];

/// Members of those that do more.
// They redefine members or reach prototypes, and through a prototype any function: `[].constructor.constructor` is
// `Function` (interpreters-090).
const NOT_COMPUTING: &[&str] = &[
    "Object.defineProperty",
    "Object.setPrototypeOf",
    "Object.defineProperties",
    "Object.getPrototypeOf",
    "Object.getOwnPropertyDescriptor",
];

// An allow-list by full name, one role per argument: a function that is not here is unknown and asks.
const FUNCTIONS: &[(&str, Act)] = &[
    (
        "Boolean String Number Array Object Date RegExp Map Set WeakMap WeakSet Promise Symbol BigInt Error TypeError \
         RangeError SyntaxError parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent encodeURI \
         decodeURI setTimeout setInterval setImmediate clearTimeout clearInterval queueMicrotask structuredClone URL \
         URLSearchParams TextEncoder TextDecoder AbortController Uint8Array Uint16Array Uint32Array Int8Array Int16Array Int32Array \
         Float32Array Float64Array ArrayBuffer DataView NaN Infinity undefined __dirname __filename atob btoa arguments",
        Act::Nothing,
    ),
    (
        "process.argv process.cwd process.exit process.exitCode process.stdout.write process.stderr.write \
         process.stdin process.stdin.on process.stdin.setEncoding process.stdin.resume process.stdin.pipe process.version \
         process.platform process.arch process.pid process.uptime process.memoryUsage process.hrtime process.hrtime.bigint \
         process.nextTick process.on process.stdout.columns process.stdout.isTTY process.execPath process.argv.slice \
         process.argv.length process.stdout process.stderr",
        Act::Nothing,
    ),
    ("process.env", Act::Environment),
    (
        "os.homedir os.tmpdir os.platform os.cpus os.EOL os.hostname os.arch os.type os.release os.totalmem os.freemem os.uptime",
        Act::Nothing,
    ),
    (
        "crypto.createHash crypto.randomUUID crypto.randomBytes crypto.createHmac crypto.getHashes crypto.timingSafeEqual",
        Act::Nothing,
    ),
    ("require.resolve Bun.semver Bun.semver.order Bun.semver.satisfies Bun.version", Act::Nothing),
    ("zlib.gzipSync zlib.gunzipSync zlib.inflateSync zlib.deflateSync zlib.brotliDecompressSync", Act::Nothing),
    ("readline.createInterface fs.existsSync fs.constants fs.constants.R_OK", Act::Nothing),
    ("fs.accessSync fs.access fs.statSync fs.stat fs.lstatSync fs.lstat fs.realpathSync fs.readlinkSync", LIST),
    ("fs.readdirSync fs.readdir fs.opendirSync", LIST),
    ("fs.readFileSync fs.readFile fs.createReadStream", READ),
    ("fs.writeFileSync fs.writeFile fs.createWriteStream fs.truncateSync", WRITE),
    ("fs.appendFileSync fs.appendFile", APPEND),
    ("fs.unlinkSync fs.unlink", DELETE),
    ("fs.rmSync fs.rm fs.rmdirSync fs.rmdir", DELETE_TREE),
    ("fs.mkdirSync fs.mkdir", CREATE),
    ("fs.copyFileSync fs.copyFile", COPY),
    ("fs.renameSync fs.rename", MOVE),
    ("fs.chmodSync fs.chmod fs.utimesSync fs.chownSync", METADATA),
    ("child_process.execSync child_process.exec", Act::Shell),
    ("child_process.spawnSync child_process.spawn child_process.execFileSync child_process.execFile", Act::Spawn),
    ("fetch http.get https.get", Act::Request),
    ("axios.get", Act::Request),
    ("axios.post axios.put axios.patch axios.delete", SEND),
];

/// Methods of texts, arrays, maps, sets, promises, dates, streams, hashes and addresses.
// The receiver's type is not known, so a name may be here only if it is harmless on every kind of object that Node
// hands out.
const METHODS: &[(&str, Act)] = &[
    (
        "map filter reduce reduceRight forEach find findIndex findLast findLastIndex some every includes indexOf \
         lastIndexOf slice splice concat join push pop shift unshift sort reverse flat flatMap fill keys values entries at \
         toSorted toReversed toSpliced with copyWithin",
        Act::Nothing,
    ),
    (
        "split trim trimStart trimEnd toLowerCase toUpperCase padStart padEnd startsWith endsWith replace replaceAll \
         match matchAll search charAt charCodeAt codePointAt repeat substring substr localeCompare normalize toString \
         toFixed toPrecision toLocaleString valueOf test exec toJSON hasOwnProperty",
        Act::Nothing,
    ),
    (
        "get set has add delete clear then catch finally getTime toISOString getFullYear getMonth getDate getHours \
         getMinutes getSeconds toLocaleDateString toLocaleTimeString getDay setDate setHours on once setEncoding resume \
         update digest json text arrayBuffer blob append getAll close question isFile isDirectory isSymbolicLink end \
         equals readUInt8 readUInt32LE readUInt32BE subarray abort",
        Act::Nothing,
    ),
];

fn function_act(name: &str) -> Option<Act> {
    let name = canonical(name);
    if let Some(act) = listed(&name, FUNCTIONS) {
        return Some(act);
    }
    if let Some(variable) = name.strip_prefix("process.env.") {
        return (!variable.contains('.')).then_some(Act::Variable);
    }
    let (object, member) = name.rsplit_once('.')?;
    let inner = matches!(member, "constructor" | "prototype" | "apply" | "call" | "bind") || member.starts_with("__");
    (COMPUTING.contains(&object) && !inner && !NOT_COMPUTING.contains(&name.as_str())).then_some(Act::Nothing)
}

/// `fs/promises.readFile` and `fs.promises.readFile` are `fs.readFile`.
fn canonical(name: &str) -> String {
    name.replacen("fs/promises.", "fs.", 1).replacen("fs.promises.", "fs.", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Option<Act> {
        act(&Use { name: name.into(), arguments: Some(Vec::new()), ..Use::default() })
    }

    #[test]
    fn only_what_is_listed_is_known() {
        for harmless in ["console.log", "JSON.parse", "Object.keys", ".map", "path.join", "process.argv"] {
            assert_eq!(of(harmless), Some(Act::Nothing), "{harmless}");
        }
        for unknown in [
            "eval",
            "Function",
            "Reflect.get",
            "Proxy",
            "process.binding",
            "process.kill",
            "vm.runInThisContext",
            "Object.constructor",
            "console.log.constructor",
            ".constructor",
            ".__proto__",
            "globalThis",
            "global",
            "process.mainModule.require",
            "worker_threads.Worker",
            "Array.prototype",
            ".apply",
            "module.constructor",
        ] {
            assert_eq!(of(unknown), None, "{unknown}");
        }
        assert_eq!(of("fs.promises.unlink"), Some(DELETE));
        assert_eq!(of("fs/promises.rm"), Some(DELETE_TREE));
    }
}
