/**
 * All metrics of a server. Names follow Prometheus: base units, and `_total` for counters. Label values come from bounded
 * sets, such as registered names, statuses and codes, never from ids or texts of users.
 *
 * @see https://prometheus.io/docs/practices/naming/
 */
import type { Counter, Gauge, Histogram, MetricRegistry } from './registry.ts'

/** Buckets of short operations, in seconds. */
const SHORT = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Buckets of model and tool calls, in seconds. */
const CALL = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300]

/** Buckets of tasks and runs, in seconds, up to a day. */
const WORK = [0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600, 86_400]

/** Buckets of batch sizes. */
const BATCH = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]

/** Instruments of a server, and their registry. */
export type Instruments = ReturnType<typeof createInstruments>

/** Creates all instruments of a server in a registry. */
export function createInstruments(registry: MetricRegistry) {
  return {
    registry,
    ...runInstruments(registry),
    ...taskInstruments(registry),
    ...modelInstruments(registry),
    ...toolInstruments(registry),
    ...reviewInstruments(registry),
    ...eventInstruments(registry),
    ...storeInstruments(registry),
    ...webhookInstruments(registry),
    ...httpInstruments(registry),
    ...processInstruments(registry),
  }
}

function runInstruments(registry: MetricRegistry) {
  return {
    queueDepth: registry.gauge('tutti_queue_depth', {
      help: 'Runs that wait for a process, over all processes',
    }),
    queueOldest: registry.gauge('tutti_queue_oldest_seconds', {
      help: 'Waiting time of the run that has been due for the longest, over all processes',
    }),
    runs: registry.gauge('tutti_runs', {
      help: 'Unfinished runs by status, over all processes',
      labels: ['status'],
    }),
    runsExecuting: registry.gauge('tutti_runs_executing', {
      help: 'Runs that this process executes',
    }),
    runsAccepted: registry.counter('tutti_runs_accepted_total', {
      help: 'Runs that this process accepted; repeated submissions do not count',
      labels: ['ensemble'],
    }),
    runsEnded: registry.counter('tutti_runs_ended_total', {
      help: 'Runs that ended in this process, by status and failure code; the code is none unless they failed',
      labels: ['ensemble', 'status', 'code'],
    }),
    runDuration: registry.histogram('tutti_run_duration_seconds', {
      help: 'Time from the start of a run to its end, including waits for people',
      labels: ['ensemble', 'status'],
      buckets: WORK,
    }),
    runWait: registry.histogram('tutti_run_wait_seconds', {
      help: 'Time from the submission of a run to its start',
      labels: ['ensemble'],
      buckets: [...SHORT, 30, 60, 300, 1_800],
    }),
    runClaims: registry.counter('tutti_run_claims_total', {
      help: 'Runs that this process claimed: first for a new run, taken_over when its owner was lost and it made no progress since, resumed after a hand-over, after parking or after progress',
      labels: ['kind'],
    }),
    runReleases: registry.counter('tutti_run_releases_total', {
      help: 'Runs that this process released: ended, ready when handed over, parked while waiting for a person, lost when another process has the run or it could not be stored',
      labels: ['end'],
    }),
  } satisfies Record<string, Instrument>
}

function taskInstruments(registry: MetricRegistry) {
  return {
    tasksEnded: registry.counter('tutti_tasks_ended_total', {
      help: 'Attempts at tasks that ended, and skipped tasks, by status and failure code',
      labels: ['ensemble', 'status', 'code'],
    }),
    taskDuration: registry.histogram('tutti_task_duration_seconds', {
      help: 'Working time of an attempt at a task',
      labels: ['ensemble', 'status'],
      buckets: WORK,
    }),
    taskRetries: registry.counter('tutti_task_retries_total', {
      help: 'Failed attempts at tasks that are retried',
      labels: ['ensemble'],
    }),
  } satisfies Record<string, Instrument>
}

