import type { Signal } from '@preact/signals'
import type { ComponentChildren, PartialInputHTMLAttributes, PartialSelectHTMLAttributes } from 'preact'

type InputAttributes = Omit<PartialInputHTMLAttributes<HTMLInputElement>, 'role' | 'type' | 'list'>

/** A field for one line of text below its label. */
export function TextField({ label, ...attributes }: InputAttributes & { label: string }) {
  return (
    <label>
      {label}
      <input autocomplete="off" {...attributes} />
    </label>
  )
}

interface SearchProps extends InputAttributes {
  /** The name of the field. By default it is also the placeholder. */
  label: string
  text: Signal<string>
}

/** A field for words that the user looks for. */
export function SearchField({ label, text, ...attributes }: SearchProps) {
  return (
    <input
      type="search"
      class="grow"
      placeholder={label}
      aria-label={label}
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={({ currentTarget }) => {
        text.value = currentTarget.value
      }}
      {...attributes}
    />
  )
}

interface CheckboxProps extends Omit<InputAttributes, 'class'> {
  words: ComponentChildren
  /** A class in addition to `check`. */
  class?: string
}

export function Checkbox({ words, class: kind = '', ...attributes }: CheckboxProps) {
  return (
    <label class={`check ${kind}`}>
      <input type="checkbox" {...attributes} />
      {words}
    </label>
  )
}

/** A value to choose, and its words if they differ. */
export type Choice = string | readonly [value: string, words: string]

interface SelectProps extends Omit<PartialSelectHTMLAttributes<HTMLSelectElement>, 'role' | 'size'> {
  values: readonly Choice[]
  /** The words for the empty value, if the user can choose it. */
  none?: string | undefined
  onChoose?(value: string): void
}

/** A list of values, of which the user chooses one. */
export function Select({ values, none, onChoose, ...attributes }: SelectProps) {
  return (
    <select {...attributes} onChange={({ currentTarget }) => onChoose?.(currentTarget.value)}>
      {none !== undefined && <option value="">{none}</option>}
      <Options values={values} />
    </select>
  )
}

/** The same with a label above or, with the class `inline`, before it. */
export function LabelledSelect({ label, class: kind, ...attributes }: SelectProps & { label: string }) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the select is the control.
    <label class={kind}>
      {label}
      <Select {...attributes} />
    </label>
  )
}

export function Options({ values }: { values: readonly Choice[] }) {
  return (
    <>
      {values.map((choice) => {
        const [value, words] = typeof choice === 'string' ? [choice, choice] : choice
        return (
          <option key={value} value={value}>
            {words}
          </option>
        )
      })}
    </>
  )
}

/** Adds the name to the set, or removes it if the set has it. */
export function toggleName(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const next = new Set(names)
  if (!next.delete(name)) next.add(name)
  return next
}

/** The items with at least one text that contains the search text. Upper and lower case are equal. */
export function filterBy<Item>(
  items: readonly Item[],
  search: string,
  textsOf: (item: Item) => readonly string[],
): readonly Item[] {
  const wanted = search.trim().toLowerCase()
  if (wanted === '') return items
  return items.filter((item) => textsOf(item).some((text) => text.toLowerCase().includes(wanted)))
}
