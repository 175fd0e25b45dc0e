import { useEffect } from 'preact/hooks'
import { showFailure } from '../controls/notices.tsx'
import { isObject } from '../refusals.ts'

/** What a key does. */
type Deed = () => unknown

/** Elements that use letters themselves. */
const WRITTEN = 'input, select, textarea, [contenteditable], [role=listbox], [role=menu]'
/** Elements that use arrow keys or letters themselves. */
const USES_KEYS = `${WRITTEN}, summary, [role=tab], [role=slider], [role=grid], [role=row]`
/** Elements that the space bar presses. */
const PRESSED = 'button, a, summary'

/**
 * Does what `deedOf` says about a key, unless the focused element or a modal dialog uses it itself. In the capture phase,
 * it comes before what the view does with the key.
 */
export function useKeys(deedOf: (key: string) => Deed | undefined, phase: 'capture' | 'bubble' = 'bubble'): void {
  useEffect(() => {
    const isCapture = phase === 'capture'
    function onKeyDown(event: KeyboardEvent): void {
      const deed = deedOf(event.key.length === 1 ? event.key.toLowerCase() : event.key)
      if (deed === undefined || event.defaultPrevented || !isFree(event)) return
      event.preventDefault()
      event.stopPropagation()
      run(deed).catch(showFailure)
    }
    document.addEventListener('keydown', onKeyDown, isCapture)
    return () => document.removeEventListener('keydown', onKeyDown, isCapture)
  }, [])
}

async function run(deed: Deed): Promise<void> {
  await deed()
}

function isFree({ key, target, altKey, ctrlKey, metaKey, shiftKey, isComposing }: KeyboardEvent): boolean {
  if (altKey || ctrlKey || metaKey || isComposing || (shiftKey && key !== '?')) return false
  if (document.querySelector('dialog:modal') !== null) return false
  if (!(isObject(target) && target instanceof Element)) return true
  const users = key === ' ' ? `${USES_KEYS}, ${PRESSED}` : /^[p?]$/i.test(key) ? WRITTEN : USES_KEYS
  return target.closest(users) === null
}
