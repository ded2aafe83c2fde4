import { describe, expect, it } from 'vitest'
import { eventOf, startOfRun, WRITER } from '../../test/run-events.ts'
import { runStateAfter } from './apply-run-event.ts'
import { ListEditor } from './lists.ts'
import { applyToRun, type RunLevelEvent } from './run-level.ts'
import { emptyRunState, type RunState } from './run-state.ts'

const apply = (state: RunState, event: RunLevelEvent) => applyToRun(state, event, new ListEditor())
const from = (...events: readonly RunLevelEvent[]) =>
  events.reduce((state, event) => apply(state, event), emptyRunState())

describe('run_queued', () => {
  it('run_queued sets the plan of the run', () => {
    const { type: _, totalTasks: __, ...fields } = eventOf('run_queued')
    expect(from(eventOf('run_queued'))).toEqual({ ...emptyRunState(), ...fields })
  })
})

describe('ensemble_started', () => {
  it('ensemble_started adds every task of the plan, pending, numbered from 1', () => {
    const state = from(eventOf('run_queued'), eventOf('ensemble_started'))
    expect(state).toMatchObject({
      id: '0b7a7c0e-9d2f-4c2e-8a55-6a6d0c5f3c11',
      startedAt: '2025-03-15T10:30:00Z',
      ensemble: 'research-brief',
      workflow: 'SEQUENTIAL',
      inputs: { topic: 'AI safety' },
    })
    expect(
      state.tasks.map(({ name, index, status, attempt, context }) => ({
        name,
        index,
        status,
        attempt,
        context,
      })),
    ).toEqual([
      { name: 'researcher', index: 1, status: 'PENDING', attempt: 0, context: [] },
      { name: 'writer', index: 2, status: 'PENDING', attempt: 0, context: ['researcher'] },
    ])
  })

  it('ensemble_started keeps the state of tasks whose events came before', () => {
    const known = runStateAfter([
      eventOf('task_started', { taskIndex: 5 }),
      eventOf('task_started', { taskName: 'worker', taskIndex: 3 }),
    ])
    const { tasks } = apply(known, eventOf('ensemble_started'))
    expect(tasks.map(({ name, index, status }) => [name, index, status])).toEqual([
      ['researcher', 1, 'RUNNING'],
      ['writer', 2, 'PENDING'],
      ['worker', 3, 'RUNNING'],
    ])
  })
})

describe('run_resumed with added tasks', () => {
  const editor = { taskIndex: 3, name: 'editor', description: 'Edit', agentRole: 'E', context: [] }
  const resumed = eventOf('run_resumed', { addedTasks: [editor] })
  const readTasks = (state: ReturnType<typeof runStateAfter>) =>
    state.tasks.map(({ name, index, status }) => [name, index, status])

  it('A resumed run adds tasks, pending, after the others', () => {
    expect(readTasks(runStateAfter([...startOfRun(), resumed])).at(-1)).toEqual([
      'editor',
      3,
      'PENDING',
    ])
  })

  it('A resumed run makes a task pending again that was skipped', () => {
    const skipped = eventOf('task_skipped', { taskName: 'editor', taskIndex: 3 })
    const state = runStateAfter([...startOfRun(), resumed, skipped])
    expect(readTasks(state).at(-1)).toEqual(['editor', 3, 'SKIPPED'])
    expect(readTasks(runStateAfter([...startOfRun(), resumed, skipped, resumed]))).toEqual(
      readTasks(runStateAfter([...startOfRun(), resumed])),
    )
  })
})

describe('run_resumed', () => {
  const working = runStateAfter([
    ...startOfRun(),
    eventOf('llm_iteration_started', { iterationIndex: 0 }),
    eventOf('llm_iteration_completed', { iterationIndex: 0 }),
    eventOf('tool_progress', { taskName: 'researcher', toolCallId: 'call-1' }),
    eventOf('llm_iteration_started', { iterationIndex: 1 }),
    eventOf('token', { iterationIndex: 1 }),
  ])

  it('run_resumed discards calls in flight and keeps the attempt', () => {
    const state = apply(working, eventOf('run_resumed'))
    expect(state.epoch).toBe(2)
    expect(state.tasks[0]).toMatchObject({ status: 'RUNNING', attempt: 1 })
    expect(state.tasks[0]?.turns).toHaveLength(1)
    expect(state.tasks[0]?.turns[0]?.toolCalls[0]).not.toHaveProperty('progress')
    expect(state.tasks[0]?.turns[0]?.toolCalls[0]?.startedAt).toBe('2025-03-15T10:30:08.200Z')
    expect(state.tasks[1]).toBe(working.tasks[1])
  })

  it('run_resumed leaves a task that is not running unchanged', () => {
    const ended = runStateAfter([...startOfRun(), eventOf('llm_iteration_completed')])
    const failed = {
      ...ended,
      tasks: ended.tasks.map((task) => ({ ...task, status: 'FAILED' as const })),
    }
    expect(apply(failed, eventOf('run_resumed')).tasks).toBe(failed.tasks)
  })
})

