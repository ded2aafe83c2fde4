/** Schedules page: all schedules with their next ticks, last runs and problems, and the actions on them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'

import { readFailureText } from '../../api/failure.ts'
import { linkToRun, linkToRuns } from '../../api/links.ts'
import { useServer } from '../../api/server.ts'
import { useMissingScope } from '../../api/use-identity.ts'
import { formatDuration, formatInstant, formatPlural, UNKNOWN } from '../../lib/format.ts'
import { Button } from '../../ui/controls/button.tsx'
import { Empty, Loading, Notice } from '../../ui/feedback/notice.tsx'
import { toast } from '../../ui/feedback/toasts.tsx'
import { Ago } from '../../ui/show/time.tsx'
import styles from './schedules.module.css'

import type { ScheduleSummary } from '@tutti/protocol/internal'

/** Interval between reads, in milliseconds: no event reports a tick without a run. */
const READ_EVERY_MS = 5_000

const KEY = ['schedules']

export function SchedulesPage() {
  const { client } = useServer()
  const { data, error } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => client.schedules.list({ signal }),
    refetchInterval: READ_EVERY_MS,
  })
  return (
    <div className={styles['page']}>
      <header className={styles['top']}>
        <h1>Schedules</h1>
        {data !== undefined && (
          <p className={styles['soft']}>{formatPlural(data.schedules.length, 'schedule')}</p>
        )}
      </header>
      {error !== null && (
        <Notice tone="failed" title="Failed to load the schedules">
          <p>{readFailureText(error)}</p>
        </Notice>
      )}
      {data === undefined && error === null && <Loading label="Loading schedules" />}
      {data?.schedules.length === 0 && (
        <Empty title="No schedules yet">
          A schedule submits a run at each tick. Add one in the config, with `tutti schedules save`,
          or over the API.
        </Empty>
      )}
      <ul className={styles['list']} aria-label="Schedules">
        {data?.schedules.map((schedule) => (
          <ScheduleItem key={schedule.name} schedule={schedule} />
        ))}
      </ul>
    </div>
  )
}

function ScheduleItem({ schedule }: { readonly schedule: ScheduleSummary }) {
  const { name, cron, timeZone, ensemble, paused, readOnly, savedBy } = schedule
  const { next, queued, lastRun, problem, overlap, catchUp, jitterMs } = schedule
  const [tick] = next
  return (
    <li className={styles['schedule']}>
      <div className={styles['head']}>
        <h2>{name}</h2>
        <code>{cron}</code>
        <span className={styles['soft']}>
          {[timeZone, ensemble, savedBy, readOnly ? 'from the config' : undefined]
            .filter((text) => text !== undefined)
            .join(' · ')}
        </span>
        <ScheduleActions schedule={schedule} />
      </div>
      <dl className={styles['facts']}>
        <dt>Next tick</dt>
        <dd>
          {paused ? 'Paused' : tick === undefined ? UNKNOWN : formatTick(tick, timeZone)}
          {!paused && jitterMs > 0 && (
            <span className={styles['soft']}>{` · up to ${formatDuration(jitterMs)} later`}</span>
          )}
        </dd>
        {queued.length > 0 && (
          <>
            <dt>Waiting ticks</dt>
            <dd>{queued.length}</dd>
          </>
        )}
        <dt>Last run</dt>
        <dd>
          {lastRun === undefined ? (
            UNKNOWN
          ) : (
            <>
              <a href={linkToRun(lastRun.runId)}>{lastRun.runId}</a> <Ago at={lastRun.tick} />
            </>
          )}
          {' · '}
          <a href={linkToRuns({ tag: `schedule:${name}` })}>All runs</a>
        </dd>
        <dt>Rules</dt>
        <dd>
          {OVERLAP[overlap]} · {CATCH_UP[catchUp]}
        </dd>
      </dl>
      {problem !== undefined && (
        <Notice
          // A tick that the rules leave out has not failed.
          tone={problem.code === 'SKIPPED' ? 'plain' : 'failed'}
          title={`No run at ${formatTick(problem.tick, timeZone)}`}
        >
          <p>{problem.message}</p>
          {problem.code !== 'SKIPPED' && <code>{problem.code}</code>}
        </Notice>
      )}
    </li>
  )
}

const OVERLAP: Readonly<Record<ScheduleSummary['overlap'], string>> = {
  allow: 'runs may overlap',
  skip: 'no tick while the last run has not ended',
  cancel: 'a tick cancels the last run',
  queueOne: 'one tick waits for the end of the last run',
  queueAll: 'ticks wait for the end of the last run',
}

const CATCH_UP: Readonly<Record<ScheduleSummary['catchUp'], string>> = {
  skip: 'missed ticks are left out',
  last: 'the last missed tick is caught up',
  all: 'missed ticks are caught up',
}

/** Formats the time of a tick, also in the time zone of its schedule if the clock there shows another time. */
function formatTick(tick: string, timeZone: string): string {
  const at = Date.parse(tick)
  const [here, there] = [formatInstant(at), formatInstant(at, timeZone)]
  return here === there ? here : `${here} (${there} in ${timeZone})`
}

/** The buttons that run a schedule now, and that pause or resume it. */
function ScheduleActions({
  schedule: { name, paused, readOnly },
}: {
  readonly schedule: ScheduleSummary
}) {
  const { client } = useServer()
  const answers = useQueryClient()
  const cannotRun = useMissingScope('runs:write')
  const cannotChange = useMissingScope('runs:control')
  const { mutate, isPending } = useMutation({
    mutationFn: async (action: 'run' | 'pause' | 'resume') => {
      if (action === 'run') toast(`Submitted run ${(await client.schedules.run(name)).runId}`)
      else await client.schedules[action](name)
    },
    onSuccess: () => answers.invalidateQueries({ queryKey: KEY }),
    onError: (error) => toast(readFailureText(error), 'failed'),
  })
  return (
    <div className={styles['actions']}>
      {cannotRun === undefined && (
        <Button
          size="s"
          busy={isPending}
          aria-label={`Run now: ${name}`}
          onClick={() => mutate('run')}
        >
          Run now
        </Button>
      )}
      {cannotChange === undefined && !readOnly && (
        <Button
          size="s"
          busy={isPending}
          aria-label={`${paused ? 'Resume' : 'Pause'}: ${name}`}
          onClick={() => mutate(paused ? 'resume' : 'pause')}
        >
          {paused ? 'Resume' : 'Pause'}
        </Button>
      )}
    </div>
  )
}