function modelInstruments(registry: MetricRegistry) {
  return {
    modelCalls: registry.counter('tutti_model_calls_total', {
      help: 'Model calls that ended, by failure code; none when the response was complete',
      labels: ['model', 'code'],
    }),
    modelDuration: registry.histogram('tutti_model_call_duration_seconds', {
      help: 'Duration of completed model calls',
      labels: ['model'],
      buckets: CALL,
    }),
    modelFirstToken: registry.histogram('tutti_model_time_to_first_token_seconds', {
      help: 'Time from a model call to the first token of its reasoning or response, if these are streamed',
      labels: ['model'],
      buckets: CALL,
    }),
    modelTokens: registry.counter('tutti_model_tokens_total', {
      help: 'Tokens of completed model calls, as reported by the provider',
      labels: ['model', 'direction'],
    }),
    modelCachedTokens: registry.counter('tutti_model_cached_input_tokens_total', {
      help: 'Input tokens that the provider read from its cache; included in the input tokens',
      labels: ['model'],
    }),
    modelReasoningTokens: registry.counter('tutti_model_reasoning_tokens_total', {
      help: 'Output tokens that models used to reason; included in the output tokens',
      labels: ['model'],
    }),
    modelCost: registry.counter('tutti_model_cost_usd_total', {
      help: 'Cost of model calls with known prices, in US dollars',
      labels: ['model'],
    }),
    modelUnpriced: registry.counter('tutti_model_unpriced_calls_total', {
      help: 'Completed model calls without a known price',
      labels: ['model'],
    }),
    modelRetries: registry.counter('tutti_model_retries_total', {
      help: 'Failed model calls that are retried with the same model',
      labels: ['model'],
    }),
    modelFallbacks: registry.counter('tutti_model_fallbacks_total', {
      help: 'Failed model calls that are retried with another model',
      labels: ['model'],
    }),
    rateLimitWait: registry.histogram('tutti_rate_limit_wait_seconds', {
      help: 'Time that model calls waited for a rate limit; calls that did not wait are not counted',
      buckets: CALL,
    }),
  } satisfies Record<string, Instrument>
}

function toolInstruments(registry: MetricRegistry) {
  return {
    toolCalls: registry.counter('tutti_tool_calls_total', {
      help: 'Tool calls that ended, by outcome (success, failure reported by the tool, error thrown by it) and by caller (agent, or hand for direct calls over the API). Cancelled calls are not counted',
      labels: ['tool', 'outcome', 'by'],
    }),
    toolDuration: registry.histogram('tutti_tool_call_duration_seconds', {
      help: 'Duration of tool calls',
      labels: ['tool'],
      buckets: CALL,
    }),
    toolCounter: registry.counter('tutti_tool_counter_total', {
      help: 'Counters that tools maintain, by name',
      labels: ['tool', 'name'],
    }),
    toolValue: registry.histogram('tutti_tool_value', {
      help: 'Values that tools record, by name',
      labels: ['tool', 'name'],
      buckets: [],
    }),
    agentCalls: registry.counter('tutti_agent_calls_total', {
      help: 'Attempts of tools that call other agents, by outcome',
      labels: ['tool', 'outcome'],
    }),
    agentTokens: registry.counter('tutti_agent_tokens_total', {
      help: 'Tokens that other agents report as used',
      labels: ['tool', 'direction'],
    }),
    agentCost: registry.counter('tutti_agent_cost_usd_total', {
      help: 'Cost that other agents report, in US dollars',
      labels: ['tool'],
    }),
  } satisfies Record<string, Instrument>
}

function reviewInstruments(registry: MetricRegistry) {
  return {
    reviewsPending: registry.gauge('tutti_gates_pending', {
      help: 'Reviews that wait for a decision, over all processes',
    }),
    reviewsOpened: registry.counter('tutti_gates_opened_total', {
      help: 'Reviews that were requested',
      labels: ['timing'],
    }),
    reviewsClosed: registry.counter('tutti_gates_closed_total', {
      help: 'Reviews that were closed, by outcome: the decision, timed_out or withdrawn',
      labels: ['outcome'],
    }),
    reviewWait: registry.histogram('tutti_gate_wait_seconds', {
      help: 'Time from the request of a review to its end',
      labels: ['outcome'],
      buckets: WORK,
    }),
  } satisfies Record<string, Instrument>
}

function eventInstruments(registry: MetricRegistry) {
  return {
    eventsWritten: registry.counter('tutti_events_written_total', {
      help: 'Run events that this process made durable',
    }),
    commitEvents: registry.histogram('tutti_commit_events', {
      help: 'Events per commit',
      buckets: BATCH,
    }),
    commitRuns: registry.histogram('tutti_commit_runs', {
      help: 'Runs per commit',
      buckets: BATCH,
    }),
    durableLag: registry.histogram('tutti_event_durable_lag_seconds', {
      help: 'Time from an event to its durability, without tokens',
      buckets: SHORT,
    }),
    readerLag: registry.histogram('tutti_event_reader_lag_seconds', {
      help: 'Time from an event to its delivery to a live reader; of a batch, only the newest event counts',
      labels: ['transport'],
      buckets: SHORT,
    }),
    readers: registry.gauge('tutti_readers', {
      help: 'Live readers of events',
      labels: ['transport'],
    }),
    readerDrops: registry.counter('tutti_reader_drops_total', {
      help: 'Connections that were closed because the client did not read',
      labels: ['transport'],
    }),
  } satisfies Record<string, Instrument>
}

