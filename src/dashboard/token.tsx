import { openDialog } from './ui/dialog.tsx'
import { textOf } from './ui/form.tsx'

let asking: Promise<void> | undefined
/** The token if the browser does not let the page store it. It is lost when the page is reloaded. */
let unstored: string | null = null

/** The token of the control plane, if the user gave it in this browser tab. Other tabs do not have it. */
export function readToken(): string | null {
  if (unstored !== null) return unstored
  try {
    return sessionStorage.getItem('token')
  } catch {
    return null
  }
}

function keepToken(token: string): void {
  try {
    sessionStorage.setItem('token', token)
    unstored = null
  } catch {
    unstored = token
  }
}

/** Asks for the token once for all waiting requests. The dialog stays open until the user gives a token. */
export function askForToken(wrong: boolean): Promise<void> {
  asking ??= ask(wrong).finally(() => {
    asking = undefined
  })
  return asking
}

async function ask(wrong: boolean): Promise<void> {
  const note = wrong
    ? 'This token is wrong.'
    : 'It is the value of --admin-token. Only this tab of the browser keeps it.'
  const content = (
    <>
      <p class="soft">{note}</p>
      <label>
        Token
        <input name="token" type="password" required pattern="[!-~]+" autocomplete="off" />
      </label>
    </>
  )
  await openDialog('The control plane requires a token', content, {
    submit: 'Continue',
    lasting: true,
    work: (fields) => keepToken(textOf(fields, 'token')),
  })
}
