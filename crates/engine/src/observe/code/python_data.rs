//! Packages for work on data: what of numpy, pandas and pictures only computes or reads.

use doorward_code::{Use, Value};

use super::act::{Act, READ, WRITE, listed};

// Data analysis runs as one-liners. `numpy.load` with pickles and `DataFrame.eval` run code, so they are not here.
const FUNCTIONS: &[(&str, Act)] = &[
    (
        "numpy.array numpy.asarray numpy.zeros numpy.ones numpy.arange numpy.linspace numpy.logspace numpy.mean numpy.sum numpy.std \
         numpy.var numpy.min numpy.max numpy.argmax numpy.argmin numpy.sort numpy.argsort numpy.unique numpy.concatenate numpy.stack \
         numpy.vstack numpy.hstack numpy.reshape numpy.dot numpy.matmul numpy.transpose numpy.where numpy.clip numpy.round numpy.abs \
         numpy.sqrt numpy.exp numpy.log numpy.log2 numpy.log10 numpy.sin numpy.cos numpy.tan numpy.pi numpy.e numpy.nan numpy.inf \
         numpy.isnan numpy.isinf numpy.isfinite numpy.float32 numpy.float64 numpy.int8 numpy.int32 numpy.int64 numpy.uint8 numpy.bool_ \
         numpy.ndarray numpy.eye numpy.identity numpy.full numpy.empty numpy.allclose numpy.isclose numpy.array_equal numpy.median \
         numpy.percentile numpy.quantile numpy.cumsum numpy.diff numpy.prod numpy.any numpy.all numpy.corrcoef numpy.cov numpy.histogram \
         numpy.bincount numpy.polyfit numpy.polyval numpy.interp numpy.meshgrid numpy.outer numpy.cross numpy.zeros_like numpy.ones_like \
         numpy.expand_dims numpy.squeeze numpy.tile numpy.repeat numpy.floor numpy.ceil numpy.sign numpy.power numpy.set_printoptions \
         numpy.__version__ numpy.random.rand numpy.random.randn numpy.random.randint numpy.random.seed numpy.random.default_rng \
         numpy.random.normal numpy.random.uniform numpy.random.choice numpy.random.shuffle numpy.random.permutation numpy.linalg.norm \
         numpy.linalg.inv numpy.linalg.det numpy.linalg.eig numpy.linalg.eigh numpy.linalg.svd numpy.linalg.solve numpy.linalg.lstsq \
         numpy.fft.fft numpy.fft.ifft numpy.newaxis",
        Act::Nothing,
    ),
    (
        "pandas.DataFrame pandas.Series pandas.to_datetime pandas.to_numeric pandas.to_timedelta pandas.concat pandas.merge \
         pandas.date_range pandas.cut pandas.qcut pandas.isna pandas.notna pandas.isnull pandas.crosstab pandas.get_dummies \
         pandas.set_option pandas.Timestamp pandas.Timedelta pandas.NA pandas.NaT pandas.Index pandas.MultiIndex pandas.Categorical \
         pandas.__version__ pandas.unique pandas.melt pandas.pivot_table pandas.json_normalize",
        Act::Nothing,
    ),
    ("numpy.loadtxt numpy.genfromtxt PIL.Image.open", READ),
    ("numpy.savetxt numpy.save", WRITE),
    (
        "logging.debug logging.info logging.warning logging.error logging.exception logging.critical logging.getLogger logging.DEBUG \
         logging.INFO logging.WARNING logging.ERROR shlex.split shlex.quote shlex.join mimetypes.guess_type contextlib.nullcontext \
         inspect.signature inspect.isfunction inspect.isclass fnmatch.fnmatch fnmatch.filter gc.collect",
        Act::Nothing,
    ),
];

/// Readers that take a path as well as an address.
// Given an address they fetch it, given a path they read it: the argument decides between a read and a network
// effect.
const READERS: &[&str] = &[
    "pandas.read_csv",
    "pandas.read_json",
    "pandas.read_excel",
    "pandas.read_parquet",
    "pandas.read_table",
    "pandas.read_fwf",
];

/// Methods of tables, columns, arrays and pictures. Those that run texts, or methods by name, are left out.
// `query`, `eval`, `apply` and `pipe` run text or functions and stay unknown.
const METHODS: &[(&str, Act)] = &[(
    "head tail describe groupby sum mean std var min max nunique value_counts sort_values sort_index reset_index set_index drop dropna \
     fillna isna notna isnull notnull merge pivot_table pivot melt astype to_string to_dict to_list tolist to_markdown to_numpy info \
     nlargest nsmallest drop_duplicates duplicated unique mode median cumsum cumprod diff shift pct_change rolling expanding resample \
     corr cov quantile round abs clip isin between any all idxmax idxmin flatten reshape ravel transpose dot squeeze argmax argmin \
     argsort sample iterrows itertuples stack unstack explode assign nonzero swapaxes resize convert rotate crop thumbnail getpixel \
     getbbox rand integers normal uniform choice shuffle permutation warning error debug",
    Act::Nothing,
)];

pub(super) fn function(used: &Use) -> Option<Act> {
    if READERS.contains(&used.name.as_str()) {
        return match used.argument(0) {
            Some(Value::Text(text)) if text.contains("://") => Some(Act::Request),
            Some(Value::Text(_) | Value::Matches(_) | Value::Below(_) | Value::OneOf(_)) => Some(READ),
            // Something that was opened before, or an address that nobody sees.
            Some(Value::Unknown | Value::Plain(_) | Value::List(_) | Value::Name | Value::Record(_)) | None => None,
        };
    }
    listed(&used.name, FUNCTIONS)
}

pub(super) fn method(name: &str, used: &Use) -> Option<Act> {
    // Statements of databases that only read.
    if name == "execute" {
        return match used.argument(0) {
            Some(Value::Text(sql)) if is_quiet(sql) => Some(Act::Nothing),
            Some(_) | None => None,
        };
    }
    listed(name, METHODS)
}

/// A statement that only reads tables, every word of it known.
fn is_quiet(sql: &str) -> bool {
    let known = !sql.contains([doorward_code::UNKNOWN, doorward_code::HOME]);
    let loads = sql.to_ascii_lowercase().contains("load_extension");
    known && !loads && crate::observe::program::grammar::sql_reads_only(sql)
}
