import { call } from '../client.ts'
import { Button } from '../controls/button.tsx'
import { confirmed, showSecret } from '../controls/dialog.tsx'
import { Form, textOf } from '../controls/form.tsx'
import { Loaded } from '../controls/loaded.tsx'
import { Badge } from '../controls/marks.tsx'
import { formatInstant } from '../formatting.ts'
import { refreshShown } from '../resource.ts'
import type { Key } from '../responses.ts'
import { keys } from './key-list.ts'

/** The API keys of the account, without their secrets. */
export function Keys() {
  return (
    <section class="card stack" aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <Form id="key-form" submit="Create a key" work={createKey}>
        <label>
          Label of a new key
          <input name="label" placeholder="such as: CI" autocomplete="off" />
        </label>
      </Form>
      <Loaded of={keys}>
        {(list) =>
          list.length === 0 ? (
            <p class="soft">No keys, so no client can use this account.</p>
          ) : (
            <ul id="keys" class="ruled">
              {list.map((key) => (
                <KeyItem key={key.id} apiKey={key} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </section>
  )
}

function KeyItem({ apiKey: { id, label, created_at, disabled, in_grace } }: { apiKey: Key }) {
  async function toggle(): Promise<void> {
    await call('updateKey', { parameters: { key: id }, body: { disabled: !disabled } })
    await keys.refresh()
  }
  return (
    <li class="row">
      <div class="grow">
        <strong class="mono">{id}</strong>{' '}
        {disabled ? <Badge tone="bad">disabled</Badge> : <Badge tone="good">enabled</Badge>}{' '}
        {in_grace && (
          <Badge tone="warn" title="A new key has higher quotas for some days.">
            in grace period
          </Badge>
        )}
        <div class="soft">{[label, `created ${formatInstant(created_at)}`].filter(Boolean).join(' · ')}</div>
      </div>
      <Button small aria-label={`${disabled ? 'Enable' : 'Disable'} the key ${id}`} work={toggle}>
        {disabled ? 'Enable' : 'Disable'}
      </Button>
      <Button small kind="danger" aria-label={`Delete the key ${id}`} work={() => deleteKey(id)}>
        Delete
      </Button>
    </li>
  )
}

async function createKey(fields: FormData, form: HTMLFormElement): Promise<void> {
  const label = textOf(fields, 'label').trim()
  const { key, api_key } = await call('createKey', { body: label === '' ? {} : { label } })
  form.reset()
  void refreshShown()
  await showSecret(`The key ${key.id}`, api_key)
}

async function deleteKey(id: string): Promise<void> {
  const text = 'The service refuses all requests with this key from now on. This cannot be undone.'
  if (!(await confirmed(`Delete the key ${id}?`, text, 'Delete'))) return
  await call('deleteKey', { parameters: { key: id } })
  await refreshShown()
}
