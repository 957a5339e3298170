"""The examples of README.md, against the real service."""

import asyncio
import re
import textwrap
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_examples_of_the_readme_work(service, read):
    example, asynchronous = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[:2]
    example = example.replace("http://127.0.0.1:3000", service.url)
    scope = {"read_month": lambda month: [month] * 2, "write": lambda rows: f"{len(rows)} rows"}

    exec(example, scope)

    assert read(scope["job"])["output"] == {"url": "24 rows"}
    header, _, body = asynchronous.partition("\n\n")
    scope["rows"], scope["total"] = numbered, 3
    exec(f"{header}\n\nasync def main():\n{textwrap.indent(body, '    ')}", scope)
    asyncio.run(scope["main"]())
    assert read(scope["job"])["output"] == {"rows": 3}


async def numbered():
    for i in range(3):
        yield i, i
