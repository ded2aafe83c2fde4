/** Tasks that code performs: a function, or one tool call. */
import { toModelText, TuttiError, type AgentTool, type Logger, type ToolResult } from '@tutti/core'
import { formatExactJson, isToolResult, toJsonForm, toPlainJson } from '@tutti/core/internal'

import { renderOutput, type TaskAnswer } from '../agent/loop.ts'
import { HandlerOutput } from '../definition/handler-output.ts'
import { isRecordedTask } from '../hierarchy/workers.ts'
import { RecordedOperations } from '../scope/recorded-operations.ts'
import { describeStep, replayMismatchError } from '../scope/replay.ts'
import { fromStepError, isOperation } from '../scope/step-log.ts'
import { HANDLER_CALL, type TaskScope } from '../scope/task-scope.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { untilStopped } from '../work/until-stopped.ts'
import { digestHandlerInput } from './handler-input.ts'
import { Operations } from './handler-operations.ts'
import { createCallbackUrl } from './handler-wait.ts'
import { callFromHandler } from './handler-tool.ts'

import type { FrameSettings, OperationFrame, OperationSettings } from './operation-frame.ts'
import type { Inputs } from '../definition/inputs.ts'
import type { TaskText } from '../definition/task-text.ts'
import type { ContextOutput, Handler, HandlerContext, TaskHandler } from '../definition/handler.ts'
import type { Task } from '../definition/task.ts'
import type { OutputReader } from '../output/structured-output.ts'
import type { StepOf } from '../ports/run-step.ts'
import type { CallerRequest, MessagePart } from '@tutti/core/internal'

/** The input of {@link runHandler}. */
export interface HandlerInput extends OperationSettings {
  readonly text: TaskText
  readonly context: readonly ContextOutput[]
}

/**
 * Calls the handler of a task and returns its answer; not a promise if the handler returns at once and
 * nothing has to become durable, because each await would cost the task a turn of the microtask queue.
 *
 * @throws {TuttiError} TASK_FAILED with what the handler threw or with the reason of its failed result,
 * OUTPUT_INVALID if its value does not match the schema, or the reason why the work was stopped.
 */
export function runHandler(
  scope: TaskScope,
  handler: Handler,
  input: HandlerInput,
): TaskAnswer | Promise<TaskAnswer> {
  const recorded = scope.replay('handler_ended')
  if (recorded !== undefined) {
    assertSameInput(recorded, input)
    return toAnswer(recorded)
  }
  const known = findInRecord(scope, input)
  if (known?.kind === 'task_failed') throw fromStepError(known.error)
  if (known !== undefined) {
    const { text, value, parts } = known
    return recordAnswer(scope, input, {
      text,
      ...(value === undefined ? {} : { value }),
      ...(parts === undefined ? {} : { parts }),
    })
  }
  const answer =
    typeof handler === 'function'
      ? callHandler(scope, handler, input)
      : callHandlerTool(scope, handler, input).then((result) =>
          readAnswer(scope, selectToolOutput(result, handler, scope.task)),
        )
  return answer instanceof Promise
    ? answer.then((given) => recordAnswer(scope, input, given))
    : recordAnswer(scope, input, answer)
}

/**
 * Whether the handler of a stopped attempt runs again for its compensations and those of its tasks: an earlier process recorded
 * operations of it, and this one can record more.
 */
export function mustCompensate({ log, run, signal, task, identity }: TaskScope): boolean {
  if (typeof task.handler !== 'function' || isRecordedTask(task) || run.lost.aborted) return false
  const steps = log.ofAttempt(identity.attempt)
  if (steps.some(({ kind }) => kind === 'handler_ended')) return false
  return steps.some(
    (step) => step.kind === 'compensation_begun' || (signal.aborted && isOperation(step)),
  )
}

