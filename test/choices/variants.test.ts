import { describe, expect, it } from 'vitest'
import { CODES_OUTSIDE, PRECEDENCE } from '../../src/choices/variant.ts'
import { Variants } from '../../src/choices/variants.ts'
import { Investigation } from '../../src/conformance/investigation.ts'
import type { Choices } from '../../src/contract/choices.ts'
import { play } from '../independent-service/playing.ts'
import { HONEST_PROFILES } from '../independent-service/profile.ts'
import { IndependentService } from '../independent-service/service.ts'
import { usualSession } from '../independent-service/sessions.ts'
import { choices } from '../support/choices.ts'

describe('the assumptions that can concern a request', async () => {
  const variants = await Variants.load(choices)
  const concerned = (names: readonly string[], ...reads: readonly string[]) =>
    variants.concerned('listDomains', variants.hostnamesAmong(new Set(names)), new Set(reads)).map(({ id }) => id)

  it('are none about a plain request whose answer rests on nothing', () => {
    expect(concerned([])).toEqual([])
    expect(concerned(['a.example', 'mail.b-c.example'])).toEqual([])
  })

  it('are that about public suffixes for a name that is one', () => {
    expect(concerned(['a.example', 'co.uk'])).toEqual(['public-suffixes'])
  })

  it('are all about hostnames for an unusual name', () => {
    expect(concerned(['co.uk', 'under_score.example'])).toContain('underscores')
    expect(concerned(['a.example.', 'b.example'])).toContain('final-dot')
  })

  it('are those about the codes that an answer rests on', () => {
    expect(concerned([], PRECEDENCE)).toEqual(['precedence'])
    expect(concerned([], CODES_OUTSIDE)).toEqual(['status-wrong-method'])
  })
})

describe('the variants that a judgement compiles', () => {
  it('are compiled once, however many exchanges are judged', async () => {
    let compiled = 0
    const counting: Choices = {
      ...choices,
      compile(alternatives) {
        compiled++
        return choices.compile(alternatives)
      },
    }
    const exchanges = HONEST_PROFILES.flatMap((profile) => play(usualSession, new IndependentService(profile)))
    const investigation = await Investigation.begin({ choices: counting, isSoleWriter: true })
    for (const exchange of exchanges) await investigation.take(exchange)
    const first = compiled
    investigation.forget()
    for (const exchange of exchanges) await investigation.take({ ...exchange, at: exchange.at + 86_400_000 })
    expect(compiled).toBe(first)
    // Permitted and Variants ask for each single alternative, and Permitted for those that can only be told together.
    expect(first).toBeLessThan(3 * choices.alternatives.length)
  })
})
