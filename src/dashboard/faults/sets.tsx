import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { showNote } from '../controls/notices.tsx'
import { formatCount } from '../formatting.ts'
import type { FaultSet } from '../responses.ts'
import { faultSets, faults } from './rules.ts'
import { describeRule } from './words.ts'

/** The built-in sets, and those in the file of the server. */
export function FaultSets() {
  return (
    <section class="stack" aria-labelledby="fault-sets-title">
      <h2 id="fault-sets-title">Ready-made sets</h2>
      <Loaded of={faultSets}>
        {(sets) => (
          <ul id="fault-sets" class="fault-cards">
            {sets.map((set) => (
              <SetCard key={set.name} {...set} />
            ))}
            {sets.length === 0 && <li class="empty">There are no ready-made sets.</li>}
          </ul>
        )}
      </Loaded>
    </section>
  )
}

function SetCard({ name, description, rules }: FaultSet) {
  async function add(): Promise<void> {
    await call('addFaultSet', { parameters: { set: name } })
    showNote(`The set ${name} was added.`)
    await faults.refresh()
  }
  return (
    <li class="card stack">
      <div class="row">
        <h3 class="fault-title grow">{name}</h3>
        <Button work={add} aria-label={`Add the set ${name}`}>
          Add
        </Button>
      </div>
      <p class="soft">{description}</p>
      <details>
        <summary>{formatCount(rules.length, 'rule')}</summary>
        <ol class="fault-words">
          {rules.map((rule) => (
            <li>{describeRule(rule)}</li>
          ))}
        </ol>
      </details>
    </li>
  )
}
