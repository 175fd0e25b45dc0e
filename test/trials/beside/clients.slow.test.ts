import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadContract } from '../../../src/contract/contract.ts'
import { writeShellLine } from '../../../src/ground/shell-word.ts'
import { countChanges } from '../../../src/trials/beside/schedule.ts'
import { PairSession } from '../../../src/trials/beside/session.ts'
import { budget } from '../../support/budget.ts'
import { establish } from './open-session.ts'
import { fixture } from './racers.ts'

const contract = await loadContract({ longestWindow: 2 })
const client = (name: string) => join(import.meta.dirname, '../clients', name)
const PROGRAMS: Readonly<Record<string, string[]>> = {
  js: [process.execPath, client('races.mjs')],
  py: ['python3', client('races.py')],
  sh: ['sh', client('races.sh')],
}
/** The command of `js append b.example`. */
function commandOf(words: string): string[] {
  const [language = '', ...rest] = words.split(' ')
  return [...(PROGRAMS[language] ?? []), ...rest]
}

const RACES: [one: string, other: string, found: string[], switches?: number][] = [
  ['py append b.example', 'js append c.example', ['lost update 1', 'lost update 1']],
  ['js appendTwo b.example c.example', 'sh read', ['lost update 0+1', 'lost update 0+2']],
  ['py release d.example', 'py use d.example', ['lost update 1']],
  ['js ensure New', 'sh ensure New', ['false failure 1', 'false failure 1']],
  ['js readEach', 'js recreate', ['false failure 1']],
  [
    'js appendAndReport b.example',
    'js addAndReport c.example',
    ['false failure 1', 'lost update 2', 'wrong success 1'],
  ],
  ['py append b.example', 'js recreate', ['lost update 1']],
  ['js lockBoth One Two', 'js lockBoth Two One', ['hang 1'], 1],
  ['js appendAlone b.example', 'js appendAlone c.example', ['lost update 2', 'lost update 2']],
  ['js add b.example', 'js add c.example', []],
  ['js monitor x.example', 'js monitorAtOnce y.example z.example', []],
  ['js appendLocked b.example', 'js appendLocked c.example', []],
]

describe('explore --beside finds', { timeout: 120_000 }, () => {
  it.for(RACES.slice(0, budget({ quick: 1, whole: 2, full: RACES.length })))(
    'in %s and %s: %j',
    async ([one, other, expected, switches = 2]) => {
      const session = new PairSession({
        ...{
          command: commandOf(one),
          beside: writeShellLine(commandOf(other)),
          environment: { ...process.env, CLIENT_TIMEOUT: '60000' },
        },
        ...{ variables: [], options: { fixture }, contract, jobs: 2, switches, timeout: undefined },
        ...{ runs: undefined, milliseconds: undefined, stop: new AbortController().signal },
        ...{ onSignal: undefined, watch: () => {} },
      })
      const { findings, flaky, unjudged, left, isReliable } = await session.search(await establish(session))
      const found = findings.map(({ verdict, schedule, run }) => {
        const changes = countChanges(schedule, run.end.steps)
        return `${verdict} ${changes.switches}${changes.overtakings === 0 ? '' : `+${changes.overtakings}`}`
      })
      expect(found.toSorted()).toEqual(expected)
      expect({ flaky, unjudged, left, isReliable }).toEqual({ flaky: [], unjudged: 0, left: 0, isReliable: true })
    },
  )
})
