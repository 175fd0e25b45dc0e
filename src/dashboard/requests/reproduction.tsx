import { useState } from 'preact/hooks'
import { Copyable } from '../controls/copyable.tsx'
import type { Explanation } from '../responses.ts'
import { Part } from './part.tsx'

const WAYS = [
  ['curl', 'curl'],
  ['vitest', 'vitest'],
  ['pytest', 'pytest'],
] as const

/** Code that sends the request again and expects the same result. */
export function Reproduction({ explanation }: { explanation: Explanation }) {
  const [way, setWay] = useState<(typeof WAYS)[number][0]>('curl')
  const { reproduction, reproduction_note: note } = explanation
  return (
    <Part title="Send it again">
      {reproduction === null ? null : (
        <>
          <div class="row no-print">
            {WAYS.map(([name, title]) => (
              <button key={name} type="button" aria-pressed={name === way} onClick={() => setWay(name)}>
                {title}
              </button>
            ))}
          </div>
          <Copyable key={way} id="reproduction" text={reproduction[way]} label={`Copy as ${way}`} />
        </>
      )}
      {note !== null && <p class="soft">{note}</p>}
    </Part>
  )
}
