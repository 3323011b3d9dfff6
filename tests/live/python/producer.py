"""Answers under /py with python-ndn's second interface, until the process is ended.

/py/stale  the number of the answer, never fresh
/py/fresh  the number of the answer, fresh for a minute
/py/long   a Data whose name is longer than the one asked for
/py/command  the parameters of a signed Interest, turned round
"""

from ndn.appv2 import NDNApp
from ndn.encoding import Component, Name
from ndn.security import KeychainDigest, sha256_digest_checker
from ndn.types import ValidResult

app = NDNApp()
signer = KeychainDigest().get_signer({})
answers = 0


def numbered(name, reply, **meta) -> None:
    """Answers with one more than the last time."""
    global answers
    answers += 1
    reply(app.make_data(name, str(answers).encode(), signer=signer, **meta))


async def check(name, sig, _context) -> ValidResult:
    """Whether the digest that stands for a signature is right."""
    return ValidResult.PASS if await sha256_digest_checker(name, sig) else ValidResult.FAIL


@app.route("/py/stale")
def on_stale(name, _parameters, reply, _context) -> None:
    numbered(name, reply)


@app.route("/py/fresh")
def on_fresh(name, _parameters, reply, _context) -> None:
    numbered(name, reply, freshness_period=60_000)


@app.route("/py/long")
def on_long(name, _parameters, reply, _context) -> None:
    numbered(Name.normalize(name) + [Component.from_str("longer")], reply, freshness_period=60_000)


@app.route("/py/command", validator=check)
def on_command(name, parameters, reply, _context) -> None:
    reply(app.make_data(name, bytes(parameters)[::-1], signer=signer))


app.run_forever()
