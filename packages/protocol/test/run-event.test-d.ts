import { expectTypeOf, it } from 'vitest'
import type {
  ClientMessage,
  LoggedRunEvent,
  RunEvent,
  RunEventOf,
  RunStatus,
  ServerMessage,
} from '../src/index.ts'
import type { RunQueued, TaskCompleted } from '../src/internal.ts'

it('RunEvent narrows by type', () => {
  const read = (event: RunEvent): string => {
    if (event.type === 'task_completed') {
      expectTypeOf(event).toEqualTypeOf<TaskCompleted>()
      expectTypeOf(event.structuredOutput).toEqualTypeOf<unknown>()
      return event.output
    }
    return event.type
  }
  expectTypeOf(read).returns.toBeString()
})

it('LoggedRunEvent narrows by type and keeps its position', () => {
  const read = (event: LoggedRunEvent): number => {
    expectTypeOf(event.runId).toBeString()
    if (event.type === 'run_result')
      expectTypeOf(event.status).toEqualTypeOf<'COMPLETED' | 'FAILED' | 'CANCELLED'>()
    return event.type === 'token' ? event.iterationIndex + event.seq : event.seq
  }
  expectTypeOf(read).returns.toBeNumber()
})

it('RunEventOf picks one member', () => {
  expectTypeOf<RunEventOf<'run_queued'>>().toEqualTypeOf<RunQueued>()
  // @ts-expect-error no such event
  expectTypeOf<RunEventOf<'run_started'>>().toBeNever()
})

it('Optional fields are absent, not undefined', () => {
  // @ts-expect-error exactOptionalPropertyTypes
  const event: RunEventOf<'run_result'> = {
    type: 'run_result',
    runId: 'r',
    status: 'FAILED',
    outputs: [],
    durationMs: 1,
    error: undefined,
  }
  expectTypeOf(event).toExtend<RunEvent>()
})

it('ClientMessage and ServerMessage narrow by type', () => {
  const readClient = (message: ClientMessage): unknown => {
    if (message.type === 'run_request')
      expectTypeOf(message.inputs).toEqualTypeOf<Record<string, string> | undefined>()
    if (message.type === 'subscribe') expectTypeOf(message.from).toEqualTypeOf<number | undefined>()
    return message.type === 'run_control'
      ? (message.action satisfies 'cancel' | 'switch_model')
      : undefined
  }
  const readServer = (message: ServerMessage): unknown => {
    if (message.type === 'task_started') return message.seq satisfies number
    if (message.type === 'hello')
      return message.snapshotTrace satisfies LoggedRunEvent[] | undefined
    return message.type
  }
  expectTypeOf(readClient).toBeFunction()
  expectTypeOf(readServer).toBeFunction()
})

it('RunStatus has its values', () => {
  expectTypeOf<RunStatus>().toEqualTypeOf<
    | 'ACCEPTED'
    | 'RUNNING'
    | 'CANCELLING'
    | 'WAITING_REVIEW'
    | 'WAITING'
    | 'WAITING_FOR_BUILD'
    | 'COMPLETED'
    | 'FAILED'
    | 'CANCELLED'
    | 'REJECTED'
  >()
})
