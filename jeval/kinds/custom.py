"""custom: any one condition in words, with outcomes the rubric describes itself."""

from jeval.kinds.base import instruct
from jeval.kinds.three_outcomes import ThreeOutcomes
from jeval.question import Question, choice

__all__ = ["Custom"]

_WORDINGS = (
    "Judge assistant_response by this one criterion:",
    "Which outcome describes assistant_response best, when nothing but the following matters?",
)
_INSUFFICIENT = "The state does not hold what is needed to tell."


class Custom(ThreeOutcomes):
    """Asks one choice: acceptable, unacceptable or insufficient_context, as the rubric describes them."""

    def question(self, reader: int) -> Question:
        own = self.rubric.outcomes
        texts = (own.acceptable, own.unacceptable, own.insufficient or _INSUFFICIENT)
        return choice(instruct(_WORDINGS[reader], self.rubric.criterion), dict(zip(self.names, texts, strict=True)))
