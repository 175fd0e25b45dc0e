import { FaultForm } from './form.tsx'
import { FaultList } from './list.tsx'
import { FaultSets } from './sets.tsx'

/** The view Faults: the fault rules, and their results. */
export function FaultsPanel() {
  return (
    <>
      <FaultList />
      <FaultForm />
      <FaultSets />
    </>
  )
}
