"""Positions as the papers define them, number by number in plain Python floats."""

import cmath
import math

from .transformer import position


def coordinate(pos: int, t: int, size: int) -> list[float]:
    """P^t_pos of the Universal Transformer (Dehghani et al. 2019, eq. 6, 7): pos and t from 1.

    P[pos, 2j] = sin(pos / 10000^(2j/d)) + sin(t / 10000^(2j/d)), cosines for 2j + 1.
    """
    return [float(a + b) for a, b in zip(position(pos, size), position(t, size), strict=True)]


def rotated(x: list[float], m: int, theta: float = 10000.0) -> list[float]:
    """R_m x: Su et al. 2021, eq. 15. Block i turns (x_2i, x_2i+1) by m theta^(-2i/d).

    [cos -sin]
    [sin  cos]
    """
    size = len(x)
    turned = [0.0] * size
    for i in range(size // 2):
        angle = m * theta ** (-2 * i / size)
        matrix = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        pair = x[2 * i : 2 * i + 2]
        for row in range(2):
            turned[2 * i + row] = sum(matrix[row][column] * pair[column] for column in range(2))
    return turned


def complex_dot(q: list[float], k: list[float], offset: int) -> float:
    """(R_m q) . (R_n k) from m - n alone: Re sum_i q_i conj(k_i) e^(i (m - n) theta_i), eq. 12."""
    total = 0j
    for i in range(len(q) // 2):
        one = complex(q[2 * i], q[2 * i + 1])
        other = complex(k[2 * i], k[2 * i + 1])
        angle = offset * 10000.0 ** (-2 * i / len(q))
        total += one * other.conjugate() * cmath.exp(1j * angle)
    return total.real


def slopes(heads: int) -> list[float]:
    """ALiBi's, as its authors compute them (Press et al. 2022, section 3 and their code)."""

    def of_power_of_two(n: int) -> list[float]:
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]

    if math.log2(heads).is_integer():
        return of_power_of_two(heads)
    closest = 2 ** math.floor(math.log2(heads))
    return of_power_of_two(closest) + slopes(2 * closest)[0::2][: heads - closest]


def bucket(offset: int, buckets: int, maximum_distance: int) -> int:
    """T5's bidirectional bucket of the offset j - i of a key from its query.

    Raffel et al. 2020, section 2.1: half of the buckets for each direction, keys ahead in the
    upper half; there the first half exact, the other half of the form
    exact + floor(log(n / exact) / log(maximum / exact) * (half - exact)), at most the last one.
    The floor is found in whole numbers: the greatest w with (maximum / exact)^w <=
    (n / exact)^(half - exact).
    """
    half = buckets // 2
    first = half if offset > 0 else 0
    n, exact = abs(offset), half // 2
    if n < exact:
        return first + n
    rest = half - exact
    w = 0
    while w < rest and maximum_distance ** (w + 1) * exact**rest <= n**rest * exact ** (w + 1):
        w += 1
    return first + min(exact + w, half - 1)
