import { useRef } from 'preact/hooks'
import { Button } from './button.tsx'
import { showNote } from './notices.tsx'

/** A text with a button that copies it. `label` is the name of the button. */
export function Copyable({ text, label, id }: { text: string; label?: string; id?: string }) {
  const place = useRef<HTMLPreElement>(null)
  return (
    <div class="copyline">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: A long text scrolls, which the keyboard must be able to do. */}
      <pre class="grow" id={id} ref={place} tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} shown={() => place.current} label={label} />
    </div>
  )
}

interface CopyButtonProps {
  text: string
  /** The element with the text. It is selected if the browser does not allow the page to copy. */
  shown(): Element | null
  label?: string | undefined
}

export function CopyButton({ text, shown, label }: CopyButtonProps) {
  return <Button words="Copy" small aria-label={label} work={() => copyText(text, shown())} />
}

/** Copies a text. If the browser does not allow that, it selects the element with the text. */
async function copyText(text: string, shown: Element | null): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    showNote('Copied.')
  } catch {
    // Browsers allow it only for pages from localhost or over TLS.
    if (shown !== null) getSelection()?.selectAllChildren(shown)
    showNote('The browser does not let this page copy. The text is selected. Press Ctrl+C or ⌘C.')
  }
}
