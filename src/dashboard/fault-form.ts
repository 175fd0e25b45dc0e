import { createListener } from './actions.ts'
import type { RuleToAdd } from './calls.ts'
import { refreshTab } from './chosen-account.ts'
import { call } from './client.ts'
import { textOf } from './dialogs.ts'
import { findAll, findById, findWithin, options } from './elements.ts'
import { FACTS } from './facts.ts'

const USUAL_ERROR = 'rate_limited'

const form = findById('fault-form', HTMLFormElement)
const operations = findWithin(form, '[name=operation]', HTMLSelectElement)
const effects = findWithin(form, '[name=effect]', HTMLSelectElement)
const errors = findWithin(form, '[name=error]', HTMLSelectElement)

export function startFaultForm(): void {
  const choices = FACTS.operations.map(({ id, method, path }) => new Option(`${method} ${path} · ${id}`, id))
  operations.replaceChildren(new Option('all', ''), ...choices)
  findWithin(form, '[name=connection]', HTMLSelectElement).replaceChildren(...options(FACTS.connections))
  findWithin(form, '[name=corrupt]', HTMLSelectElement).replaceChildren(...options(FACTS.corruptions))
  form.addEventListener('submit', createListener(addFault))
  form.addEventListener('change', fitForm)
  fitForm()
}

async function addFault(): Promise<void> {
  await call('addFault', { body: readRule(new FormData(form)) })
  await refreshTab()
}

/** The rule in the form. Empty fields are left out, so the control plane applies its defaults or refuses the rule. */
function readRule(fields: FormData): RuleToAdd {
  const text = (name: string) => textOf(fields, name) || undefined
  const number = (name: string) => (textOf(fields, name) === '' ? undefined : Number(textOf(fields, name)))
  const operation = text('operation')
  return {
    ...(operation !== undefined && { match: { operation } }),
    ...readEffect(text, number),
    delay_ms: number('delay_ms'),
    times: number('times'),
    probability: number('probability'),
    phase: text('phase'),
  }
}

function readEffect(
  text: (name: string) => string | undefined,
  number: (name: string) => number | undefined,
): RuleToAdd {
  switch (effects.value) {
    case 'error':
      return { respond: { error: text('error') } }
    case 'status':
      return { respond: { status: number('status'), body: text('body') } }
    case 'connection':
      return { connection: text('connection') }
    case 'corrupt':
      return { corrupt: text('corrupt') }
    default:
      return {}
  }
}

/** Shows the fields that the effect needs, and offers the errors that the operation can answer with. */
function fitForm(): void {
  for (const label of findAll(form, '[data-effect]', HTMLLabelElement)) {
    label.hidden = label.dataset['effect'] !== effects.value
    for (const field of [...label.querySelectorAll('input'), ...label.querySelectorAll('select')]) {
      field.disabled = label.hidden
    }
  }
  const chosen = FACTS.operations.filter(({ id }) => operations.value === '' || id === operations.value)
  const codes = [...new Set(chosen.flatMap((operation) => operation.codes))].sort()
  const previous = errors.value
  errors.replaceChildren(...options(codes))
  errors.value = [previous, USUAL_ERROR, ...codes].find((code) => codes.includes(code)) ?? ''
}
