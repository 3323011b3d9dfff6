"""Serves the segments of a file under a name, or fetches those of one: python-ndn's first interface.

Usage: segments_v1.py serve NAME FILE | segments_v1.py fetch NAME FILE
"""

import sys

from ndn.app import NDNApp
from ndn.app_support.segment_fetcher import segment_fetcher
from ndn.encoding import Component, Name
from ndn.security import KeychainDigest

SIZE = 1000
VERSION = 7

mode, uri, path = sys.argv[1:]
app = NDNApp(keychain=KeychainDigest())


def serve() -> None:
    """Registers the name and answers until the process is ended."""
    with open(path, "rb") as file:
        content = file.read()
    name = Name.normalize(uri)
    versioned = name + [Component.from_version(VERSION)]
    metadata = name + [Component.from_str("32=metadata")]
    last = (len(content) - 1) // SIZE

    @app.route(name)
    def on_interest(asked, param, _app_param):
        if asked == metadata:
            reply = metadata + [Component.from_version(VERSION), Component.from_segment(0)]
            app.put_data(reply, Name.to_bytes(versioned), freshness_period=10)
            return
        segment = 0
        if asked[:-1] == versioned and Component.get_type(asked[-1]) == Component.TYPE_SEGMENT:
            segment = Component.to_number(asked[-1])
        elif not param.can_be_prefix:
            return
        if segment <= last:
            app.put_data(
                versioned + [Component.from_segment(segment)],
                content[segment * SIZE : (segment + 1) * SIZE],
                freshness_period=10_000,
                final_block_id=Component.from_segment(last),
            )

    app.run_forever()


async def fetch() -> None:
    """Fetches all segments, one after the other."""
    try:
        with open(path, "wb") as file:
            async for content in segment_fetcher(app, uri):
                file.write(content)
    finally:
        app.shutdown()


if mode == "serve":
    serve()
else:
    app.run_forever(after_start=fetch())
