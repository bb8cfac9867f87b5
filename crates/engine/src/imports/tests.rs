//! Imports as people write them, one line each.

use super::*;

/// Whether `other` with this text imports `path`.
fn check(path: &str, rows: &[(&str, &str, bool)]) {
    let wanted = Imported::at(path).unwrap();
    for (other, text, is_imported) in rows {
        assert!(wanted.may_be_imported_by(other), "{other}");
        assert_eq!(wanted.is_imported_by(other, text), *is_imported, "{path} by {other}: {text}");
    }
}

#[test]
fn rust() {
    check(
        "crates/engine/src/place/class.rs",
        &[
            ("crates/engine/src/place/mod.rs", "//! x\nmod below;\npub mod class;\n", true),
            ("crates/engine/src/place/mod.rs", "mod classes;\n", false),
            ("crates/engine/src/other/mod.rs", "mod class;\n", false),
            ("crates/engine/src/rules.rs", "use crate::place::class::Class;\n", true),
            ("crates/engine/src/rules.rs", "pub(crate) use crate::place::{\n    below,\n    class,\n};\n", true),
            ("crates/engine/src/place/under_home.rs", "use super::class;\n", true),
            ("crates/engine/src/layer2/x.rs", "use super::class;\n", false),
            ("crates/engine/src/rules.rs", "fn f() { crate::place::class::of(1) }\n", true),
            ("crates/engine/src/rules.rs", "use doorward_vocabulary::Mark;\n// a class of its own\n", false),
        ],
    );
    check(
        "src/path.rs",
        &[("src/a.rs", "use crate::path::{join, name};", true), ("src/a.rs", "use std::path::Path;", false)],
    );
    let root = Imported::at("crates/engine/src/lib.rs").unwrap();
    assert!(root.is_root_of_package());
    let root = root.of_package("doorward-engine");
    assert!(root.is_imported_by("crates/doorward/src/a.rs", "use doorward_engine::{Facts, judge};\n"));
    assert!(!root.is_imported_by("crates/doorward/src/a.rs", "use my_doorward_engine::Facts;\n"));
}

#[test]
fn javascript() {
    check(
        "src/util/date.ts",
        &[
            ("src/app.tsx", "import { day } from './util/date';\n", true),
            ("src/app.tsx", "import { day } from \"./util/date.js\";\n", true),
            ("src/views/a.ts", "import {\n  day,\n} from '../util/date'\n", true),
            ("src/views/a.ts", "const { day } = require('../util/date')\n", true),
            ("src/views/a.ts", "export * from '@/util/date'\n", true),
            ("src/views/a.ts", "import { day } from './util/date'\n", false),
            ("src/views/a.ts", "import date from 'date-fns'\n", false),
            ("src/views/a.ts", "const at = '../util/date'\n", false),
        ],
    );
    check(
        "src/store/index.ts",
        &[("src/a.ts", "import s from './store'", true), ("src/a.ts", "import s from './storeys'", false)],
    );
}

#[test]
fn python() {
    check(
        "src/shop/cart.py",
        &[
            ("src/shop/views.py", "from .cart import Cart\n", true),
            ("src/shop/views.py", "from . import cart\n", true),
            ("src/shop/api/views.py", "from ..cart import (\n    Cart,\n)\n", true),
            ("tests/test_cart.py", "from shop.cart import Cart\n", true),
            ("tests/test_cart.py", "from shop import (\n    orders,\n    cart as c,\n)\n", true),
            ("tests/test_cart.py", "import os, shop.cart\n", true),
            ("tests/test_cart.py", "from other.cart import Cart\n", false),
            ("tests/test_cart.py", "import cart\n", false),
        ],
    );
    check(
        "shop/__init__.py",
        &[
            ("a.py", "import shop\n", true),
            ("a.py", "from shop import x\n", true),
            ("a.py", "import shopping\n", false),
        ],
    );
}

#[test]
fn other_languages() {
    check(
        "internal/cart/cart.go",
        &[
            ("cmd/main.go", "package main\n\nimport (\n\t\"fmt\"\n\t\"example.com/shop/internal/cart\"\n)\n", true),
            ("internal/cart/total.go", "package cart\n", false),
            ("cmd/main.go", "import \"example.com/shop/internal/cartel\"\n", false),
        ],
    );
    check(
        "include/shop/cart.h",
        &[
            ("src/main.c", "#include \"shop/cart.h\"\n", true),
            ("src/main.c", "# include <shop/cart.h>\n", true),
            ("include/shop/all.h", "#include \"cart.h\"\n", true),
            ("src/main.c", "#include \"shop/gocart.h\"\n", false),
        ],
    );
    check(
        "app/src/main/java/com/acme/Cart.java",
        &[
            ("app/src/main/java/com/acme/web/Web.java", "import com.acme.Cart;\n", true),
            ("app/src/main/java/com/acme/web/Web.kt", "import com.acme.Cart as C\n", true),
            ("app/src/main/java/com/acme/web/Web.java", "import com.acme.*;\nclass A { Cart c; }\n", true),
            ("app/src/main/java/com/acme/web/Web.java", "import static com.acme.Cart.total;\n", true),
            ("app/src/main/java/com/acme/web/Web.java", "import com.other.Cart;\n", false),
        ],
    );
    check(
        "lib/shop/cart.rb",
        &[
            ("lib/shop.rb", "require_relative 'shop/cart'\n", true),
            ("bin/x.rb", "require \"shop/cart\"\n", true),
            ("bin/x.rb", "require 'cartel'\n", false),
        ],
    );
    check(
        "app/Models/User.php",
        &[
            ("app/Http/A.php", "<?php\nuse App\\Models\\User;\n", true),
            ("app/Http/A.php", "<?php\nuse App\\Models\\Users;\n", false),
        ],
    );
    assert!(
        Imported::at("README.md").is_none() && Imported::at("Makefile").is_none() && Imported::at(".rs/x").is_none()
    );
}

#[test]
fn odd_text_is_read_to_its_end() {
    for path in [
        "a.rs",
        "a/mod.rs",
        "lib.rs",
        "a.ts",
        "index.js",
        "a.py",
        "__init__.py",
        "x.go",
        "a.h",
        "A.java",
        "a.rb",
        "a.php",
    ] {
        let Some(wanted) = Imported::at(path) else { panic!("{path}") };
        for text in [
            "",
            "use ",
            "use a",
            "from . import",
            "from .... import a",
            "import",
            "#include",
            "#include \"",
            "import '",
            "a é 'ü",
        ] {
            wanted.is_imported_by("b", text);
            wanted.is_imported_by("", &format!("{text} a"));
        }
    }
}
