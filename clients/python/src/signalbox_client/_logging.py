"""A handler of the standard library's logging that adds records to the log of a step."""

from __future__ import annotations

import logging

from ._reports import BaseReporter


class StepLogHandler(logging.Handler):
    """
    Adds each record to the log of a step, and never waits for the service.

        logging.getLogger().addHandler(StepLogHandler(step))
    """

    def __init__(self, step: BaseReporter, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self._step = step
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        # The client's own records would be sent again and again while the service is away.
        if record.name.split(".")[0] == "signalbox_client":
            return
        try:
            self._step.log(self.format(record))
        except Exception:
            self.handleError(record)
