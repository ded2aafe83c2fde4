/** What decides which runs are shown: status, text, ensemble, tag. It is all in the address. */
import { X } from 'lucide-react'
import type { Ref } from 'react'

import { useCapabilities } from '../../api/use-capabilities.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Select } from '../../ui/controls/inputs.tsx'
import { Segmented, type Segment } from '../../ui/controls/segmented.tsx'
import { SearchBox } from './search-box.tsx'
import styles from './run-filters.module.css'

import type { RunFilter, RunGroup } from './run-filter.ts'

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

/** The filter, to be changed. */
export function RunFilters({
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
