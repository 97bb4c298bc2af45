"""The demo: two small models trained, measured and looked into in a few minutes, on own data."""

from regard.demo.page import write_page
from regard.demo.run import Outcome, run_task
from regard.demo.tasks import Task, pronouncer, translator

__all__ = ["Outcome", "Task", "pronouncer", "run_task", "translator", "write_page"]
