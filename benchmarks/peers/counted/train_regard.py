"""Train with regard, counting its batches: `train_regard.py RECORD train RECIPE ...`."""

import sys
from pathlib import Path
from typing import Any

from counting import Counter, Sizes, begin, tell

from regard import cli
from regard.data.batches import Batch
from regard.training import loop


def sizes(batch: Batch) -> Sizes:
    """`mask` and `source_mask` are true where a token is real; targets end with the end symbol."""
    target_tokens = int(batch.mask.sum())
    return Sizes(
        target_tokens,
        int(batch.source_mask.sum()) + target_tokens,
        batch.source_mask.numel() + batch.mask.numel(),
        len(batch.indices),
    )


def main() -> None:
    record = Path(sys.argv[1])
    begin(record, "regard")
    counter, update = Counter(record), loop.update

    def counted_update(session: Any, state: Any, batch: Batch) -> None:
        if counter.began is None:
            tell(record, parameters=sum(each.numel() for each in session.model.parameters()))
        counter.start()
        update(session, state, batch)
        counter.add(sizes(batch))

    loop.update = counted_update
    sys.argv = ["regard", *sys.argv[2:]]
    cli.main()


if __name__ == "__main__":
    main()
