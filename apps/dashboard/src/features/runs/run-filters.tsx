/** What decides which runs are shown: status, text, ensemble, tag. It is all in the address. */
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
  { value: 'review', label: 'Needs review' },
  { value: 'completed', label: 'Completed' },
  { value: 'failed', label: 'Failed' },
  { value: 'cancelled', label: 'Cancelled' },
]

/** How a filter is gone to; `replace` leaves no step to come back to. */
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
  const kept = ensemble === '' ? others : { ...others, ensemble }
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
          aria-label={`Remove the filter by tag ${tag}`}
          onClick={() => onChange(kept)}
        >
          <span className={styles['value']}>{tag.replace(':', ': ')}</span>
        </Button>
      )}
    </search>
  )
}

/** Between two letters of somebody who types. */
const PAUSE_MS = 150

/** The box; `text` is what is looked for now. */
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
  // Another part of the filter may change while the reader pauses.
  const latest = useRef({ text, onText })
  useEffect(() => {
    latest.current = { text, onText }
  })
  if (text !== taken) {
    setTaken(text)
    // What comes from elsewhere goes before what is typed; an answer to what is typed is no news.
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
