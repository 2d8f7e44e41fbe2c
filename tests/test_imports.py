from __future__ import annotations

import subprocess
import sys

from market import registry


def test_a_retailers_process_imports_nothing_heavy() -> None:
    """What import contracts cannot see: imports by name, and those inside functions."""
    kinds = [registry.environment_kind(name) for name in registry.ENVIRONMENTS]
    paths = sorted({*registry.POLICIES.values(), *(p for k in kinds for p in k.policies.values())})
    code = (
        "import sys; from market import registry\n"
        f"for path in {paths!r}: registry.load(path)\n"
        "heavy = {'numpy', 'pandas', 'numba', 'scipy', 'pyarrow', 'pydantic', 'torch', 'litellm'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
