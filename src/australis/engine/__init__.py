"""The real world: files of tuples, a Java to run on, a Spark session.

Comes in: settings and files. Goes out: Arrow tables of what the files hold (`files`), and a `SparkSession`
set up for trains (`session.local_session`). Importing the room starts nothing. It is a stranger to the
simulator: both run the same policies.
"""

import logging

# Who uses the engine as a library decides what becomes of its messages: without a word from them, nothing.
logging.getLogger("australis").addHandler(logging.NullHandler())
