import { call } from './client.ts'
import { type Child, element, findById, nodesOf } from './elements.ts'
import { describeExplanation } from './explanation.ts'
import { describeError, showFailure } from './notices.ts'
import { type ListedRequest, listedRequests, statusBadge, targetOf } from './requests.ts'

const rows = findById('request-rows', HTMLTableSectionElement)
const drawer = findById('drawer', HTMLDialogElement)
const detail = findById('detail', HTMLElement)
const newer = findById('newer', HTMLButtonElement)
const older = findById('older', HTMLButtonElement)

/** The ordinal of the request whose details are shown. */
let open: number | undefined

export function startRequestDetails(): void {
  rows.addEventListener('click', ({ target }) => {
    const row = target instanceof Element ? target.closest('tr') : null
    const entry = listedRequests().find(({ ordinal }) => String(ordinal) === row?.dataset['ordinal'])
    if (entry !== undefined) openRequest(entry).catch(showFailure)
  })
  newer.addEventListener('click', () => step(-1))
  older.addEventListener('click', () => step(1))
  findById('drawer-close', HTMLButtonElement).addEventListener('click', () => drawer.close())
  drawer.addEventListener('close', () => {
    // The event comes a little after the dialog has closed, and the dialog may be open again.
    if (!drawer.open) open = undefined
  })
  // A click on the backdrop has the dialog itself as its target.
  drawer.addEventListener('click', ({ target }) => {
    if (target === drawer) drawer.close()
  })
  drawer.addEventListener('keydown', stepByKey)
}

async function openRequest(entry: ListedRequest): Promise<void> {
  const { ordinal, method, status } = entry
  const title = element('h2', { class: 'mono' }, `${method} ${targetOf(entry)} `, statusBadge(status))
  const show = (...content: Child[]) => detail.replaceChildren(title, ...nodesOf(content))
  open = ordinal
  newer.disabled = listedRequests()[0] === entry
  older.disabled = listedRequests().at(-1) === entry
  show(element('p', { class: 'soft' }, 'Loading the explanation…'))
  if (!drawer.open) drawer.showModal()
  drawer.scrollTop = 0
  let content: Child
  try {
    content = describeExplanation(await call('explainRequest', { parameters: { 'request-id': entry.request_id } }))
  } catch (error) {
    content = element('div', { class: 'refusal bad' }, describeError(error))
  }
  // Another request may have been opened meanwhile.
  if (open === ordinal) show(content)
}

/** Opens the request before or after the open one. */
function step(by: number): void {
  const index = listedRequests().findIndex(({ ordinal }) => ordinal === open)
  const next = index < 0 ? undefined : listedRequests()[index + by]
  if (next !== undefined) openRequest(next).catch(showFailure)
}

function stepByKey(event: KeyboardEvent): void {
  const by = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : undefined
  // In a body, the arrow keys scroll. With a modifier key, they belong to the browser.
  const inBody = event.target instanceof Element && event.target.matches('pre')
  if (by === undefined || inBody || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
  event.preventDefault()
  step(by)
}
