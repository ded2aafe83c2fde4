/** Which of the open reviews are shown. */
import { Select } from '../../ui/controls/inputs.tsx'
import styles from './reviews-page.module.css'
import { KIND_WORDS, kindOf, KINDS } from './review-words.ts'

import type { ReviewLike } from './review-like.ts'

/** Chosen filters; an empty text selects everything. */
export interface ReviewFilter {
  readonly ensemble: string
  readonly kind: string
  /** `key: value`. */
  readonly tag: string
}

/** Shows every review. */
export const EVERY_REVIEW: ReviewFilter = { ensemble: '', kind: '', tag: '' }

/** Whether a review fits the filter. */
export function fitsFilter(review: ReviewLike, { ensemble, kind, tag }: ReviewFilter): boolean {
  return (
    (ensemble === '' || review.run?.ensemble === ensemble) &&
    (kind === '' || kindOf(review) === kind) &&
    (tag === '' || runTagLabels(review).includes(tag))
  )
}

/** The tags of the run of a review, as they are shown. */
export function runTagLabels({ run }: ReviewLike): readonly string[] {
  return Object.entries(run?.tags ?? {}).map(([key, value]) => `${key}: ${value}`)
}

/** The choices that the reviews have; a choice of one is none. */
export function ReviewFilters({
  reviews,
  filter,
  onChange,
}: {
  readonly reviews: readonly ReviewLike[]
  readonly filter: ReviewFilter
  readonly onChange: (filter: ReviewFilter) => void
}) {
  const ensembles = sorted(reviews.flatMap(({ run }) => run?.ensemble ?? []))
  const kinds = KINDS.filter((kind) => reviews.some((review) => kindOf(review) === kind))
  const tags = sorted(reviews.flatMap(runTagLabels))
  const choices = [
    { field: 'ensemble', all: 'Every ensemble', values: ensembles.map((name) => [name, name]) },
    { field: 'kind', all: 'Every kind', values: kinds.map((kind) => [kind, KIND_WORDS[kind]]) },
    { field: 'tag', all: 'Every tag', values: tags.map((tag) => [tag, tag]) },
  ] as const
  const shown = choices.filter(({ field, values }) => values.length > 1 || filter[field] !== '')
  if (shown.length === 0) return undefined
  return (
    <search aria-label="Filter reviews" className={styles['filters']}>
      {shown.map(({ field, all, values }) => (
        <Select
          key={field}
          aria-label={all.replace('Every', 'Filter by')}
          value={filter[field]}
          onChange={({ target }) => onChange({ ...filter, [field]: target.value })}
        >
          <option value="">{all}</option>
          {filter[field] !== '' && !values.some(([value]) => value === filter[field]) && (
            <option value={filter[field]}>{filter[field]}</option>
          )}
          {values.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
      ))}
    </search>
  )
}

function sorted(values: readonly string[]): readonly string[] {
  return [...new Set(values)].toSorted((a, b) => a.localeCompare(b))
}
