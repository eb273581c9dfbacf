"""Times, in seconds, by which others count a driver as gone, beside one another.

A driver says that it lives: a worker every `BEAT`, any other process about once a second while it drives runs
(`LISTEN` in `engine/drive/inbox.py`). A commit shows for `FRESH` seconds (`engine/drive/commits.py`) that the run is
still its driver's: nobody may count a driver as gone sooner. How long a driver itself tries to reach PostgreSQL
is said by its address (`patience` in `store/postgres/address.py`).
"""

from __future__ import annotations

#: Between two signs of life of a worker, and between two of its looks for runs whose drivers give none.
BEAT = 0.5

# Workers look all the time (`heartbeats.py`, asked by `runs/worker_driver.py`).

#: A look at the drivers that is younger than half of this is used again; a worker looks every `BEAT`.
LOOK = 0.5
#: A driver that says nothing for so long has gone, though it is connected: it stands still, or is cut off.
SILENT = 5.0
#: The same for one whose connection to the store is gone, too: its process has died, or is cut off from it.
DISCONNECTED = 1.0
#: For how much silence a look counts at most: a process that stood still itself has noticed nothing meanwhile.
MOST_PER_LOOK = 0.75
#: Between two looks at one driver that may have gone.
LOOK_AGAIN = 0.2
#: For how long a drive that is just leaving is waited for.
LEAVING = 1.6
#: A run that could not be taken over is tried again after so long.
TAKE_OVER_AGAIN = 20.0

# Who asks once, as the command line does, knows only when the driver was seen last (`presence.py`).

#: A driver that was seen within this time drives.
SEEN_WITHIN = SILENT

# Every process with a queue sweeps the store now and then (`pending_sweep.py`).

#: Between two sweeps of a process, more or less.
SWEEP = 3.0
#: A run whose driver was silent for so long, or that nobody drives, is looked at.
SWEPT_AFTER = SILENT

# A server without a queue looks after what another process left behind (`server/caretaker.py`).

#: Between two looks.
CARE = 5.0
#: A run whose driver was silent for so long is taken up.
TAKEN_UP_AFTER = 8.0
#: A run that was taken up, or could not be, is looked at again after so long.
TAKE_UP_AGAIN = 60.0
