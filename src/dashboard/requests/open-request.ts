import { signal } from '@preact/signals'
import { shown } from './list.ts'
import type { ListedRequest } from './listed-request.ts'

/** The request whose details are open. Its ordinal is known if the user opened it from the list. */
export interface OpenRequest {
  requestId: string
  ordinal: number | undefined
}

export const openedRequest = signal<OpenRequest | undefined>(undefined)

/** Shows the details of a request above any view. The request need not be in the list. */
export function openRequest(requestId: string, ordinal?: number): void {
  openedRequest.value = { requestId, ordinal }
}

export function closeRequest(): void {
  openedRequest.value = undefined
}

/** The requests before and after the open one, if the list contains it. */
export function neighbours(): { newer: ListedRequest | undefined; older: ListedRequest | undefined } {
  const open = openedRequest.value
  const list = shown.value
  const index = list.findIndex(({ ordinal, request_id }) =>
    open?.ordinal === undefined ? request_id === open?.requestId : ordinal === open.ordinal,
  )
  return index < 0 ? { newer: undefined, older: undefined } : { newer: list[index - 1], older: list[index + 1] }
}
