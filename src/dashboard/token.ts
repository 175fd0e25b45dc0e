import { openDialog, textOf } from './dialogs.ts'
import { element } from './elements.ts'

let asking: Promise<void> | undefined

/** The token of the control plane, as far as this tab was told; no other tab sees it. */
export function readToken(): string | null {
  return sessionStorage.getItem('token')
}

/** Asks for the token, once for all who need it meanwhile, until the person gives one. */
export function askForToken(wrong: boolean): Promise<void> {
  asking ??= ask(wrong).finally(() => {
    asking = undefined
  })
  return asking
}

async function ask(wrong: boolean): Promise<void> {
  const note = wrong ? 'This token is not the right one.' : 'It is the one of --admin-token. This tab alone keeps it.'
  const attributes = { name: 'token', type: 'password', required: true, pattern: '[!-~]+', autocomplete: 'off' }
  const content = [element('p', { class: 'soft' }, note), element('label', {}, 'Token', element('input', attributes))]
  await openDialog('The control plane needs its token', content, {
    submit: 'Go on',
    lasting: true,
    work: (fields) => sessionStorage.setItem('token', textOf(fields, 'token')),
  })
}
