"""The numbers that the paper on distributed eddies prints, by table and routing policy."""

from __future__ import annotations

from collections.abc import Mapping

POLICIES = ("T", "Q", "SC", "WSC", "SCQ", "WSCQ")
S3_RATES = (200, 210, 220, 230, 240)
S3: Mapping[str, tuple[float, ...]] = {
    "T": (0.35, 22, 26, 35, 45),
    "Q": (1.5, 2.1, 2.6, 3, 3.8),
    "SC": (0.11, 2.3, 23, 34, 44),
    "WSC": (0.12, 0.49, 9.0, 20, 29),
    "SCQ": (0.54, 0.95, 1.2, 1.4, 2.2),
    "WSCQ": (0.22, 0.44, 0.61, 0.8, 1.6),
}
"""Response times of S3 (Table 4.10)."""
DS3_RATES = (200, 300, 400, 500)
DS3: Mapping[str, tuple[float, ...]] = {
    "T": (0.06, 0.27, 0.56, 20),
    "Q": (0.99, 81, 512, 760),
    "SC": (0.04, 0.74, 208, 332),
    "WSC": (0.04, 0.07, 50, 124),
    "SCQ": (0.05, 0.18, 0.29, 0.6),
    "WSCQ": (0.05, 0.12, 0.45, 0.8),
}
"""Response times of DS3 (Table 5.2)."""


def _by_policy(*numbers: float) -> Mapping[str, float]:
    return dict(zip(POLICIES, numbers, strict=True))


MEANS: Mapping[str, Mapping[str, float]] = {
    "4.11": _by_policy(158, 66.6, 6.0, 4.7, 3.7, 1.92),
    "4.12": _by_policy(35, 150, 194, 277, 349, 347),
    "4.13": _by_policy(331, 3.3, 21, 26, 1.52, 1.3),
    "4.14": _by_policy(22, 94, 61, 63, 96, 97),
    "5.3": _by_policy(311, 175, 250, 835, 1315, 1297),
    "5.4": _by_policy(607, 1247, 248, 34, 17, 31),
    "5.5": _by_policy(71, 323, 3030, 89, 21, 19),
    "5.6": _by_policy(561, 428, 99, 279, 691, 657),
}
"""Geometric means of response times and of maximum data rates."""
