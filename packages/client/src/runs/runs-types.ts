/** The runs part of a client, and the options of its calls. */
import type {
  ForkPreview,
  ForkRunBody,
  ListRunsQuery,
  ReplayRunBody,
  RunAccepted,
  RunComparison,
  RunDetail,
  RunEvent,
  RunList,
  RunSummary,
  SubmitRunBody,
} from '@tutti/protocol'
import type {
  CancelAccepted,
  CancelBody,
  CancelRunsBody,
  DagModel,
  DirectiveAction,
  ExecutionTrace,
  InjectAccepted,
  InjectBody,
  MigrateRunBody,
  ModelSwitched,
  RunMigrated,
  RunsCancelled,
  SwitchModelBody,
} from '@tutti/protocol/internal'
import type { CommandOptions } from '../commands.ts'
import type { FollowOptions, LoggedRunEventOf, RunEventsOptions } from '../events/run-events.ts'
import type { CallOptions } from '../http/exchange.ts'
import type { EndedRun, RunEnd } from '../ended-run.ts'

/** Settings of a submit, next to its body. */
export interface SubmitOptions extends CallOptions {
  /**
   * Idempotency key, 1 to 255 visible ASCII characters: the same body under the same key creates one run. A submit with
   * a key is retried automatically when its response is lost.
   */
  readonly idempotencyKey?: string | undefined
  /**
   * Seconds, up to 600, that the server waits for the run to end. If it ends in that time, the run itself is returned.
   * `timeoutMs` is added to this time. @default 0
   */
  readonly wait?: number | undefined
}

/** Options of a wait for the end of a run. */
export interface ResultOptions extends FollowOptions {
  /** Whether a run that ends with FAILED or CANCELLED throws an {@link UnfinishedRunError}. @default false */
  readonly throwOnFailure?: boolean | undefined
}

/** Options of a run that is submitted and awaited; `timeoutMs` limits the wait and has no default. */
export interface RunAndWaitOptions extends ResultOptions, Pick<SubmitOptions, 'idempotencyKey'> {}

export interface CancelOptions extends CommandOptions, CancelBody {}

export interface SwitchModelOptions
  extends CommandOptions, Omit<SwitchModelBody, 'model' | 'tier'> {}

export interface InjectOptions
  extends CommandOptions, Omit<InjectBody, 'content' | 'action' | 'value'> {}

/** A directive that performs an action instead of giving the agents a text. */
export interface ActionDirective {
  readonly action: DirectiveAction
  /** Name of a tier for SET_MODEL_TIER, or of a profile for APPLY_PROFILE. */
  readonly value: string
}

/** Body of a fork; {@link RunsClient.previewFork} previews it. */
export interface ForkBody extends Omit<ForkRunBody, 'preview'> {
  readonly preview?: never
}

/** The overloads of `client.runs.submit`. */
export interface SubmitRun {
  /** Submits a run; resolves when the run is durable. */
  (
    body: SubmitRunBody,
    options?: SubmitOptions & { readonly wait?: undefined },
  ): Promise<RunAccepted>
  /**
   * Submits a run and waits up to `wait` seconds for its end. Returns the run if it has ended, else its acceptance,
   * which has the status ACCEPTED.
   */
  (body: SubmitRunBody, options: SubmitOptions): Promise<RunAccepted | EndedRun>
}

