# Selects the innermost frame of the user's code in the thread at which gdb has stopped: its source is there to be
# shown, and is not that of a language's library.
import os

import gdb

LIBRARIES = ("/rustc/", "/.cargo/registry/", "/usr/include/", "/usr/lib/", "raddle-rt/src/")


def is_own(frame):
    table = frame.find_sal().symtab
    if table is None or any(part in table.fullname() for part in LIBRARIES):
        return False
    return os.path.exists(table.fullname())


frame = gdb.newest_frame() if gdb.selected_thread() else None
while frame is not None and not is_own(frame):
    frame = frame.older()
if frame is not None:
    frame.select()
    gdb.execute("frame")
