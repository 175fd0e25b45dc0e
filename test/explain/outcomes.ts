/** Names and texts in which characters mean something to a shell, to a program or to a reader's eye. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: the dollar means something to a shell.
export const ODD = '"\'`$(id)\\\n<script>*/ \u202eevil\u2069 \u{1f600} שלום ${x} %s {0} \\" \\\' #'

/** A small account. */
export const SMALL = {
  domains: [
    'one.example',
    { name: 'two.example', features: ['mta-sts'] },
    { name: 'three.example', record: { p: 'reject', dkim: 95.5 } },
  ],
  groups: [
    { id: 'aaaaaaaa', name: 'Marketing', domains: ['one.example', 'three.example'] },
    { id: 'bbbbbbbb', name: 'It’s "ours" <b>', domains: [] },
  ],
}

export const add = (...domains: string[]) => ({ method: 'POST', path: '/domains', body: { domains } })
export const remove = (...domains: string[]) => ({ method: 'DELETE', path: '/domains', body: { domains } })
export const create = (body: unknown) => ({ method: 'POST', path: '/domaingroups', body })
export const update = (body: unknown) => ({ method: 'PATCH', path: '/domaingroups?id=aaaaaaaa', body })
export const get = (path: string) => ({ method: 'GET', path })
