"""Asks python-ndn's producer.py in every way that the packet format knows; a line for each answer."""

from hashlib import sha256

from ndn.appv2 import NDNApp, pass_all
from ndn.encoding import Component, Name
from ndn.security import DigestSha256Signer
from ndn.types import InterestNack, InterestTimeout

app = NDNApp()


async def ask(what: str, name, **how):
    """Prints what comes, and gives name, content and context of a Data."""
    how.setdefault("lifetime", 20_000)
    try:
        name, content, context = await app.express(name, validator=pass_all, **how)
        print(what, Name.to_str(name), bytes(content).decode())
        return name, content, context
    except InterestNack as nack:
        print(what, "Nack", nack.reason)
    except InterestTimeout:
        print(what, "timeout")
    return None


async def ask_all() -> None:
    """Every question; the numbers of the answers tell who answered."""
    await ask("no-route", "/nobody/here")
    first = await ask("stale-1", "/py/stale", must_be_fresh=False)
    await ask("stale-cached", "/py/stale", must_be_fresh=False)
    await ask("stale-again", "/py/stale", must_be_fresh=True)
    await ask("fresh-1", "/py/fresh", must_be_fresh=True)
    await ask("fresh-cached", "/py/fresh", must_be_fresh=True)
    await ask("prefix", "/py/long", can_be_prefix=True)
    await ask("prefix-cached", "/py/long", can_be_prefix=True, must_be_fresh=True)
    await ask("exact", "/py/long", can_be_prefix=False, lifetime=300)
    _, _, context = await ask("long", "/py/long/longer", must_be_fresh=False)
    digest = sha256(context["raw_packet"]).digest()
    full = Name.normalize("/py/long/longer") + [Component.from_bytes(digest, Component.TYPE_IMPLICIT_SHA256)]
    _, _, context = await ask("digest", full)
    print("digest-same", sha256(context["raw_packet"]).digest() == digest)
    wrong = full[:-1] + [Component.from_bytes(bytes(32), Component.TYPE_IMPLICIT_SHA256)]
    await ask("wrong-digest", wrong, lifetime=300)
    assert first is not None
    signer = DigestSha256Signer(for_interest=True)
    _, content, _ = await app.express("/py/command", validator=pass_all, app_param=b"forward", signer=signer)
    print("command", bytes(content).decode())


async def main() -> None:
    """Ends the application whatever happens."""
    try:
        await ask_all()
    finally:
        app.shutdown()


app.run_forever(after_start=main())
