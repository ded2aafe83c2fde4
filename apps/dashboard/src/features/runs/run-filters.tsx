/** Controls of the filter: status, text, ensemble, tag. The URL contains their values. */
import { X } from 'lucide-react'
import { type Ref, useEffect, useRef, useState } from 'react'

import { useCapabilities } from '../../api/use-capabilities.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Select, TextInput } from '../../ui/controls/inputs.tsx'
import { Segmented, type Segment } from '../../ui/controls/segmented.tsx'
import { type RunFilter, type RunGroup, MAX_TEXT_LENGTH } from './run-filter.ts'
import styles from './run-filters.module.css'

const GROUPS: readonly Segment<RunGroup>[] = [
  { value: 'all', label: 'All' },
  { value: 'active', label: 'Active' },
  { value: 'review', label: 'Waiting' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
  { value: 'cancelled', label: 'Cancelled' },
]

/** Navigates to a filter; `replace` adds no history entry. */
export type GoToFilter = (filter: RunFilter, how?: { readonly replace: boolean }) => void

export function RunFilterBar({
  filter,
  search,
  onChange,
}: {
  readonly filter: RunFilter
  readonly search: Ref<HTMLInputElement>
  readonly onChange: GoToFilter
}) {
  const { ensemble: _, tag, ...others } = filter
  const { ensemble = '' } = filter
  const { data } = useCapabilities()
  const names = data?.ensembles.map(({ name }) => name) ?? []
  const known = ensemble === '' || names.includes(ensemble) ? names : [ensemble, ...names]
  const withoutTag = ensemble === '' ? others : { ...others, ensemble }
  return (
    <search aria-label="Filter" className={styles['filters']}>
      <Segmented
        label="Status"
        value={filter.group}
        segments={GROUPS}
        onChange={(group) => onChange({ ...filter, group })}
      />
      <SearchBox
        ref={search}
        text={filter.text ?? ''}
        onText={(text) => {
          const { text: __, ...rest } = filter
          onChange(text === '' ? rest : { ...rest, text }, { replace: true })
        }}
      />
      <Select
        aria-label="Ensemble"
        className={styles['ensemble']}
        value={ensemble}
        onChange={({ target: { value } }) => {
          const rest = tag === undefined ? others : { ...others, tag }
          onChange(value === '' ? rest : { ...rest, ensemble: value })
        }}
      >
        <option value="">All ensembles</option>
        {known.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
      {tag !== undefined && (
        <Button
          icon={<X />}
          className={styles['tag']}
          aria-label={`Remove tag filter ${tag}`}
          onClick={() => onChange(withoutTag)}
        >
          <span className={styles['value']}>{tag.replace(':', ': ')}</span>
        </Button>
      )}
    </search>
  )
}

/** Pause in typing after which the search starts, in milliseconds. */
const PAUSE_MS = 150

/** The search box; `text` is the current search. */
function SearchBox({
  ref,
  text,
  onText,
}: {
  readonly ref: Ref<HTMLInputElement>
  readonly text: string
  readonly onText: (text: string) => void
}) {
  const [typed, setTyped] = useState(text)
  const [taken, setTaken] = useState(text)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // Other parts of the filter may change during the pause.
  const latest = useRef({ text, onText })
  useEffect(() => {
    latest.current = { text, onText }
  })
  if (text !== taken) {
    setTaken(text)
    // A changed filter replaces the typed text, unless the change came from this box.
    if (text !== typed.trim()) setTyped(text)
  }
  const take = (value: string): void => {
    clearTimeout(timer.current)
    const now = latest.current
    if (value.trim() !== now.text) now.onText(value.trim())
  }
  return (
    <span className={styles['box']}>
      <TextInput
        ref={ref}
        type="search"
        aria-label="Search runs"
        aria-keyshortcuts="/"
        placeholder="Id, tag or input"
        maxLength={MAX_TEXT_LENGTH}
        value={typed}
        onChange={({ target: { value } }) => {
          setTyped(value)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => take(value), PAUSE_MS)
        }}
        onKeyDown={({ key }) => {
          if (key === 'Enter') take(typed)
        }}
      />
      {typed === '' && <kbd className={styles['key']}>/</kbd>}
    </span>
  )
}
