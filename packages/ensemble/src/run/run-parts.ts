/** Creates the parts that the tasks of one run share. */
import { createLimiter, systemClock, type Clock, type Logger, type TuttiError } from '@tutti/core'
import { newId, newTraceparent, silentLogger } from '@tutti/core/internal'

import { createClientTool } from '../agent/client-tools.ts'
import { Meter, THE_RUN, type Budget } from '../usage/budget.ts'
import { Delegations } from '../hierarchy/delegations.ts'
import { toHistoryModelMessages } from '../definition/history.ts'
import { listAllTasks } from '../definition/manager.ts'
import { listRoles } from '../definition/sub-ensemble.ts'
import { DEFAULT_TEXT_LIMITS } from '../definition/text-limits.ts'
import { inMemoryStore } from '../memory/in-memory-store.ts'
import { inMemoryReflectionStore } from '../memory/reflection.ts'
import { createListenerJournal, type RunJournal } from '../ports/run-journal.ts'
import { countEarlierRun } from '../scope/count-earlier.ts'
import { NO_STEPS, StepLog } from '../scope/step-log.ts'
import { createFallbackModelLookup, createOwnModelLookup } from '../definition/model-of-task.ts'
import { Directives } from '../steering/directives.ts'
import { Reviews } from '../reviews/reviews.ts'
import { ModelRules } from '../steering/model-rules.ts'
import { ModelSwitches } from '../steering/models.ts'
import { InFlight } from '../work/in-flight.ts'
import { createLoggingJournal } from './logging-journal.ts'
import { createRulesJournal } from './rules-journal.ts'
import { Steering } from '../steering/steering.ts'
import { WaitingTasks } from '../work/task-slots.ts'
import { Stopwatch } from '../work/stopwatch.ts'

import type { MemoryStores } from '../agent/notes.ts'
import type { MemoryStore } from '../memory/memory.ts'
import type { ReflectionStore } from '../memory/reflection.ts'
import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { WorkerHost } from '../hierarchy/workers.ts'
import type { Inputs } from '../definition/inputs.ts'
import type { Task } from '../definition/task.ts'
import type { RunStep, StepOf } from '../ports/run-step.ts'
import type { RunOptions } from './run-options.ts'
import type { RunScope } from '../scope/run-scope.ts'
import type { TaskServices } from './attempt.ts'
import type { RunTooling, SharedCallOptions } from '../agent/tool-call-options.ts'

export interface RunParts {
  readonly scope: RunScope
  readonly services: TaskServices
  readonly steering: Steering
  /** Tasks of the plan, including the manager's. */
  readonly tasks: readonly Task[]
  readonly budget: Budget | undefined
  /** Returns the time since the run began, also in an earlier process, in whole milliseconds. */
  durationMs(): number
}

/** Input of {@link createRunParts}. */
export interface RunDefinition {
  readonly ensemble: ResolvedEnsemble
  readonly inputs: Inputs
  readonly options: RunOptions
  /** Runs delegated tasks, and ends the run when a reviewer requests it. */
  readonly host: WorkerHost & { endEarly(exit: TuttiError): void }
}

export function createRunParts(definition: RunDefinition): RunParts {
  const { ensemble, inputs, options, host } = definition
  const { clock = systemClock, logger = silentLogger, resume } = options
  const runId = options.runId ?? newId('run')
  const log = resume === undefined ? NO_STEPS : new StepLog(resume.steps, resume.replay)
  const stopwatch = new Stopwatch(clock, resume?.steps.at(-1)?.runMs)
  const rules = new ModelRules(ensemble.modelRules)
  rules.restore(resume?.steps ?? [])
  const journal = createRulesJournal(createJournal(definition, { runId, logger }), {
    rules,
    elapsed: () => stopwatch.elapsed(),
    onCounted: () => {
      steering.followRules()
    },
  })
  const switches = new ModelSwitches(options.models)
  const directives = new Directives()
  const budget = options.budget ?? ensemble.budget
  const tasks = listAllTasks(ensemble)
  const meter = new Meter({ label: THE_RUN, budget, elapsed: () => stopwatch.elapsed() })
  countEarlierRun(meter, log)
  const onExit = (exit: TuttiError): void => {
    host.endEarly(exit)
  }
  const { onWaiting, onWaitingChange, onAgentWaitChange } = options
  const inFlight = new InFlight({
    onWaiting: logErrors(onWaiting, logger),
    onWaitingChange: logErrors(onWaitingChange, logger),
    onAgentWaitChange: logErrors(onAgentWaitChange, logger),
  })
  const reviews = new Reviews({
    clock,
    log,
    inFlight,
    reviewer: options.reviewer,
    decidable: options.decidable === true,
    onExit,
  })
  const steering = new Steering({
    runId,
    clock,
    journal,
    stopwatch,
    switches,
    ownModel: createOwnModelLookup(ensemble, tasks),
    fallbackModel: createFallbackModelLookup(ensemble, tasks),
    rules,
    profiles: options.profiles ?? {},
    directives,
    reviews,
    taskNames: () => host.taskNames,
    roles: () => listRoles(tasks),
  })
  const scope: RunScope = {
    runId,
    ensemble,
    inputs,
    history: toHistoryModelMessages(options.history),
    clock,
    logger,
    journal,
    log,
    stopwatch,
    meter,
    inFlight,
    waitingTasks: new WaitingTasks(inFlight),
    maxTextBytes: options.textLimits?.maxTextBytes ?? DEFAULT_TEXT_LIMITS.maxTextBytes,
    recordsSteps: options.journal !== undefined,
    ...steering.signals,
  }
  const services = createServices(definition, { scope, switches, directives, reviews })
  return {
    scope,
    services,
    steering,
    tasks,
    budget,
    durationMs: createDurationMeter(log, clock, stopwatch),
  }
}