describe('run_cancelling', () => {
  it('run_cancelling sets the mode of the latest cancel', () => {
    const state = from(
      eventOf('run_cancelling', { mode: 'boundary' }),
      eventOf('run_cancelling', { mode: 'abort' }),
    )
    expect(state.cancelMode).toBe('abort')
  })
})

describe('file_changed', () => {
  it('file_changed records every change, in order', () => {
    const { type: _, ...change } = eventOf('file_changed')
    const modified = eventOf('file_changed', { changeType: 'MODIFIED' })
    expect(from(eventOf('file_changed'), modified).changedFiles).toEqual([
      change,
      { ...change, changeType: 'MODIFIED' },
    ])
  })
})

describe('model_switched', () => {
  const ofWriter = eventOf('model_switched')
  const ofRun = eventOf('model_switched', { model: 'opus', taskName: undefined })
  const models = (...events: readonly RunLevelEvent[]) => {
    const { model, tasks } = from(eventOf('ensemble_started'), ...events)
    return [model, ...tasks.map((task) => task.model)]
  }

  it('model_switched of one task sets the model of the task', () => {
    expect(models(ofWriter)).toEqual([undefined, undefined, 'haiku'])
    expect(models(ofRun, ofWriter)).toEqual(['opus', undefined, 'haiku'])
  })

  it('model_switched of the run overrides earlier switches of single tasks', () => {
    expect(models(ofWriter, ofRun)).toEqual(['opus', undefined, undefined])
  })

  it('model_switched of the run leaves tasks without a switch unchanged', () => {
    const state = from(eventOf('ensemble_started'))
    expect(apply(state, ofRun).tasks).toBe(state.tasks)
  })

  it('model_switched of an unknown task changes no task', () => {
    const other = eventOf('model_switched', { taskName: 'nobody' })
    expect(models(other)).toEqual([undefined, undefined, undefined])
  })
})

describe('the end of a run', () => {
  it('The end of a run sets its time, duration and reason', () => {
    expect(from(eventOf('ensemble_completed', { exitReason: 'USER_EXIT_EARLY' }))).toMatchObject({
      completedAt: eventOf('ensemble_completed').completedAt,
      durationMs: eventOf('ensemble_completed').durationMs,
      exitReason: 'USER_EXIT_EARLY',
    })
  })

  it('The end of a run sets the outputs and metrics', () => {
    const { outputs, metrics, durationMs } = eventOf('run_result')
    const state = from(eventOf('ensemble_started'), eventOf('run_result'))
    expect(state).toMatchObject({ status: 'COMPLETED', outputs, metrics, durationMs })
    expect(state).not.toHaveProperty('error')
    expect(state.id).toBe(eventOf('ensemble_started').ensembleId)
  })

  it('The end of a run sets the error with its code, and the id of a run that never began', () => {
    const failed = eventOf('run_result', {
      status: 'FAILED',
      metrics: undefined,
      error: 'Task "writer" failed',
      code: 'MODEL_FAILED',
    })
    const state = from(eventOf('run_queued'), failed)
    expect(state.error).toEqual({ message: 'Task "writer" failed', code: 'MODEL_FAILED' })
    expect(state.id).toBe('run-7f3a2b')
    expect(state).not.toHaveProperty('metrics')
    const older = eventOf('run_result', { status: 'FAILED', error: 'Failed' })
    expect(from(older).error).toEqual({ message: 'Failed' })
  })

  it('The end of a run keeps the state of the tasks', () => {
    const state = runStateAfter([...startOfRun(), eventOf('task_started', WRITER)])
    expect(apply(state, eventOf('run_result')).tasks).toBe(state.tasks)
  })
})
