"""python-ndn as an independent reader and writer of what crates/wire reads and writes.

    oracle.py read KEY.pem    packets in hex, one per line, on standard input; says what is in them
    oracle.py write KEY.pem   makes packets; says them in hex, and what is in them

One line per packet, the same as tests/wire/oracle.rs makes: a kind, then key=value, "-" for what is absent.
"""

import asyncio
import random
import sys

from Cryptodome.PublicKey import ECC
from ndn.encoding import (
    Component,
    InterestParam,
    MetaInfo,
    Name,
    SignatureType,
    make_data,
    make_interest,
    parse_data,
    parse_interest,
    parse_tl_num,
)
from ndn.encoding.ndnlp_v2 import LpPacket, LpPacketValue, NetworkNack, parse_lp_packet_v2
from ndn.security.signer.sha256_digest_signer import DigestSha256Signer
from ndn.security.signer.sha256_ecdsa_signer import Sha256WithEcdsaSigner
from ndn.security.validator.digest_validator import params_sha256_checker, sha256_digest_checker
from ndn.security.validator.known_key_validator import verify_ecdsa

INTEREST, DATA, LP_PACKET, PARAMETERS_DIGEST = 5, 6, 100, 2
KEY_NAME = "/k/KEY/1"
WRITTEN = 200


def line(kind, **fields):
    def text(value):
        if value is None:
            return "-"
        if isinstance(value, bool):
            return str(int(value))
        return str(value) if isinstance(value, int) else bytes(value).hex()

    return " ".join([kind] + [f"{key}={text(value)}" for key, value in fields.items()])


def components(name):
    """The name's components but the digest of parameters, which has its own check."""
    return b"".join(bytes(part) for part in name if Component.get_type(part) != PARAMETERS_DIGEST)


def key_name(info):
    locator = info.key_locator if info else None
    return components(locator.name) if locator and locator.name else None


def holds(name, pointers, public_key):
    info = pointers.signature_info
    if info is None:
        return None
    if info.signature_type == SignatureType.DIGEST_SHA256:
        return asyncio.run(sha256_digest_checker(name, pointers))
    return verify_ecdsa(public_key, pointers)


def describe_interest(wire, public_key):
    name, param, app_param, pointers = parse_interest(wire)
    info = pointers.signature_info
    hint = b"".join(bytes(Name.to_bytes(one)) for one in param.forwarding_hint)
    digest = None if app_param is None else asyncio.run(params_sha256_checker(name, pointers))
    return line(
        "interest",
        name=components(name),
        prefix=param.can_be_prefix,
        fresh=param.must_be_fresh,
        hint=hint or None,
        nonce=param.nonce,
        lifetime=param.lifetime,
        hops=param.hop_limit,
        parameters=app_param,
        digest=digest,
        signature=info.signature_type if info else None,
        key=key_name(info),
        stamp_nonce=info.signature_nonce if info else None,
        time=info.signature_time if info else None,
        sequence=info.signature_seq_num if info else None,
        holds=holds(name, pointers, public_key) and digest is not False if info else None,
    )


def describe_data(wire, public_key):
    name, meta, content, pointers = parse_data(wire)
    return line(
        "data",
        name=components(name),
        type=meta.content_type or 0,
        freshness=meta.freshness_period or 0,
        final=meta.final_block_id,
        content=content or b"",
        signature=pointers.signature_info.signature_type,
        key=key_name(pointers.signature_info),
        holds=holds(name, pointers, public_key),
    )


def describe_lp(wire):
    packet = parse_lp_packet_v2(wire)
    return line(
        "lp",
        token=packet.pit_token,
        nack=packet.nack.nack_reason if packet.nack else None,
        mark=packet.congestion_mark or 0,
        fragment=packet.fragment,
    )


def describe(wire, public_key):
    kind, _ = parse_tl_num(wire)
    if kind == INTEREST:
        return describe_interest(wire, public_key)
    return describe_data(wire, public_key) if kind == DATA else describe_lp(wire)