/** Returns the end of the handler in the record of a replay with live models. */
function findInRecord(
  { run: { log }, identity }: TaskScope,
  input: HandlerInput,
): StepOf<'handler_ended' | 'task_failed'> | undefined {
  if (log.replay !== 'models' || log.record.hasChildren(identity.taskName)) return undefined
  return log.record.findHandler(identity, digestHandlerInput(input))
}

/**
 * Checks that a handler would receive what it received when its output was recorded.
 *
 * @throws {TuttiError} REPLAY_MISMATCH if not.
 */
function assertSameInput(step: StepOf<'handler_ended'>, input: HandlerInput): void {
  const { taskName, inputDigest } = step
  const asked = digestHandlerInput(input)
  if (asked === inputDigest) return
  throw replayMismatchError({
    taskName,
    step: describeStep(step),
    recorded: `the output of a handler for input ${inputDigest}`,
    asked: `that for input ${asked}`,
  })
}

/** Reads the return value of a handler; not a promise if the task has no schema. */
function readAnswer({ task }: TaskScope, given: unknown): HandlerAnswer | Promise<HandlerAnswer> {
  const answer = toHandlerAnswer(given, task)
  if (task.outputReader !== undefined) return parseBySchema(task, task.outputReader, answer)
  const { value: _, ...text } = answer
  return text
}

/** Records the answer of a handler and returns it, as a promise if it first has to become durable. */
function recordAnswer(
  scope: TaskScope,
  input: HandlerInput,
  given: HandlerAnswer,
): TaskAnswer | Promise<TaskAnswer> {
  const recorded = scope.run.recordsSteps
    ? scope.commit({ kind: 'handler_ended', inputDigest: digestHandlerInput(input), ...given })
    : undefined
  const answer = toAnswer(given)
  return recorded === undefined ? answer : recorded.then(() => answer)
}

/** Output of a handler. */
interface HandlerAnswer {
  readonly text: string
  readonly value?: unknown
  readonly parts?: readonly MessagePart[]
}

function toAnswer({ text, value, parts }: HandlerAnswer): TaskAnswer {
  return {
    output: text,
    ...(value === undefined ? {} : { structured: value }),
    ...(parts === undefined ? {} : { parts }),
    iterationLimitReached: false,
    turns: 0,
  }
}

/** Returns the answer of the handler, or a promise of it. */
function callHandler(
  scope: TaskScope,
  handler: TaskHandler,
  input: HandlerInput,
): HandlerAnswer | Promise<HandlerAnswer> {
  const { run, identity, log: known } = scope
  const { log } = run
  scope.assertReplayedBeforeHandler()
  // A replay with live models calls those of the tasks that the handler adds.
  if (!(log.replay === 'models' && log.record.hasChildren(identity.taskName))) {
    scope.assertLive(HANDLER_CALL)
  }
  const begun = known.find('compensation_begun', identity.attempt)
  const failure = begun === undefined ? undefined : fromStepError(begun.error)
  const signal = failure === undefined ? scope.signal : AbortSignal.abort(failure)
  // A stopped handler runs only for its compensations, in the next process if this one drains.
  const holding = run.inFlight.waitIfDraining(signal.aborted ? run.lost : signal, 'Handler')
  if (holding !== undefined) return holding
  const context = new CallContext(scope, { ...input, signal, failure })
  let work: unknown
  try {
    work = handler(context)
  } catch (error) {
    work = Promise.reject(error)
  }
  if (isThenable(work)) return awaitHandler(scope, context, work)
  if (context.used !== undefined) return endOperations(scope, context, Promise.resolve(work))
  void context.close()
  assertNoOperations(scope)
  return readAnswer(scope, work)
}

/** Waits for a handler and its operations. If the task is stopped, waits until the handler has stopped. */
async function awaitHandler(
  scope: TaskScope,
  context: CallContext,
  work: PromiseLike<unknown>,
): Promise<HandlerAnswer> {
  const working = untilStopped(Promise.resolve(work), {
    signal: context.signal,
    clock: scope.run.clock,
    what: 'Handler',
    waitsFor: () => context.used?.settled(),
  })
  return endOperations(scope, context, working)
}

