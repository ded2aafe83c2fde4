/** What a client offers for runs, and the settings of each call. */
import type {
  CancelAccepted,
  CancelBody,
  CancelRunsBody,
  DagModel,
  DirectiveAction,
  ExecutionTrace,
  InjectAccepted,
  InjectBody,
  ListRunsQuery,
  ModelSwitched,
  RunAccepted,
  RunDetail,
  RunEvent,
  RunList,
  RunsCancelled,
  RunSummary,
  SubmitRunBody,
  SwitchModelBody,
} from '@tutti/protocol'
import type { CommandOptions } from '../commands.ts'
import type { FollowOptions, LoggedRunEventOf, RunEventsOptions } from '../events/run-events.ts'
import type { CallOptions } from '../http/exchange.ts'
import type { EndedRun, RunEnd } from './ended-run.ts'

/** Settings of a submit. */
export interface SubmitOptions extends CallOptions {
  /**
   * The same body under the same key is one run, however often it is sent: 1 to 255 visible ASCII
   * characters. A submit with a key is repeated by itself when its answer was lost.
   */
  readonly idempotencyKey?: string | undefined
  /**
   * Seconds, up to 600, that the server waits for the end of the run: when it ends in that time, it is the
   * answer. `timeoutMs` counts on top. @default 0, it does not wait
   */
  readonly wait?: number | undefined
}

/** Settings of a wait for the end of a run. */
export interface ResultOptions extends FollowOptions {
  /** Whether a run that FAILED or was CANCELLED is an {@link UnfinishedRunError}. @default false */
  readonly throwOnFailure?: boolean | undefined
}

/** Settings of a run that is submitted and waited for; `timeoutMs` is for the wait, and has no default. */
export interface RunAndWaitOptions extends ResultOptions, Pick<SubmitOptions, 'idempotencyKey'> {}

/** Settings of a cancel. */
export interface CancelOptions extends CommandOptions, CancelBody {}

/** Settings of a model switch. */
export interface SwitchModelOptions
  extends CommandOptions, Omit<SwitchModelBody, 'model' | 'tier'> {}

/** Settings of an injection. */
export interface InjectOptions
  extends CommandOptions, Omit<InjectBody, 'content' | 'action' | 'value'> {}

/** A directive that does something, in place of a text for the agents. */
export interface ActionDirective {
  readonly action: DirectiveAction
  /** With SET_MODEL_TIER the name of a tier, with APPLY_PROFILE that of a profile. */
  readonly value: string
}

/** Submits a run. */
export interface SubmitRun {
  /** Submits a run; it is durable when this resolves. */
  (
    body: SubmitRunBody,
    options?: SubmitOptions & { readonly wait?: undefined },
  ): Promise<RunAccepted>
  /**
   * The same, and waits up to `wait` seconds for its end: then the run itself is the answer, else the
   * acceptance, which the status ACCEPTED tells.
   */
  (body: SubmitRunBody, options: SubmitOptions): Promise<RunAccepted | EndedRun>
}

/** Runs of a server. Every method throws {@link TuttiClientError}; a `runId` that is empty is a TypeError. */
export interface RunsClient {
  /**
   * Submits a run: of an ensemble as it is, with `taskOverrides`, or of `tasks` of its own. Give an
   * `idempotencyKey` to be able to repeat a submit whose answer was lost: the repeat gives the same run,
   * and with another body IDEMPOTENCY_CONFLICT.
   */
  readonly submit: SubmitRun
  /** Submits a run and waits for its end. An abort ends the wait; the run goes on. */
  run(body: SubmitRunBody, options?: RunAndWaitOptions): Promise<RunEnd>
  /**
   * Waits for a run to end, over as many connections as it takes. One that FAILED or was CANCELLED is a
   * result too, unless `throwOnFailure` is set.
   */
  result(runId: string, options?: ResultOptions): Promise<RunEnd>
  /** One run with its tasks and outputs. */
  get(runId: string, options?: CallOptions): Promise<RunDetail>
  /** A page of runs, newest first. */
  list(query?: ListRunsQuery, options?: CallOptions): Promise<RunList>
  /**
   * Every run that fits, newest first, fetched page by page (`limit` runs each) while it is looped over.
   * Runs that come meanwhile are left out; one that is deleted meanwhile may hide another.
   */
  listAll(query?: ListRunsQuery, options?: CallOptions): AsyncIterable<RunSummary>
  /** Removes a run and its events; an active one is cancelled first. */
  delete(runId: string, options?: CallOptions): Promise<void>
  /** Cancels a run. It is over when its `run_result` comes, not yet when this resolves. */
  cancel(runId: string, options?: CancelOptions): Promise<CancelAccepted>
  /** Cancels every run with this tag that has not ended: `key`, or `key:value`. */
  cancelAll(which: CancelRunsBody, options?: CallOptions): Promise<RunsCancelled>
  /** Sends the next model calls of a run, or of its task `taskName`, to the model of that alias, or to a tier. */
  switchModel(
    runId: string,
    model: string | { readonly tier: string },
    options?: SwitchModelOptions,
  ): Promise<ModelSwitched>
  /**
   * Tells the agents of a run, or the task or role `target`, something before their next model call; or does an
   * action, of the run or of the task `target`.
   */
  inject(
    runId: string,
    content: string | ActionDirective,
    options?: InjectOptions,
  ): Promise<InjectAccepted>
  /** The trace of a run, in AgentEnsemble's form. */
  trace(runId: string, options?: CallOptions): Promise<ExecutionTrace>
  /** The task graph of a run, in AgentEnsemble's form. */
  dag(runId: string, options?: CallOptions): Promise<DagModel>
  /**
   * The events of a run, those of the past and then those to come, until it ends. Reconnects by itself
   * and goes on where it was; events whose type this version does not know are passed over. Leaving the
   * loop closes the connection. While the server is away it waits, for ever unless
   * `reconnect.maxRetries` says otherwise.
   */
  events<T extends RunEvent['type'] = RunEvent['type']>(
    runId: string,
    options?: RunEventsOptions<T>,
  ): AsyncIterable<LoggedRunEventOf<T>>
}
