import { useEffect } from 'preact/hooks'
import { showFailure } from '../controls/notices.tsx'
import { isObject } from '../refusals.ts'

/** What a key does. */
type Deed = () => unknown

/** Elements that use letters themselves. */
const WRITTEN = 'input, select, textarea, [contenteditable], [role=listbox], [role=menu]'
/** Elements that use arrow keys or letters themselves. */
const USES_KEYS = `${WRITTEN}, summary, [role=tab], [role=slider], [role=grid], [role=row]`

/**
 * Does what `deedOf` says about a key, before the view does something with it, unless the focused element or a modal dialog
 * uses it itself.
 */
export function useKeys(deedOf: (key: string) => Deed | undefined): void {
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent): void {
      const deed = deedOf(event.key.length === 1 ? event.key.toLowerCase() : event.key)
      if (deed === undefined || event.defaultPrevented || !isFree(event)) return
      event.preventDefault()
      run(deed).catch(showFailure)
    }
    document.addEventListener('keydown', onKeyDown, true)
    return () => document.removeEventListener('keydown', onKeyDown, true)
  }, [])
}

async function run(deed: Deed): Promise<void> {
  await deed()
}

function isFree({ key, target, altKey, ctrlKey, metaKey, shiftKey, isComposing }: KeyboardEvent): boolean {
  if (altKey || ctrlKey || metaKey || shiftKey || isComposing) return false
  if (document.querySelector('dialog:modal') !== null) return false
  if (!(isObject(target) && target instanceof Element)) return true
  return target.closest(/^p$/i.test(key) ? WRITTEN : USES_KEYS) === null
}