class Writer:
    """Makes random packets. What is in them is said from what went in, not from what came out."""

    def __init__(self, key):
        self.random = random.Random(1)
        self.key = key

    def some(self, value):
        return value if self.random.random() < 0.5 else None

    def number(self, bits):
        return self.random.getrandbits(bits) >> self.random.randrange(bits)

    def bytes(self, most):
        return self.random.randbytes(self.random.randrange(most + 1))

    def name(self):
        kinds = [8, 8, 8, 3, 32, 50, 54, 300, 65535]
        name = [Component.from_bytes(self.bytes(12), self.random.choice(kinds)) for _ in range(self.random.randint(1, 6))]
        return name + ([Component.from_segment(self.number(40))] if self.random.random() < 0.5 else [])

    def signer(self):
        if self.random.random() < 0.5:
            return DigestSha256Signer(), 0, None
        return Sha256WithEcdsaSigner(KEY_NAME, self.key), 3, components(Name.normalize(KEY_NAME))

    def interest(self):
        name, hint, parameters = self.name(), self.some([self.name()]), self.some(self.bytes(300))
        param = InterestParam(
            can_be_prefix=self.random.random() < 0.5,
            must_be_fresh=self.random.random() < 0.5,
            nonce=self.some(self.random.getrandbits(32)),
            lifetime=self.some(self.number(32)),
            hop_limit=self.some(self.random.getrandbits(8)),
            forwarding_hint=hint or [],
        )
        signer, kind, key = self.signer() if self.random.random() < 0.5 else (None, None, None)
        wire = make_interest(name, param, parameters, signer)
        if signer and parameters is None:
            parameters = b""
        return wire, line(
            "interest",
            name=components(name),
            prefix=param.can_be_prefix,
            fresh=param.must_be_fresh,
            hint=Name.to_bytes(hint[0]) if hint else None,
            nonce=param.nonce,
            lifetime=param.lifetime,
            hops=param.hop_limit,
            parameters=parameters,
            digest=None if parameters is None else True,
            signature=kind,
            key=key,
            stamp_nonce=None,
            time=None,
            sequence=None,
            holds=None if signer is None else True,
        )

    def data(self):
        name, content = self.name(), self.some(self.bytes(2000))
        kind, freshness = self.number(16), self.some(self.number(32))
        final = self.some(Component.from_segment(self.number(32)))
        signer, signature, key = self.signer()
        wire = make_data(name, MetaInfo(kind, freshness, final), content, signer)
        return wire, line(
            "data",
            name=components(name),
            type=kind,
            freshness=freshness or 0,
            final=final,
            content=content or b"",
            signature=signature,
            key=key,
            holds=True,
        )

    def lp(self):
        value = LpPacketValue()
        value.pit_token = self.some(self.random.randbytes(self.random.randint(1, 32)))
        value.incoming_face_id = self.some(self.number(32))
        value.congestion_mark = self.some(self.number(8))
        value.non_discovery = self.some(True)
        value.fragment, _ = self.random.choice([self.interest, self.data])()
        if self.random.random() < 0.3:
            value.nack = NetworkNack()
            value.nack.nack_reason = self.random.choice([50, 100, 150])
            value.fragment, _ = self.interest()
        packet = LpPacket()
        packet.lp_packet = value
        return packet.encode(), line(
            "lp",
            token=value.pit_token,
            nack=value.nack.nack_reason if value.nack else None,
            mark=value.congestion_mark or 0,
            fragment=value.fragment,
        )


def main():
    mode, path = sys.argv[1:]
    with open(path) as file:
        key = ECC.import_key(file.read())
    if mode == "read":
        for text in sys.stdin:
            print(describe(bytes.fromhex(text), key.public_key()))
        return
    writer = Writer(key.export_key(format="DER"))
    for make in [writer.interest, writer.data, writer.lp]:
        for _ in range(WRITTEN):
            wire, text = make()
            print(bytes(wire).hex(), text)


if __name__ == "__main__":
    main()
