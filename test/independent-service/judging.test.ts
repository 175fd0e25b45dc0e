import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DEPARTURES } from './departures.ts'
import { accusationsIn, check, idsOf } from './judging.ts'
import { MISSED, NAMES, OPEN } from './known.ts'
import { readLists, shameIn, writeLists } from './lists.ts'
import { play, Twins } from './playing.ts'
import { PLAIN } from './profile.ts'
import { usualSession } from './sessions.ts'

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

describe('an accusation', () => {
  it.for([
    [
      '[unexplained] GET /domains → 200: It came: {"message":"No; none."}. {unexplained/listDomains/200/data; 5ecb3e29}',
      'unexplained/listDomains/200/data',
    ],
    ['restoration: The account is not as before. ({"data":{}})', 'restoration'],
  ])('has an id, whatever it quotes: %s', ([text = '', id]) => {
    expect(idsOf([text])).toEqual([id])
  })

  it('has a name for each departure that something finds, and one alone', () => {
    const found = DEPARTURES.map(({ id }) => id).filter((id) => OPEN.verify[id] === undefined)
    expect(Object.values(NAMES).flat().toSorted()).toEqual(found.toSorted())
  })
})

describe('the lists in docs/conformance.md', () => {
  const page = readFileSync('docs/conformance.md', 'utf8')

  it('are in the order and under the headings of a page that is written anew', () => {
    expect(writeLists(page, readLists(page))).toBe(page)
  })

  it('have each departure', () => {
    expect([...readLists(page).keys()]).toEqual(DEPARTURES.map(({ id }) => id))
  })

  it('say nothing of a departure that is missed and not known to be', () => {
    expect(shameIn(page).filter((each) => !MISSED.includes(each))).toEqual([])
  })

  it('say that a departure is missed that is known to be; take away what was mended', () => {
    expect(MISSED.filter((each) => !shameIn(page).includes(each))).toEqual([])
  })
})
