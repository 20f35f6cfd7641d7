#!/bin/sh
# Trains for a few updates with the recorder in place, and fails the build where the doctor finds a fault. Used by the workflows of docs/ci.md.
#   check.sh RUNS COMMAND...    RUNS: the folder that COMMAND records into
set -eu
runs=$1
shift
"$@"
trueline=${TRUELINE:-npx --yes trueline}
# The results are kept whatever the verdict is: as tests for the server, as text for the pull request.
$trueline check "$runs" --junit > trueline.xml || true
$trueline check "$runs" --markdown > trueline.md || true
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat trueline.md >> "$GITHUB_STEP_SUMMARY"; fi
$trueline check "$runs" --fail-on faulty,unexplained
