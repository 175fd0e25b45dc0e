import { spawnSync } from 'node:child_process'
import { it } from 'vitest'
import { expectReproduced } from './reproduced.ts'

const PYTHON = ['python3', '/usr/bin/python3'].find((python) => spawnSync(python, ['-c', 'import pytest']).status === 0)

it.skipIf(PYTHON === undefined)(
  'The code that sends a request again passes with pytest, for each outcome',
  async () => {
    await expectReproduced('pytest', `${PYTHON} -m pytest -q -p no:cacheprovider`)
  },
)