/** Waits for the end of the handler, then ends its operations and, if it has no answer, compensates. */
async function endOperations(
  scope: TaskScope,
  context: CallContext,
  work: Promise<unknown>,
): Promise<HandlerAnswer> {
  const [ended] = await Promise.allSettled([work])
  await context.close()
  try {
    assertEnd(scope, context, ended)
    return await readAnswer(scope, ended.value)
  } catch (thrown) {
    throw await context.undo(TuttiError.from(thrown, 'TASK_FAILED'))
  }
}

/**
 * Checks that a handler has returned a value, and was not stopped.
 *
 * @throws {TuttiError} the reason why it has no answer.
 */
function assertEnd(
  scope: TaskScope,
  { signal, used, failure }: CallContext,
  ended: PromiseSettledResult<unknown>,
): asserts ended is PromiseFulfilledResult<unknown> {
  if (failure !== undefined) {
    used?.assertNotEnded()
    throw failure
  }
  if (signal.aborted) {
    const error: unknown = ended.status === 'rejected' ? ended.reason : undefined
    throw TuttiError.isInstance(error) ? error : stoppedError(signal, 'Handler', { cause: error })
  }
  if (used === undefined) assertNoOperations(scope)
  else used.assertDone()
  if (ended.status === 'rejected') throw ended.reason
}

/** Checks that no operations of the handler are recorded. @throws {TuttiError} REPLAY_MISMATCH */
function assertNoOperations({ log, identity }: TaskScope): void {
  if (log.isKnown) new RecordedOperations(log, identity).assertAsked(0)
}

/** Input of one call of a handler. */
interface CalledHandler extends HandlerInput, FrameSettings {
  readonly failure: TuttiError | undefined
}

/** The context of one call of a handler. Most handlers use no operations, so these are created on first use. */
class CallContext implements HandlerContext {
  readonly runId: string
  readonly taskName: string
  readonly attempt: number
  readonly description: string
  readonly expectedOutput: string
  readonly context: readonly ContextOutput[]
  readonly inputs: Inputs
  declare readonly request?: CallerRequest
  readonly signal: AbortSignal
  readonly logger: Logger
  readonly idempotencyKey: string
  /** Recorded failure of the handler, which only runs for its compensations; undefined if it does its work. */
  readonly failure: TuttiError | undefined
  readonly #scope: TaskScope
  readonly #settings: FrameSettings
  #operations: Operations | undefined
  #isClosed = false

  constructor(scope: TaskScope, { text, context, tooling, host, signal, failure }: CalledHandler) {
    const { run, identity } = scope
    const { taskName, attempt } = identity
    this.runId = run.runId
    this.taskName = taskName
    this.attempt = attempt
    this.description = text.description
    this.expectedOutput = text.expectedOutput
    this.context = context
    this.inputs = run.inputs
    if (tooling.request !== undefined) this.request = tooling.request
    this.signal = signal
    this.logger = run.logger
    this.idempotencyKey = `${run.runId}/${taskName}/${attempt}/handler`
    this.failure = failure
    this.#scope = scope
    this.#settings = { tooling, host, signal }
  }

  /** The operations of the handler; undefined if it has used none. */
  get used(): OperationFrame | undefined {
    return this.#operations?.frame
  }

  /**
   * Cancels the operations in flight, because the handler has ended. It can begin no other. Resolves when they have ended;
   * undefined if the handler has used none, so that no promise is created.
   */
  close(): Promise<void> | undefined {
    this.#isClosed = true
    return this.used?.close()
  }

  /** Runs the compensations of the handler, and returns the error of the attempt. */
  async undo(failure: TuttiError): Promise<TuttiError> {
    return this.#operations?.compensations.run(failure) ?? failure
  }

