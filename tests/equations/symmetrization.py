"""The pseudo-code of Koehn, Och and Marcu (2003) as Moses publishes it, line by line.

    GROW-DIAG-FINAL(e2f,f2e):
      neighboring = ((-1,0),(0,-1),(1,0),(0,1),(-1,-1),(-1,1),(1,-1),(1,1))
      alignment = intersect(e2f,f2e);
      GROW-DIAG(); FINAL(e2f); FINAL(f2e);

    GROW-DIAG():
      iterate until no new points added
        for english word e = 0 ... en
          for foreign word f = 0 ... fn
            if ( e aligned with f )
              for each neighboring point ( e-new, f-new ):
                if ( ( e-new not aligned or f-new not aligned ) and
                     ( e-new, f-new ) in union( e2f, f2e ) )
                  add alignment point ( e-new, f-new )

    FINAL-AND(a):
      for english word e-new = 0 ... en
        for foreign word f-new = 0 ... fn
          if ( ( e-new not aligned and f-new not aligned ) and
               ( e-new, f-new ) in alignment a )
            add alignment point ( e-new, f-new )

Here points are (foreign, english): the source is foreign, the target English.
"""

NEIGHBORING = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))
Points = set[tuple[int, int]]


def grow_diag(e2f: Points, f2e: Points, en: int, fn: int) -> Points:
    """GROW-DIAG from the intersection."""
    alignment = e2f & f2e
    added = True
    while added:
        added = False
        for e in range(en):
            for f in range(fn):
                if (f, e) in alignment:
                    for down, right in NEIGHBORING:
                        e_new, f_new = e + down, f + right
                        if (
                            not e_aligned(e_new, alignment) or not f_aligned(f_new, alignment)
                        ) and (f_new, e_new) in e2f | f2e:
                            alignment.add((f_new, e_new))
                            added = True
    return alignment


def grow_diag_final_and(e2f: Points, f2e: Points, en: int, fn: int) -> Points:
    """GROW-DIAG, then FINAL-AND of both directions."""
    alignment = grow_diag(e2f, f2e, en, fn)
    for a in (e2f, f2e):
        for e_new in range(en):
            for f_new in range(fn):
                if (not e_aligned(e_new, alignment) and not f_aligned(f_new, alignment)) and (
                    f_new,
                    e_new,
                ) in a:
                    alignment.add((f_new, e_new))
    return alignment


def e_aligned(e: int, alignment: Points) -> bool:
    return any(other == e for _, other in alignment)


def f_aligned(f: int, alignment: Points) -> bool:
    return any(other == f for other, _ in alignment)
