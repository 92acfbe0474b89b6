"""What every check here is made with."""

import os
import traceback
from contextlib import contextmanager


@contextmanager
def check(name):
    """Runs one check: a line of transcript if it holds, else what was expected and seen, and (by default) the end."""
    try:
        yield
    except BaseException:
        print(f"not ok {name}")
        print("  " + traceback.format_exc().rstrip().replace("\n", "\n  "), flush=True)
        if not os.environ.get("KEEP_GOING"):
            os._exit(1)
    else:
        print(f"ok {name}", flush=True)


def same(seen, expected):
    assert seen == expected, f"expected {expected!r}, seen {seen!r}"
