"""What a page must not do is noticed, so that all the browser's tests fail on it."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from browser import Visitor

pytestmark = pytest.mark.real
pytest_plugins = ["browser"]

DEEDS = {
    "something stored": "localStorage.setItem('question', 'chien')",
    "a cookie: ": "document.cookie = 'question=chien'",
    "a request to somewhere else: http://other.invalid/": "open('http://other.invalid/')",
    "forbidden by the policy: img-src": "document.body.append(Object.assign(new Image(), {src: 'data:,x'}))",
    "forbidden by the policy: script-src-elem inline": """document.body.append(
        Object.assign(document.createElement('script'), {textContent: 'alert(2)'}))""",
    "an error of the script: no": "setTimeout(() => { throw new Error('no'); })",
    "told in the console: no": "console.warn('no')",
    "a dialog: chien": "setTimeout(() => alert('chien'))",
}


def test_what_must_not_be_done_is_noticed(visitor: "Visitor") -> None:
    page = visitor.open("/")
    for deed in DEEDS.values():
        page.evaluate(f"() => {{ {deed}; }}")
    noticed = [fault for fault in DEEDS if not fault.startswith(("something stored", "a cookie"))]
    for _ in range(100):
        if all(any(told.startswith(fault) for told in visitor.faults) for fault in noticed):
            break
        page.wait_for_timeout(100)
    with pytest.raises(AssertionError) as left:
        visitor.leave()
    for fault in DEEDS:
        assert fault in str(left.value)
