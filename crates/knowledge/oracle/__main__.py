"""`python3 crates/knowledge/oracle flags|box`: compares the program files with the programs themselves."""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import box  # noqa: E402
import examples  # noqa: E402
import flags  # noqa: E402
import programs  # noqa: E402
import sources  # noqa: E402


def main():
    parser = argparse.ArgumentParser(prog="oracle", description=__doc__)
    parser.add_argument("which", choices=["flags", "box"])
    parser.add_argument("--root", default="/", help="the system whose programs are looked at")
    parser.add_argument("--cache", default="/var/tmp/doorward-oracle", help="where help texts and answers are kept")
    parser.add_argument("--only", nargs="*", help="names of program files")
    parser.add_argument("--most", type=int, default=300, help="of a program with more commands, look at so many")
    parser.add_argument("--specs", help="JSON `{command: {flag: nothing|value|unsure}}` with a `label`, for what is not installed")
    parser.add_argument("--update", action="store_true", help="write the list of differences and `checked`")
    options = parser.parse_args()
    chosen = [program for program in programs.read() if not options.only or program.stem in options.only]
    try:
        inside = box.Box(options.root)
    except box.Missing as missing:
        sys.exit(str(missing))
    if options.which == "flags":
        found, report = flags.run(inside, chosen, options), flags.report
    else:
        known = set(sources.builtins(sources.Sources(inside, options.cache)))
        found, report = examples.run(inside, options.cache, chosen, known), examples.report
    sys.exit(0 if report(found, options.update) else 1)


main()
