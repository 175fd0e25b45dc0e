import { summary } from '../account-data.ts'
import { avoidsService, wayOfCalls } from '../service-calls.ts'
import { Checkbox } from './form.tsx'

/** Shows if a change goes to the service or to the control plane. The user may choose if both are possible. */
export function ServiceWay() {
  return (
    <div class="service-way">
      <p class="soft">{wayOfCalls()}</p>
      {summary.data.value?.api_key != null && (
        <Checkbox
          words="Send it through the control plane"
          checked={avoidsService.value}
          onChange={({ currentTarget }) => {
            avoidsService.value = currentTarget.checked
          }}
        />
      )}
    </div>
  )
}
