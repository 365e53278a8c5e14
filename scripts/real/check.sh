#!/usr/bin/env bash
# Builds and checks programs that were not written for Raddle, one file each in scripts/real/programs. They are
# fetched by name, from Debian's source packages and from crates.io, into a temporary directory, and built there with
# the Raddle of this workspace.
#
#   scripts/real/check.sh                 all of them; the directory is removed at the end
#   scripts/real/check.sh pigz memcached  these
#   KEEP=1 scripts/real/check.sh          it is kept, with sources, reports and clips
#   BIN=DIR scripts/real/check.sh         with the raddle of this directory, which is not built first
#
# Each program is run under SEEDS seeds (default 21, a third for each of three strategies): the results have to be
# right, and every run has to replay event by event. Then it is checked: that has to end within LIMIT seconds
# (default 600), and the clips of confirmed bugs have to repeat TIMES times (default 20). Bugs that are found are
# told, and are no failure. Each test of a crate's own suite is checked for SUITE_TIME seconds at most (default 30).

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/real/library.sh
. "$here/library.sh"

check_programs "$here/programs" "$@"
