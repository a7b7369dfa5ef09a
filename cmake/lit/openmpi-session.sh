#!/bin/sh
# openmpi-session.sh COMMAND...: runs an Open MPI program or launcher in a session folder of its own.
#
# Launchers share one folder by default. One that ends removes it where it is empty, which it can be just
# when another, beginning, is to make its own in it: that one fails ("orte_session_dir failed").
folder=$(mktemp -d) || exit
trap 'rm -rf "$folder"' EXIT
trap 'exit 143' TERM
OMPI_MCA_orte_tmpdir_base=$folder "$@"
