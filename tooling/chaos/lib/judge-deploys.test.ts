import { expect, it } from 'vitest'

import { BUILDS, mayContinue, type BuildName } from './builds.ts'
import { countContinued, judgeDeploys } from './judge-deploys.ts'
import { ENDED_RUN, NO_EVIDENCE, toLog } from './sample-evidence.ts'

import type { Transition } from './database.ts'
import type { Rollout } from './deploys.ts'
import type { Evidence, KeptRun } from './evidence.ts'

/** Sequence numbers of the events of {@link run}. */
const [STARTED, SURVEY, LEFT, CANCELLED] = [0, 1, 2, 3]

const run: KeptRun = {
  ...ENDED_RUN,
  events: log(
    { type: 'ensemble_started' },
    { type: 'task_started', taskName: 'survey' },
    { type: 'task_started', taskName: 'left' },
  ),
}

/** A claim by the only process of a build; `lastSeq` is the newest event that it found. */
function claim(build: BuildName, lastSeq: number): Transition {
  const pid = BUILDS.indexOf(build) + 1
  return { runId: 'r', at: 100 + lastSeq, epoch: lastSeq, state: 'owned', pid, lastSeq }
}

const builds = new Map(BUILDS.map((build, index) => [index + 1, build]))

function judge(
  transitions: readonly Transition[],
  { events = run.events, ...more }: Partial<Rollout & Pick<KeptRun, 'events'>> = {},
  calls: Evidence['calls'] = [],
): readonly string[] {
  const rollout: Rollout = { last: 'v4', builds, waiting: [], moved: [], ...more }
  const runs = [{ ...run, events }]
  return judgeDeploys({ ...NO_EVIDENCE, calls, runs, transitions, rollout })
}

it('judgeDeploys lets a build continue a run exactly if it has the same tasks, and the same code of those that have begun', () => {
  expect(mayContinue('v2', 'v3', ['survey', 'right'])).toBe(true)
  expect(mayContinue('v2', 'v3', ['survey', 'left'])).toBe(false)
  expect(mayContinue('v1', 'v2', ['survey'])).toBe(false)
  expect(mayContinue('v3', 'v4', ['survey', 'left'])).toBe(true)
  expect(mayContinue('v3', 'v4', ['survey', 'left', 'close'])).toBe(false)
})

it('[CHAOS-D1] judgeDeploys accepts another build before a task that differs has begun, and finds one afterwards', () => {
  expect(judge([claim('v2', STARTED), claim('v3', SURVEY)])).toEqual([])
  expect(judge([claim('v2', STARTED), claim('v2', LEFT)])).toEqual([])
  expect(judge([claim('v2', STARTED), claim('v3', LEFT)])).toEqual([
    'D1 build v3 continued a run of v2 after survey, left: r',
  ])
  expect(judge([claim('v1', STARTED), claim('v2', SURVEY)])).toEqual([
    'D1 build v2 continued a run of v1 after survey: r',
  ])
})

it('[CHAOS-D1] judgeDeploys accepts any build for a run that has not begun', () => {
  expect(judge([claim('v2', -1), claim('v4', -1)])).toEqual([])
})

it('[CHAOS-D1] judgeDeploys accepts another build after a person has moved the run', () => {
  const claims = [claim('v2', STARTED), claim('v3', LEFT)]
  expect(judge(claims, { moved: [{ runId: 'r', at: 50 }] })).toEqual([])
  expect(judge(claims, { moved: [{ runId: 'r', at: 500 }] })).toHaveLength(1)
})

it('[CHAOS-D1] judgeDeploys accepts another build for a run that is being aborted, if it makes no call', () => {
  const cancelled = (mode: string) => log(...run.events, { type: 'run_cancelling', mode })
  const events = cancelled('abort')
  const claims = [claim('v2', STARTED), claim('v3', CANCELLED)]
  expect(judge(claims, { events })).toEqual([])
  expect(judge(claims, { events: cancelled('boundary') })).toEqual([
    'D1 build v3 continued a run of v2 after survey, left: r',
  ])
  const call = { key: 'k', runId: 'r', task: 'left', tool: 'count', piece: '0', pid: 3, at: 900 }
  expect(judge(claims, { events }, [call])).toEqual([
    'D1 build v3 made calls in an aborted run of v2: r',
  ])
})

it('[CHAOS-D1] judgeDeploys finds a process that was not deployed', () => {
  expect(judge([{ ...claim('v2', STARTED), pid: 99 }])).toEqual([
    'D1 claimed by process 99 of an unknown build: r',
  ])
})

it('[CHAOS-D2] judgeDeploys accepts a run that waits for its build, and finds one that the last build may continue or that does not wait', () => {
  const held = { runId: 'r', build: 'v3', status: 'WAITING_FOR_BUILD', lastSeq: LEFT }
  expect(judge([], { waiting: [{ ...held, build: 'v2' }] })).toEqual([])
  expect(judge([], { waiting: [held] })).toEqual([
    'D2 waits for v3, although v4 may continue it: r',
  ])
  expect(judge([], { waiting: [{ ...held, status: 'RUNNING' }] })).toEqual([
    'D2 is RUNNING and not WAITING_FOR_BUILD: r',
  ])
})

it('judgeDeploys counts the runs that processes of several builds executed', () => {
  const rollout: Rollout = { last: 'v4', builds, waiting: [], moved: [] }
  const count = (...transitions: readonly Transition[]) =>
    countContinued({ ...NO_EVIDENCE, transitions, rollout })
  expect(count(claim('v2', STARTED), claim('v2', SURVEY))).toBe(0)
  expect(count(claim('v2', STARTED), claim('v3', SURVEY))).toBe(1)
})

function log(...bare: readonly object[]): KeptRun['events'] {
  return toLog(bare)
}