  get callbackUrl(): HandlerContext['callbackUrl'] {
    return async (event) => createCallbackUrl(this.#scope, this.#settings.tooling, event)
  }

  get task(): HandlerContext['task'] {
    return this.#use().task
  }

  get map(): HandlerContext['map'] {
    return this.#use().map
  }

  get reduce(): HandlerContext['reduce'] {
    return this.#use().reduce
  }

  get call(): HandlerContext['call'] {
    return this.#use().call
  }

  get step(): HandlerContext['step'] {
    return this.#use().step
  }

  get compensate(): HandlerContext['compensate'] {
    return this.#use().compensate
  }

  get ask(): HandlerContext['ask'] {
    return this.#use().ask
  }

  get waitFor(): HandlerContext['waitFor'] {
    return this.#use().waitFor
  }

  get sleep(): HandlerContext['sleep'] {
    return this.#use().sleep
  }

  #use(): Operations {
    if (this.#operations === undefined) {
      this.#operations = new Operations(this.#scope, this.#settings)
      if (this.#isClosed) void this.#operations.frame.close()
    }
    return this.#operations
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}

/**
 * Returns the part of a tool's result that is the output of the task: if neither the tool nor the task
 * declares a value, the text that a model would receive. The result of an agent, for example, also has
 * metadata of its answer.
 */
function selectToolOutput(
  result: unknown,
  { outputSchema }: AgentTool,
  { outputReader }: Task,
): unknown {
  const isText = outputSchema === undefined && outputReader === undefined
  return isText && isToolResult(result) && result.success && result.output !== ''
    ? result.output
    : result
}

async function callHandlerTool(
  scope: TaskScope,
  tool: AgentTool,
  { text, context, tooling }: HandlerInput,
): Promise<ToolResult> {
  const { run, identity, signal } = scope
  const { taskName, attempt } = identity
  const input = context.at(-1)?.output ?? text.description
  const ended = scope.replay('tool_ended')
  const begun = scope.replay('tool_begun')
  scope.assertReplayed(`a call of tool "${tool.name}"`)
  return callFromHandler(scope, {
    tool,
    call: {
      id: 'handler',
      name: tool.name,
      arguments: tool.kind === 'text' ? JSON.stringify({ input }) : input,
    },
    tooling,
    position: 0,
    idempotencyKey: `${run.runId}/${taskName}/${attempt}/handler`,
    signal,
    begun,
    ended,
  })
}

/** Converts the return value of a handler to text and value. */
function toHandlerAnswer(given: unknown, task: Task): HandlerAnswer {
  if (given instanceof HandlerOutput) {
    const { text, value = text, parts } = given
    return { text, value, parts }
  }
  const value = isToolResult(given) ? readResultValue(given) : given
  if (value === undefined || value === null) {
    throw new TuttiError('TASK_FAILED', `The handler of task "${task.name}" returned nothing`)
  }
  if (value instanceof Error) throw value
  const form = toJsonForm(value)
  const exact = form.ok ? form.value : undefined
  const text = typeof exact === 'string' ? exact : formatExactJson(exact)
  if (text !== undefined) return { text, value: toPlainJson(exact) }
  const problem = form.ok ? 'the value has no JSON form' : form.problem
  throw new TuttiError(
    'TASK_FAILED',
    `The handler of task "${task.name}" must return text or JSON, but ${problem}`,
  )
}

/** Parses the output of a handler by the schema of its task. */
async function parseBySchema(
  { name }: Task,
  reader: OutputReader,
  answer: HandlerAnswer,
): Promise<HandlerAnswer> {
  const { text, value } = answer
  const reading =
    typeof value === 'string' ? await reader.read(text) : await reader.readValue(value)
  if (reading.ok) return { ...answer, text: renderOutput(reading.value), value: reading.value }
  throw new TuttiError(
    'OUTPUT_INVALID',
    `The output of the handler of task "${name}" does not match its schema: ${reading.problem}`,
    { details: { problem: reading.problem } },
  )
}

function readResultValue(result: Parameters<typeof toModelText>[0]): unknown {
  if (result.success) return result.structured ?? result.output
  throw new TuttiError('TASK_FAILED', result.errorMessage ?? toModelText(result))
}
