import { button } from './actions.ts'
import { addPart } from './chosen-account.ts'
import { call } from './client.ts'
import { element, findById, meter, options } from './elements.ts'
import { formatInstant } from './formatting.ts'
import type { Quota } from './responses.ts'
import { selection } from './selection.ts'

const list = findById('quotas', HTMLElement)
const picker = findById('quota-key', HTMLSelectElement)

let quotas: readonly Quota[] = []
/** The key whose quotas are shown; null where the keys of the account share them. */
let shownKey: string | null | undefined

export function startQuotas(): void {
  addPart({
    load: loadQuotas,
    forget() {
      shownKey = undefined
    },
  })
  picker.addEventListener('change', () => {
    shownKey = picker.value
    showQuotas()
  })
}

export async function loadQuotas(): Promise<void> {
  const { account } = selection
  const answer = await call('getQuotas')
  if (account !== selection.account) return
  quotas = answer.quotas
  const keys = [...new Set(quotas.map(({ key }) => key))]
  if (shownKey === undefined || !keys.includes(shownKey)) shownKey = keys[0]
  // A list that is open must not change under the pointer.
  if (document.activeElement !== picker) {
    picker.replaceChildren(...options(keys.filter((key) => key !== null)))
    picker.value = shownKey ?? ''
    picker.hidden = keys.length < 2
  }
  showQuotas()
}

function showQuotas(): void {
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['quota'] : undefined
  list.replaceChildren(...quotas.filter(({ key }) => key === shownKey).map(quotaLine))
  if (focused === undefined) return
  const buttons = [...list.querySelectorAll('button')]
  buttons.find(({ dataset }) => dataset['quota'] === focused)?.focus()
}

function quotaLine(quota: Quota): HTMLElement {
  const { bucket, limit, remaining, resets_at } = quota
  return element(
    'div',
    { class: 'quota', title: `The window ends at ${formatInstant(resets_at)}.` },
    element('span', { class: 'mono' }, `/${bucket}`),
    meter(remaining / limit, `Remaining quota of ${bucket}`, `${remaining} of ${limit}`),
    element('span', { class: 'count' }, `${remaining} / ${limit}`),
    element('span', { class: 'row' }, setButton(quota, 'Use up', 0), setButton(quota, 'Refill', limit)),
  )
}

function setButton({ key, bucket }: Quota, words: string, remaining: number): HTMLButtonElement {
  async function set(): Promise<void> {
    await call('updateQuota', { body: { bucket, remaining, ...(key !== null && { key }) } })
    await loadQuotas()
  }
  const node = button(words, set, 'small')
  node.dataset['quota'] = `${bucket} ${words}`
  node.ariaLabel = `${words} the quota of ${bucket}`
  return node
}
