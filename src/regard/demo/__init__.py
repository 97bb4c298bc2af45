"""The demo: small models trained, measured and looked into in a few minutes, on own data."""

from regard.demo.outcome import Outcome, measure
from regard.demo.page import write_page
from regard.demo.side_by_side import Job, train_side_by_side
from regard.demo.task import Task
from regard.demo.tasks import LANES, TASKS

__all__ = [
    "LANES",
    "TASKS",
    "Job",
    "Outcome",
    "Task",
    "measure",
    "train_side_by_side",
    "write_page",
]