/** Wraps a listener so that its errors are logged. */
function logErrors<Args extends readonly unknown[]>(
  listener: ((...args: Args) => void) | undefined,
  logger: Logger,
): ((...args: Args) => void) | undefined {
  if (listener === undefined) return undefined
  return (...args) => {
    try {
      listener(...args)
    } catch (error) {
      logger.error('Waiting listener of a run failed', { error })
    }
  }
}

function createDurationMeter(log: StepLog, clock: Clock, stopwatch: Stopwatch): () => number {
  const begun = log.runSteps.findLast(isBeginning)
  const startedAt =
    begun === undefined
      ? stopwatch.startedAt
      : clock.elapsed() - Math.max(0, clock.now() - begun.startedAt)
  return () => Math.round(clock.elapsed() - startedAt)
}

/** Whether the step begins the run, or continues it as a fork. */
function isBeginning(step: RunStep): step is StepOf<'run_begun' | 'run_forked'> {
  return step.kind === 'run_begun' || step.kind === 'run_forked'
}

function createServices(
  { ensemble, inputs, options, host }: RunDefinition,
  {
    scope: { clock, log },
    switches,
    ...steered
  }: Pick<TaskServices, 'directives' | 'reviews'> & {
    readonly scope: RunScope
    readonly switches: ModelSwitches
  },
): TaskServices {
  return {
    ...steered,
    models: { switches, prices: options.prices, onRateLimitWait: options.onRateLimitWait },
    tooling: createTooling(ensemble, options, steered.reviews),
    stores: new RunStores(options, clock),
    delegations: new Delegations({ run: { ensemble, inputs }, log, host }),
    host,
  }
}

function createTooling(
  { maxConcurrentToolCalls, review }: ResolvedEnsemble,
  {
    toolMetrics,
    clock,
    traceparent,
    tracestate,
    request,
    callbackUrl,
    clientTools = [],
  }: RunOptions,
  reviews: Reviews,
): RunTooling {
  // Many runs need neither a trace nor tools, so both are created on first use.
  let trace = traceparent
  let shared: SharedCallOptions | undefined
  return {
    reviews,
    clientTools: clientTools.map(createClientTool),
    request,
    callbackUrl,
    traceparent() {
      trace ??= newTraceparent()
      return trace
    },
    shared() {
      shared ??= {
        limiter: createLimiter({
          maxConcurrent: maxConcurrentToolCalls,
          ...(clock === undefined ? {} : { clock }),
        }),
        maxConcurrentCalls: maxConcurrentToolCalls,
        ...(toolMetrics === undefined ? {} : { metrics: toolMetrics }),
        ...(tracestate === undefined ? {} : { tracestate }),
        ...(request === undefined ? {} : { request }),
        ...(review === undefined ? {} : { approvalDefaults: review }),
      }
      return shared
    },
  }
}

/** Memory stores of a run; those that its options do not provide are created on first use. */
class RunStores implements MemoryStores {
  readonly #clock: Clock
  #memories: MemoryStore | undefined
  #reflections: ReflectionStore | undefined

  constructor({ memories, reflections }: RunOptions, clock: Clock) {
    this.#clock = clock
    this.#memories = memories
    this.#reflections = reflections
  }

  get memories(): MemoryStore {
    this.#memories ??= inMemoryStore({ clock: this.#clock })
    return this.#memories
  }

  get reflections(): ReflectionStore {
    this.#reflections ??= inMemoryReflectionStore()
    return this.#reflections
  }
}

function createJournal(
  { ensemble, options }: RunDefinition,
  { runId, logger }: Pick<RunScope, 'runId' | 'logger'>,
): RunJournal {
  return createLoggingJournal(options.journal ?? createOwnJournal(options, logger), {
    runId,
    logger,
    verbose: options.verbose ?? ensemble.verbose,
    toolLogTruncateLength: options.toolLogTruncateLength ?? ensemble.toolLogTruncateLength,
  })
}

function createOwnJournal({ onEvent }: RunOptions, logger: Logger): RunJournal {
  return createListenerJournal(
    (event) => onEvent?.(event),
    (error) => {
      logger.error('Event listener of a run failed', { error })
    },
  )
}
