/** The page that compares two runs in two columns. */
import { useQuery } from '@tanstack/react-query'
import { isTerminalRunStatus, type RunComparison } from '@tutti/protocol'
import type { ComparedRun } from '@tutti/protocol/internal'
import { ArrowLeftRight, RefreshCw } from 'lucide-react'
import { useState } from 'react'

import { findFailureCode, readFailureText } from '../../api/failure.ts'
import { linkToComparison, linkToRun, linkToRuns } from '../../api/links.ts'
import { useServer } from '../../api/server.ts'
import { cx } from '../../lib/cx.ts'
import { formatShortId } from '../../lib/format.ts'
import { Button, LinkButton } from '../../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../../ui/feedback/notice.tsx'
import { RUN_STATUS } from '../../ui/labels.ts'
import { createFolds, FoldMemory } from '../../ui/layout/fold.tsx'
import { DiffColumns } from '../../ui/show/diff-view.tsx'
import { Marked } from '../../ui/show/mark.tsx'
import { Ago } from '../../ui/show/time.tsx'
import { describeRelation, listTotals } from './compare-texts.ts'
import { ComparedTaskView } from './compared-task.tsx'
import page from '../../ui/layout/page.module.css'
import styles from './compare.module.css'

interface ComparePageProps {
  readonly a: string | undefined
  readonly b: string | undefined
}

/** The page; `a` and `b` are the ids of the runs. */
export function ComparePage({ a, b }: ComparePageProps) {
  if (a === undefined || b === undefined) {
    return (
      <Empty
        isPage
        title="Choose two runs"
        actions={<LinkButton href={linkToRuns()}>Go to runs</LinkButton>}
      >
        Press “Compare” above the list of runs and select two of them.
      </Empty>
    )
  }
  return <Comparison a={a} b={b} />
}

function Comparison({ a, b }: { readonly a: string; readonly b: string }) {
  const { client } = useServer()
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['comparison', a, b],
    queryFn: ({ signal }) => client.runs.compare(a, b, { signal }),
    // Runs can have continued since an earlier visit.
    staleTime: 0,
  })
  const [folds] = useState(createFolds)
  if (data === undefined) {
    if (error === null) return <Loading label="Comparing the runs" />
    const isUnknown = findFailureCode(error) === 'RUN_NOT_FOUND'
    return (
      <Empty
        isPage
        title={isUnknown ? 'Run not found' : 'Failed to compare the runs'}
        actions={<LinkButton href={linkToRuns()}>Go to runs</LinkButton>}
      >
        {readFailureText(error)}
      </Empty>
    )
  }
  const isLive = [data.a, data.b].some(({ status }) => !isTerminalRunStatus(status))
  return (
    <FoldMemory value={folds}>
      <div className={cx(page['scroll'], styles['page'])}>
        <header className={styles['head']}>
          <h1>Compare runs</h1>
          <p className={styles['relation']}>{describeRelation(data) ?? 'Two separate runs'}</p>
          <div className={styles['actions']}>
            {isLive && (
              <Button
                size="s"
                icon={<RefreshCw />}
                busy={isFetching}
                onClick={() => void refetch()}
              >
                Refresh
              </Button>
            )}
            <LinkButton size="s" icon={<ArrowLeftRight />} href={linkToComparison(b, a)}>
              Swap A and B
            </LinkButton>
          </div>
        </header>
        <div className={styles['columns']}>
          <RunHead letter="A" run={data.a} />
          <RunHead letter="B" run={data.b} />
        </div>
        <Totals comparison={data} />
        <ChangedInputs comparison={data} />
        <section aria-label="Tasks" className={styles['tasks']}>
          <h2>Tasks</h2>
          {data.tasks.length === 0 && <p className={styles['soft']}>Neither run has started.</p>}
          {data.tasks.map((task) => (
            <ComparedTaskView key={task.name} task={task} a={a} b={b} />
          ))}
          {data.omitted !== undefined && (
            <p className={styles['soft']}>
              {data.omitted.tasks.toLocaleString('en-US')} more tasks are not listed;{' '}
              {data.omitted.different.toLocaleString('en-US')} of them differ.
            </p>
          )}
        </section>
      </div>
    </FoldMemory>
  )
}

function RunHead({ letter, run }: { readonly letter: 'A' | 'B'; readonly run: ComparedRun }) {
  const { runId, status, ensemble, startedAt, error, build, partial } = run
  const { mark, word } = RUN_STATUS[status]
  return (
    <section aria-label={`Run ${letter}`} className={styles['run']}>
      <h2>
        <span className={styles['letter']}>{letter}</span>
        <a href={linkToRun(runId)}>
          {ensemble}{' '}
          <code className={styles['id']} title={runId}>
            {formatShortId(runId)}
          </code>
        </a>
      </h2>
      <p className={styles['facts']}>
        <Marked kind={mark}>{word}</Marked>
        <Ago at={startedAt} />
        {build !== undefined && (
          <span>
            build <code title={build}>{formatShortId(build)}</code>
          </span>
        )}
      </p>
      {error !== undefined && <p className={styles['error']}>{error}</p>}
      {partial === true && (
        <Notice>This run has too many calls; only the first ones are compared.</Notice>
      )}
    </section>
  )
}

function Totals({ comparison }: { readonly comparison: RunComparison }) {
  const isReused = comparison.tasks.some(
    ({ a, b, calls }) =>
      a?.reused === true ||
      b?.reused === true ||
      calls.some((pair) => pair.a?.reused === true || pair.b?.reused === true),
  )
  return (
    <div>
      <table className={cx(page['numbers'], styles['totals'])}>
        <caption>Totals</caption>
        <thead>
          <tr>
            <td />
            <th scope="col">A</th>
            <th scope="col">B</th>
            <th scope="col">Change</th>
          </tr>
        </thead>
        <tbody>
          {listTotals(comparison).map(({ name, a, b, change }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{a}</td>
              <td>{b}</td>
              <td className={change === 'same' ? styles['soft'] : styles['change']}>{change}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {isReused && (
        <p className={styles['soft']}>Results that a run took from its parent are not counted.</p>
      )}
    </div>
  )
}

function ChangedInputs({ comparison: { inputs } }: { readonly comparison: RunComparison }) {
  if (inputs.length === 0) return null
  return (
    <section aria-label="Inputs that differ" className={styles['inputs']}>
      <h2>Inputs that differ</h2>
      {inputs.map(({ name, a, b }) => (
        <div key={name} className={styles['input']}>
          <h3>{name}</h3>
          <DiffColumns before={a?.text ?? ''} after={b?.text ?? ''} label={`input ${name}`} />
        </div>
      ))}
    </section>
  )
}