function storeInstruments(registry: MetricRegistry) {
  return {
    storeAvailable: registry.gauge('tutti_store_available', {
      help: '1 while the store is available, else 0; metrics over all processes are then missing',
    }),
    storeDuration: registry.histogram('tutti_store_operation_duration_seconds', {
      help: 'Duration of store operations; commit writes events',
      labels: ['operation'],
      buckets: SHORT,
    }),
    storeErrors: registry.counter('tutti_store_errors_total', {
      help: 'Failed store operations, and writes of runs that failed or could not be sent',
      labels: ['operation', 'code'],
    }),
    fencedWrites: registry.counter('tutti_fenced_writes_total', {
      help: 'Writes that were refused because another process has the run',
    }),
    leasesHeld: registry.gauge('tutti_leases_held', {
      help: 'Leases that this process held at the last renewal',
    }),
    leaseRenewals: registry.counter('tutti_lease_renewals_total', {
      help: 'Lease renewals of this process, by outcome: renewed or failed',
      labels: ['outcome'],
    }),
    buildProcesses: registry.gauge('tutti_build_processes', {
      help: 'Processes that execute runs, by build and ensemble, over all processes',
      labels: ['build', 'ensemble'],
    }),
    buildShare: registry.gauge('tutti_build_share', {
      help: 'Percentage of new runs that a build gets while older builds live',
      labels: ['build'],
    }),
    buildRuns: registry.gauge('tutti_build_runs', {
      help: 'Runs that have not ended, by build, ensemble and status, over all processes',
      labels: ['build', 'ensemble', 'status'],
    }),
    dispatcherConnected: registry.gauge('tutti_dispatcher_connected', {
      help: 'Whether the engine that dispatches runs can be reached (1); otherwise (0) the store dispatches them',
      labels: ['engine'],
    }),
    notificationQueue: registry.gauge('tutti_notification_queue_usage', {
      help: 'Used part of the queue of notifications between processes, from 0 to 1; when it is full, readers poll',
    }),
    auditLost: registry.counter('tutti_audit_entries_lost_total', {
      help: 'Audit entries that could not be stored and were logged instead',
    }),
  } satisfies Record<string, Instrument>
}

function webhookInstruments(registry: MetricRegistry) {
  return {
    webhookBacklog: registry.gauge('tutti_webhook_backlog', {
      help: 'Pending webhook deliveries, over all processes',
    }),
    webhookAttempts: registry.counter('tutti_webhook_attempts_total', {
      help: 'Webhook delivery attempts by outcome: done, retry when it failed and is repeated, given_up',
      labels: ['webhook', 'outcome'],
    }),
  } satisfies Record<string, Instrument>
}

function httpInstruments(registry: MetricRegistry) {
  return {
    httpRequests: registry.counter('tutti_http_requests_total', {
      help: 'Completed HTTP requests; the route is none if none matched or the request was refused before routing',
      labels: ['route', 'status'],
    }),
    httpDuration: registry.histogram('tutti_http_request_duration_seconds', {
      help: 'Time from a request to its response, or to the start of a stream',
      labels: ['route'],
      buckets: SHORT,
    }),
    errorsAnswered: registry.counter('tutti_errors_answered_total', {
      help: 'Errors sent to callers over every transport, by code; UNAUTHORIZED and FORBIDDEN are failures of keys',
      labels: ['code'],
    }),
    tooMany: registry.counter('tutti_too_many_total', {
      help: 'Refusals because of a limit, over every transport, by limit',
      labels: ['reason'],
    }),
    messagesReceived: registry.counter('tutti_websocket_messages_received_total', {
      help: 'Messages received over WebSockets, by type; malformed for invalid messages',
      labels: ['type'],
    }),
    messagesSent: registry.counter('tutti_websocket_messages_sent_total', {
      help: 'Messages and events sent over WebSockets',
    }),
  } satisfies Record<string, Instrument>
}

function processInstruments(registry: MetricRegistry) {
  return {
    build: registry.gauge('tutti_build_info', {
      help: 'Always 1; the labels have the versions of server and Node and the role',
      labels: ['version', 'node_version', 'role'],
    }),
    memory: registry.gauge('process_resident_memory_bytes', {
      help: 'Resident memory of the process',
    }),
    heap: registry.gauge('nodejs_heap_used_bytes', { help: 'Heap in use' }),
    external: registry.gauge('nodejs_external_memory_bytes', {
      help: 'Memory of buffers and other objects outside of the heap',
    }),
    cpu: registry.counter('process_cpu_seconds_total', {
      help: 'CPU time of the process',
    }),
    started: registry.gauge('process_start_time_seconds', {
      help: 'Start time of the process in seconds since 1970',
    }),
    loopLag: registry.gauge('nodejs_eventloop_lag_seconds', {
      help: 'Delay of timers within the last seconds, by quantile; 1 is the maximum',
      labels: ['quantile'],
    }),
    loopBusy: registry.counter('nodejs_eventloop_busy_seconds_total', {
      help: 'Time that the event loop was busy; its rate is the utilization, from 0 to 1',
    }),
  } satisfies Record<string, Instrument>
}

// NOTE: allows any label names; each instrument accepts exactly its own.
type Instrument = Counter<string> | Gauge<string> | Histogram<string> | Counter | Gauge | Histogram
