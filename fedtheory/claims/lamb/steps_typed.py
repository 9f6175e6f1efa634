"""FED-LAMB, appendix A.2: lines of the proof as they are typed, beside those that lamb.steps reads."""

from fedtheory.claims.lamb._assumptions import ALL_CLIENTS, APART, H1, MOMENTS
from fedtheory.claims.lamb.steps import line
from fedtheory.symbols.lamb import (
    inner_move,
    loss_next,
    loss_now,
    sq_gap_11_typed,
    sq_momentum_11,
    sq_move_12,
)

CLAIMS = (
    line(
        "step11_typed",
        "(8) to (11), as typed",
        sq_gap_11_typed,
        0,
        relation="==",
        unstated=(ALL_CLIENTS, MOMENTS),
        weakened=sq_momentum_11,
        meaning="A move is the right-hand side of (11), with the sign that it has there.",
        note="Line 13 of algorithm 1 subtracts; (9) to (11) add.",
    ),
    line(
        "step12",
        "(12)",
        -inner_move,
        loss_now - loss_next + sq_move_12,
        (H1,),
        (APART,),
        weakened=loss_now - loss_next,
        meaning="(7) with the whole move in the place of each layer's.",
    ),
)
