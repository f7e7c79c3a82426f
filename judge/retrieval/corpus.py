"""What the reference engine searches: documents and memories."""

from __future__ import annotations

from dataclasses import dataclass

DOCUMENT = "document"
MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Item:
    """A document, which is cut into chunks, or a memory, which is not and may decay.

    age_days: of a memory; one without an age counts as new
    """

    id: str
    text: str
    kind: str = DOCUMENT
    age_days: float = 0.0

    @property
    def is_memory(self) -> bool:
        """Tell whether this is a memory."""
        return self.kind == MEMORY
