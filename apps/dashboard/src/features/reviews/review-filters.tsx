/** Filters the open reviews. */
import { Select } from '../../ui/controls/inputs.tsx'
import styles from './reviews-page.module.css'
import { KIND_LABELS, KINDS } from './review-labels.ts'

import type { ReviewLike } from './review-like.ts'

/** A filter of reviews; an empty string matches everything. */
export interface ReviewFilter {
  readonly ensemble: string
  readonly kind: string
  /** `key: value`. */
  readonly tag: string
}

/** The filter that matches every review. */
export const EVERY_REVIEW: ReviewFilter = { ensemble: '', kind: '', tag: '' }

/** Whether a review fits the filter. */
export function matchesReviewFilter(
  review: ReviewLike,
  { ensemble, kind, tag }: ReviewFilter,
): boolean {
  return (
    (ensemble === '' || review.run?.ensemble === ensemble) &&
    (kind === '' || review.kind === kind) &&
    (tag === '' || formatRunTags(review).includes(tag))
  )
}

/** Returns the tags of a review's run as labels. */
export function formatRunTags({ run }: ReviewLike): readonly string[] {
  return Object.entries(run?.tags ?? {}).map(([key, value]) => `${key}: ${value}`)
}

/** Selects for the values that the reviews have; hidden if there is nothing to choose from. */
export function ReviewFilters({
  reviews,
  filter,
  onChange,
}: {
  readonly reviews: readonly ReviewLike[]
  readonly filter: ReviewFilter
  readonly onChange: (filter: ReviewFilter) => void
}) {
  const ensembles = sortDistinct(reviews.flatMap(({ run }) => run?.ensemble ?? []))
  const kinds = KINDS.filter((kind) => reviews.some((review) => review.kind === kind))
  const tags = sortDistinct(reviews.flatMap(formatRunTags))
  const choices = [
    { field: 'ensemble', all: 'All ensembles', values: ensembles.map((name) => [name, name]) },
    { field: 'kind', all: 'All kinds', values: kinds.map((kind) => [kind, KIND_LABELS[kind]]) },
    { field: 'tag', all: 'All tags', values: tags.map((tag) => [tag, tag]) },
  ] as const
  const shown = choices.filter(({ field, values }) => values.length > 1 || filter[field] !== '')
  if (shown.length === 0) return undefined
  return (
    <search aria-label="Filter reviews" className={styles['filters']}>
      {shown.map(({ field, all, values }) => (
        <Select
          key={field}
          aria-label={`Filter by ${field}`}
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

function sortDistinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)].toSorted((a, b) => a.localeCompare(b))
}
