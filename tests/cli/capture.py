"""Counts the packets of a capture by kind, each read by python-ndn; Data must have a valid digest."""

import asyncio
import struct
import sys

from ndn.encoding import parse_data, parse_interest, parse_lp_packet_v2, parse_tl_num
from ndn.security import sha256_digest_checker


def payloads(path):
    with open(path, "rb") as file:
        content = file.read()
    at = 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == 6:
            size = struct.unpack_from("<I", content, at + 20)[0]
            yield content[at + 28 + 42:at + 28 + size]
        at += length


async def main():
    counts = {"interest": 0, "data": 0, "nack": 0, "marked": 0}
    for payload in payloads(sys.argv[1]):
        kind, _ = parse_tl_num(payload)
        nack = None
        if kind == 0x64:
            packet = parse_lp_packet_v2(payload, with_tl=True)
            nack = packet.nack
            counts["marked"] += packet.congestion_mark is not None
            payload = packet.fragment
            kind, _ = parse_tl_num(payload)
        if nack is not None:
            counts["nack"] += 1
        elif kind == 0x05:
            parse_interest(payload)
            counts["interest"] += 1
        else:
            name, _, content, signature = parse_data(payload)
            if content is not None and not await sha256_digest_checker(name, signature):
                sys.exit("a digest is not valid")
            counts["data"] += 1
    print(*(f"{kind}={count}" for kind, count in counts.items()))


asyncio.run(main())
