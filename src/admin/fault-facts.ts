import type { Api } from '../contract/api.ts'
import { FAULT_KINDS, type FaultKind } from '../faults/kinds.ts'
import { valueAt } from '../ground/json.ts'

/** The text of the page about fault rules, from the document of the control plane. */
export interface FaultFacts {
  /** The kinds of faults. `respond` counts as two: an error of the service, and any other response. */
  kinds: readonly KindFacts[]
  /** Field of a rule → its meaning. */
  fields: Readonly<Record<string, string>>
  phases: Readonly<Record<'before' | 'after', string>>
}

export interface KindFacts extends Pick<FaultKind, 'field' | 'phase'> {
  name: string
  /** One sentence. */
  says: string
}

const RULE = '/components/schemas/FaultRule/properties'
const FIELDS = ['skip', 'times', 'probability', 'delay_ms', 'jitter_ms']
/** The document explains these two ways to respond. */
const WAYS_TO_RESPOND = ['error', 'status'] as const

export function describeFaults({ document }: Api): FaultFacts {
  const says = (pointer: string) => `${valueAt(document.resolved, `${RULE}${pointer}/description`)}`.trim()
  const kinds = Object.entries(FAULT_KINDS).flatMap(([name, { field, phase }]): KindFacts[] => {
    const factsOf = (kind: string, text: string) => ({ name: kind, field, phase, says: first(text) })
    if (field === 'respond') return WAYS_TO_RESPOND.map((way) => factsOf(way, says(`/respond/properties/${way}`)))
    return [factsOf(name, field === 'delay_ms' ? says('/delay_ms') : sentencesAbout(name, says(`/${field}`)))]
  })
  const phases = says('/phase')
  return {
    kinds,
    fields: Object.fromEntries(FIELDS.map((name) => [name, says(`/${name}`)])),
    phases: { before: sentencesAbout('before', phases), after: sentencesAbout('after', phases) },
  }
}

function first(sentences: string): string {
  return /^.*?\.(?= |$)/.exec(sentences)?.[0] ?? sentences
}

/** The sentences about one value in a description, in the form "`value`: sentences." Lines may break anywhere. */
function sentencesAbout(value: string, description: string): string {
  const text = description.replaceAll(/\s+/g, ' ')
  const start = text.indexOf(`\`${value}\`: `)
  if (start < 0) throw new Error(`The document of the control plane does not explain ${value}.`)
  const [about = ''] = text.slice(start + value.length + 4).split(/ `[\w-]+`: /, 1)
  return about.charAt(0).toUpperCase() + about.slice(1)
}
