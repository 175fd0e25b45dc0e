import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DEPARTURES } from './departures.ts'
import { accusationsIn, check } from './judging.ts'
import { MISSED } from './known.ts'
import { play, Twins } from './playing.ts'
import { PLAIN } from './profile.ts'
import { usualSession } from './sessions.ts'
import { readTable, shameIn } from './table.ts'

const SAMPLE = ['no-success', 'added-count-off', 'first-group-for-all', 'record-twice', 'no-members-shown']

describe('check of a usual day', () => {
  it('accuses no service that keeps the specification', async () => {
    expect(accusationsIn(await check(play(usualSession, new Twins(PLAIN))))).toEqual([])
  })

  it.for(SAMPLE)('finds that something is wrong: %s', async (name) => {
    const wrong = DEPARTURES.find(({ id }) => id === name)
    expect(wrong).toBeDefined()
    expect(accusationsIn(await check(play(usualSession, new Twins(PLAIN, wrong))))).not.toEqual([])
  })
})

describe('the table in docs/conformance.md', () => {
  const page = readFileSync('docs/conformance.md', 'utf8')

  it('has a row for each departure', () => {
    expect([...readTable(page).keys()]).toEqual(DEPARTURES.map(({ id }) => id))
  })

  it('says nothing of a departure that is missed and not known to be', () => {
    expect(shameIn(page).filter((each) => !MISSED.includes(each))).toEqual([])
  })

  it('says that a departure is missed that is known to be; take away what was mended', () => {
    expect(MISSED.filter((each) => !shameIn(page).includes(each))).toEqual([])
  })
})
