import { FaultForm } from './form.tsx'
import { FaultList } from './list.tsx'
import { FaultSets } from './sets.tsx'

/** The view Faults: what goes wrong on purpose, and what came of it. */
export function FaultsPanel() {
  return (
    <>
      <FaultList />
      <FaultForm />
      <FaultSets />
    </>
  )
}