/** Runs of a server. Every method throws {@link TuttiClientError}; an empty `runId` is a TypeError. */
export interface RunsClient {
  /**
   * Submits a run: of an ensemble as configured, of an ensemble with `taskOverrides`, or of your own `tasks`. With an
   * `idempotencyKey`, a submit whose response was lost can be repeated: it returns the same run, or fails with
   * IDEMPOTENCY_CONFLICT if the body differs.
   */
  readonly submit: SubmitRun
  /** Submits a run and waits for its end. An abort ends the wait; the run continues. */
  run(body: SubmitRunBody, options?: RunAndWaitOptions): Promise<RunEnd>
  /**
   * Waits for a run to end, over any number of connections. A run that ends with FAILED or CANCELLED is a result too,
   * unless `throwOnFailure` is set.
   */
  result(runId: string, options?: ResultOptions): Promise<RunEnd>
  /** Returns a run with its tasks and outputs. */
  get(runId: string, options?: CallOptions): Promise<RunDetail>
  /** Returns a page of runs, newest first. */
  list(query?: ListRunsQuery, options?: CallOptions): Promise<RunList>
  /**
   * Returns every run that matches, newest first. Pages of `limit` runs are fetched as the loop needs them. Runs that
   * are submitted meanwhile are omitted; one that is deleted meanwhile may hide another.
   */
  listAll(query?: ListRunsQuery, options?: CallOptions): AsyncIterable<RunSummary>
  /** Deletes a run and its events; an active run is cancelled first. */
  delete(runId: string, options?: CallOptions): Promise<void>
  /** Requests the cancellation of a run. The run has ended when its `run_result` arrives, not when this resolves. */
  cancel(runId: string, options?: CancelOptions): Promise<CancelAccepted>
  /** Cancels every run with a tag, `key` or `key:value`, that has not ended. */
  cancelAll(which: CancelRunsBody, options?: CallOptions): Promise<RunsCancelled>
  /**
   * Submits a run that begins with the events and results of another one, up to the event or task `at`, and continues
   * from there. The copied part costs nothing and repeats no call.
   */
  fork(runId: string, body: ForkBody, options?: Omit<SubmitOptions, 'wait'>): Promise<RunAccepted>
  /**
   * Returns what a fork would do: the tasks that it reuses and executes, and what the executed part cost in the forked
   * run. Creates nothing.
   */
  previewFork(runId: string, body: ForkBody, options?: CallOptions): Promise<ForkPreview>
  /**
   * Submits a run that executes a completed run again with its recorded results. It fails with REPLAY_MISMATCH where its
   * code asks for something that is not recorded.
   */
  replay(
    runId: string,
    body: ReplayRunBody,
    options?: Omit<SubmitOptions, 'wait'>,
  ): Promise<RunAccepted>
  /**
   * Moves a run that waits to the code of another build. With `preview`, returns the differences and moves nothing.
   */
  migrate(runId: string, options: MigrateRunBody & CallOptions): Promise<RunMigrated>
  /**
   * Compares two runs: their tasks, outputs, tool calls, tokens, cost and time. Differences are those from run `a` to
   * run `b`.
   */
  compare(a: string, b: string, options?: CallOptions): Promise<RunComparison>
  /** Switches the next model calls of a run, or of its task `taskName`, to the model with an alias, or to a tier. */
  switchModel(
    runId: string,
    model: string | { readonly tier: string },
    options?: SwitchModelOptions,
  ): Promise<ModelSwitched>
  /**
   * Sends a directive to the agents of a run, or to the task or role `target`, before their next model call; or
   * performs an action on the run or on the task `target`.
   */
  inject(
    runId: string,
    content: string | ActionDirective,
    options?: InjectOptions,
  ): Promise<InjectAccepted>
  /** Returns the trace of a run, a file for trace viewers. */
  trace(runId: string, options?: CallOptions): Promise<ExecutionTrace>
  /** Returns the task graph of a run, a file for trace viewers. */
  dag(runId: string, options?: CallOptions): Promise<DagModel>
  /**
   * Returns the past and future events of a run, until it ends. The stream reconnects automatically and resumes after
   * the last event. Events of types that this version does not know are skipped. Leaving the loop closes the
   * connection. While the server is unavailable, the stream retries, without limit unless `reconnect.maxRetries` is
   * set.
   */
  events<T extends RunEvent['type'] = RunEvent['type']>(
    runId: string,
    options?: RunEventsOptions<T>,
  ): AsyncIterable<LoggedRunEventOf<T>>
}
