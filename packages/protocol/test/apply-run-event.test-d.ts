import { expectTypeOf, it } from 'vitest'
import {
  applyRunEvent,
  runStateAfter,
  type FailureCode,
  type LoggedRunEvent,
  type RunEvent,
  type RunState,
  type RunStatus,
  type TaskStatus,
} from '../src/index.ts'
import type { ReviewState, TaskState } from '../src/internal.ts'

it('applyRunEvent accepts events with and without their position in the log', () => {
  expectTypeOf(applyRunEvent).parameters.toEqualTypeOf<[RunState, RunEvent]>()
  expectTypeOf<LoggedRunEvent[]>().toExtend<Parameters<typeof runStateAfter>[0]>()
})

it('The state uses the enumerations of the wire', () => {
  expectTypeOf<RunState['status']>().toEqualTypeOf<RunStatus>()
  expectTypeOf<TaskState['status']>().toEqualTypeOf<TaskStatus>()
  expectTypeOf<ReviewState['timing']>().toEqualTypeOf<
    'BEFORE_EXECUTION' | 'DURING_EXECUTION' | 'AFTER_EXECUTION'
  >()
  expectTypeOf<FailureCode>().toExtend<NonNullable<TaskState['error']>['code']>()
})

it('A state is readonly', () => {
  const state = runStateAfter([])
  // @ts-expect-error readonly
  state.status = 'RUNNING'
  // @ts-expect-error readonly
  state.tasks.length = 0
  // @ts-expect-error readonly
  state.inputs['topic'] = 'x'
  expectTypeOf(state.tasks).toEqualTypeOf<readonly TaskState[]>()
})
