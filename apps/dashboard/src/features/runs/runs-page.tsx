/** The page of all runs, newest first and live. */
import { Plus } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState, type RefObject } from 'react'

import { readFailureText } from '../../api/failure.ts'
import { linkToRuns, linkToSubmit } from '../../api/links.ts'
import { useMissingScope } from '../../api/use-identity.ts'
import { isTextEntry } from '../../lib/is-text-entry.ts'
import { goTo } from '../../lib/router.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { Loading, Notice, Empty } from '../../ui/feedback/notice.tsx'
import { access } from '../../api/access.ts'
import { formatCurl } from '../../api/curl-line.ts'
import { useCapabilities } from '../../api/use-capabilities.ts'
import { useStore } from '../../lib/store.ts'
import { CodeBlock } from '../../ui/show/text.tsx'
import { parseRunFilter, toFilterQuery, isUnfiltered, type RunFilter } from './run-filter.ts'
import { RunFilterBar } from './run-filters.tsx'
import { RunsTable } from './runs-table.tsx'
import { formatTotal } from './run-list.ts'
import { CompareActions, usePicking } from './pick-runs.tsx'
import { useRunList } from './use-run-list.ts'
import hidden from '../../ui/show/visually-hidden.module.css'
import styles from './runs-page.module.css'

import type { VirtualTableHandle } from '../../ui/layout/virtual-list.tsx'
import type { RunListState } from './run-list.ts'

const goToFilter = (filter: RunFilter, how?: { readonly replace: boolean }): void => {
  goTo(linkToRuns(toFilterQuery(filter)), how)
}

/** The page of all runs; `query` is its filter. */
export function RunsScreen({ query }: { readonly query: Readonly<Record<string, string>> }) {
  const filter = useMemo(() => parseRunFilter(query), [query])
  const read = useRunList(filter)
  const search = useRef<HTMLInputElement>(null)
  const table = useRef<VirtualTableHandle>(null)
  usePageKeys(search, table)
  const onTag = useCallback((tag: string) => goToFilter({ ...filter, tag }), [filter])
  const picking = usePicking()
  const missing = useMissingScope('runs:write')
  const { list, error, moreError } = read
  const shown = list?.filter ?? filter
  return (
    <div className={styles['page']}>
      <header className={styles['head']}>
        <h1>Runs</h1>
        <p className={styles['total']}>{list !== undefined && describeTotal(list, shown)}</p>
        <FoundNote list={list} />
        <CompareActions picking={picking} />
        {missing === undefined && picking.picked === undefined && (
          <LinkButton
            kind="primary"
            icon={<Plus />}
            href={linkToSubmit()}
            className={styles['new']}
          >
            New run
          </LinkButton>
        )}
      </header>
      <RunFilterBar filter={filter} search={search} onChange={goToFilter} />
      {error !== null && (
        <LoadFailed
          title={list === undefined ? 'Failed to load the runs' : 'These runs may be out of date'}
          error={error}
          onAgain={() => void read.refetch()}
        />
      )}
      {list === undefined && error === null && <Loading label="Loading runs" />}
      {list?.runs.length === 0 && !read.isOfOtherFilter && <NoRuns filter={shown} />}
      {list !== undefined && list.runs.length > 0 && (
        <div aria-busy={read.isOfOtherFilter} className={styles['list']}>
          <RunsTable
            key={JSON.stringify(shown)}
            ref={table}
            list={list}
            change={read.change}
            onEnd={read.readMore}
            picked={picking.picked}
            onPick={picking.pick}
            onTag={onTag}
          />
        </div>
      )}
      {moreError !== null && (
        <LoadFailed title="Failed to load more runs" error={moreError} onAgain={read.tryMore} />
      )}
    </div>
  )
}

function describeTotal(list: RunListState, filter: RunFilter): string {
  if (isUnfiltered(filter)) return list.total === 0 ? '' : formatTotal(list, 'run')
  return formatTotal(list, 'matching run')
}

function LoadFailed({
  title,
  error,
  onAgain,
}: {
  readonly title: string
  readonly error: unknown
  readonly onAgain: () => void
}) {
  return (
    <Notice tone="failed" title={title} actions={<Button onClick={onAgain}>Try again</Button>}>
      {readFailureText(error)}
    </Notice>
  )
}

/** Announces the number of runs that a filter found. Later changes are not announced. */
function FoundNote({ list }: { readonly list: RunListState | undefined }) {
  const [announced, setAnnounced] = useState(list)
  if (list !== undefined && list.filter !== announced?.filter) setAnnounced(list)
  return (
    <p role="status" className={hidden['hidden']}>
      {announced !== undefined && `${formatTotal(announced, 'run')} found`}
    </p>
  )
}

/** Handles keys outside of text fields: `/` focuses the search, j and ↓ focus the runs. */
function usePageKeys(
  search: RefObject<HTMLInputElement | null>,
  table: RefObject<VirtualTableHandle | null>,
): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target, defaultPrevented } = event
      if (defaultPrevented || ctrlKey || metaKey || altKey || isTextEntry(target)) return
      if (key === '/') search.current?.focus()
      else if (isNowhere(target) && (key === 'j' || key === 'ArrowDown'))
        table.current?.focusFirst()
      else return
      event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [search, table])
}

function isNowhere(target: EventTarget | null): boolean {
  return target === document.body || (target instanceof Element && target.matches('main'))
}

/** The empty state: nothing matches the filter, or no run was submitted yet. */
function NoRuns({ filter }: { readonly filter: RunFilter }) {
  const { key } = useStore(access)
  const { data } = useCapabilities()
  if (!isUnfiltered(filter)) {
    return (
      <Empty
        title="No matching runs"
        actions={<LinkButton href={linkToRuns()}>Show all runs</LinkButton>}
      />
    )
  }
  const [first] = data?.ensembles ?? []
  const inputs = Object.fromEntries(first?.variables.map((name) => [name, '…']) ?? [])
  const body = { ...(first === undefined ? {} : { ensemble: first.name }), inputs }
  return (
    <Empty
      title="No runs yet"
      actions={
        <LinkButton kind="primary" href={linkToSubmit()}>
          New run
        </LinkButton>
      }
    >
      <p>Fill in the form, or submit one from a shell:</p>
      <div className={styles['line']}>
        <CodeBlock label="command">
          {formatCurl({ method: 'POST', path: '/api/runs', body, hasKey: key !== undefined })}
        </CodeBlock>
      </div>
    </Empty>
  )
}
