/** Everything that a client can do with runs. */
import {
  decode,
  ROUTES,
  routePath,
  type CancelBody,
  type CancelAccepted,
  type ListRunsQuery,
  type InjectAccepted,
  type InjectBody,
  type ModelSwitched,
  type RunAccepted,
  type RunDetail,
  type RunEvent,
  type RunList,
  type SubmitRunBody,
  type SwitchModelBody,
} from '@tutti/protocol'

import { TuttiClientError } from './errors.ts'
import {
  runEvents,
  type FollowOptions,
  type LoggedRunEventOf,
  type RunEventsOptions,
} from './events/run-events.ts'
import { callRoute, type CallOptions } from './http/call-route.ts'

import type { ResolvedClientOptions } from './options.ts'

/** Settings of a submit. */
export interface SubmitOptions extends CallOptions {
  /** The same body under the same key is one run, however often it is sent: 1 to 255 visible ASCII characters. */
  readonly idempotencyKey?: string | undefined
}

/** Settings of a cancel. */
export interface CancelOptions extends CallOptions, CancelBody {}

/** Settings of a model switch. */
export interface SwitchModelOptions extends CallOptions, Omit<SwitchModelBody, 'model'> {}

/** Settings of an injection. */
export interface InjectOptions extends CallOptions, Omit<InjectBody, 'content'> {}

/** Runs of a server. Every method throws {@link TuttiClientError}; a `runId` that is empty is a TypeError. */
export interface RunsClient {
  /**
   * Submits a run; it is durable when this resolves. Give an `idempotencyKey` to be able to repeat a submit
   * whose answer was lost: the repeat gives the same run, and with another body IDEMPOTENCY_CONFLICT.
   */
  submit(body: SubmitRunBody, options?: SubmitOptions): Promise<RunAccepted>
  /** One run with its tasks and outputs. */
  get(runId: string, options?: CallOptions): Promise<RunDetail>
  /** A page of runs, newest first. */
  list(query?: ListRunsQuery, options?: CallOptions): Promise<RunList>
  /** Cancels a run. It is over when its `run_result` comes, not yet when this resolves. */
  cancel(runId: string, options?: CancelOptions): Promise<CancelAccepted>
  /** Sends the next model calls of a run, or of its task `taskName`, to the model of that alias. */
  switchModel(runId: string, model: string, options?: SwitchModelOptions): Promise<ModelSwitched>
  /** Tells the agents of a run, or the task or role `target`, something before their next model call. */
  inject(runId: string, content: string, options?: InjectOptions): Promise<InjectAccepted>
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
  /** Waits for a run to end. One that FAILED or was CANCELLED is a result too, and no error. */
  result(runId: string, options?: FollowOptions): Promise<LoggedRunEventOf<'run_result'>>
}

/** A body whose fields may be undefined; JSON leaves those out. */
type Loose<T> = { readonly [K in keyof T]: T[K] | undefined }

/** Makes the runs part of a client. */
export function createRunsClient(settings: ResolvedClientOptions): RunsClient {
  return {
    submit: async (body, { idempotencyKey, ...options } = {}) =>
      callRoute(settings, {
        ...options,
        method: ROUTES.submitRun.method,
        path: routePath('submitRun'),
        body,
        ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
        decode: (value) => decode(ROUTES.submitRun.response, value),
      }),
    get: async (runId, options) =>
      callRoute(settings, {
        ...options,
        method: ROUTES.getRun.method,
        path: routePath('getRun', { runId }),
        decode: (value) => decode(ROUTES.getRun.response, value),
      }),
    list: async (query = {}, options = {}) =>
      callRoute(settings, {
        ...options,
        method: ROUTES.listRuns.method,
        path: routePath('listRuns'),
        query,
        decode: (value) => decode(ROUTES.listRuns.response, value),
      }),
    cancel: async (runId, { mode, ...options } = {}) =>
      callRoute(settings, {
        ...options,
        method: ROUTES.cancelRun.method,
        path: routePath('cancelRun', { runId }),
        ...(mode === undefined ? {} : { body: { mode } satisfies CancelBody }),
        decode: (value) => decode(ROUTES.cancelRun.response, value),
      }),
    switchModel: async (runId, model, { taskName, ...options } = {}) =>
      callRoute(settings, {
        ...options,
        method: ROUTES.switchModel.method,
        path: routePath('switchModel', { runId }),
        body: { model, taskName } satisfies Loose<SwitchModelBody>,
        decode: (value) => decode(ROUTES.switchModel.response, value),
      }),
    inject: async (runId, content, { target, priority, ttl, ...options } = {}) =>
      callRoute(settings, {
        ...options,
        method: ROUTES.injectDirective.method,
        path: routePath('injectDirective', { runId }),
        body: { content, target, priority, ttl } satisfies Loose<InjectBody>,
        decode: (value) => decode(ROUTES.injectDirective.response, value),
      }),
    events: (runId, options = {}) => runEvents(settings, runId, options),
    async result(runId, options) {
      // The result is the last event. Counted from the end, the server need not go through the others.
      const last = runEvents(settings, runId, { ...options, from: -1, events: ['run_result'] })
      for await (const event of last) return event
      throw new TuttiClientError('BAD_RESPONSE', `Run "${runId}" ended without a result`)
    },
  }
}
