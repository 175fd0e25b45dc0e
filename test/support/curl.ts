import { spawnSync } from 'node:child_process'

/** Whether there is a curl that knows `--json`. Tests that need one are skipped without it; CI installs it and skips none. */
export const HAS_CURL = spawnSync('curl', ['--json', '{}', '--version']).status === 0
