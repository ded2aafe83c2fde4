/**
 * Every number that a server counts, by what it is about. Names follow Prometheus: base units, `_total` on what only
 * grows. Labels are of closed sets: names that the operator gave, statuses, codes; never ids or what people wrote.
 *
 * @see https://prometheus.io/docs/practices/naming/
 */
import type { Counter, Gauge, Histogram, MetricRegistry } from './registry.ts'

/** Seconds of something that a person hardly notices to something that is too long. */
const SHORT = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Seconds of calls that models and tools answer. */
const CALL = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300]

/** Seconds of work, from a moment to a day. */
const WORK = [0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600, 86_400]

/** How many are written together. */
const BATCH = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000]

/** The instruments of a server, and the registry in which they are read. */
export type Instruments = ReturnType<typeof createInstruments>

/** Makes all instruments of a server in a registry. */
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
      help: 'Runs that wait for a process to execute them, over all processes',
    }),
    queueOldest: registry.gauge('tutti_queue_oldest_seconds', {
      help: 'How long the run that is due the longest waits for a process, over all processes',
    }),
    runs: registry.gauge('tutti_runs', {
      help: 'Runs that have not ended by status, over all processes',
      labels: ['status'],
    }),
    runsExecuting: registry.gauge('tutti_runs_executing', {
      help: 'Runs that this process executes',
    }),
    runsAccepted: registry.counter('tutti_runs_accepted_total', {
      help: 'Runs that this process took in; the same submission again does not count',
      labels: ['ensemble'],
    }),
    runsEnded: registry.counter('tutti_runs_ended_total', {
      help: 'Runs that ended in this process by status and, where they failed, code; else the code is none',
      labels: ['ensemble', 'status', 'code'],
    }),
    runDuration: registry.histogram('tutti_run_duration_seconds', {
      help: 'Time from the start of a run to its end, waits for people included',
      labels: ['ensemble', 'status'],
      buckets: WORK,
    }),
    runWait: registry.histogram('tutti_run_wait_seconds', {
      help: 'Time from the submission of a run to its start',
      labels: ['ensemble'],
      buckets: [...SHORT, 30, 60, 300, 1_800],
    }),
    runClaims: registry.counter('tutti_run_claims_total', {
      help: 'Runs that this process took: first when nobody had it before, taken_over when its owner was lost and it has got no further since, resumed when it was handed over, parked or got further',
      labels: ['kind'],
    }),
    runReleases: registry.counter('tutti_run_releases_total', {
      help: 'Runs that this process has nothing more to do with: ended, ready when handed over, parked for a person, lost when somebody else has it or it could not be kept',
      labels: ['end'],
    }),
  } satisfies Record<string, Instrument>
}

function taskInstruments(registry: MetricRegistry) {
  return {
    tasksEnded: registry.counter('tutti_tasks_ended_total', {
      help: 'Attempts at tasks that ended, and tasks that were skipped, by status and, where they failed, code',
      labels: ['ensemble', 'status', 'code'],
    }),
    taskDuration: registry.histogram('tutti_task_duration_seconds', {
      help: 'Working time of an attempt at a task',
      labels: ['ensemble', 'status'],
      buckets: WORK,
    }),
    taskRetries: registry.counter('tutti_task_retries_total', {
      help: 'Attempts at tasks that failed and are followed by another',
      labels: ['ensemble'],
    }),
  } satisfies Record<string, Instrument>
}

function modelInstruments(registry: MetricRegistry) {
  return {
    modelCalls: registry.counter('tutti_model_calls_total', {
      help: 'Model calls that ended, by code: none when they were answered to the end',
      labels: ['model', 'code'],
    }),
    modelDuration: registry.histogram('tutti_model_call_duration_seconds', {
      help: 'Time of a model call that was answered',
      labels: ['model'],
      buckets: CALL,
    }),
    modelFirstToken: registry.histogram('tutti_model_time_to_first_token_seconds', {
      help: 'Time from a model call to the first token of its answer, where tokens are streamed',
      labels: ['model'],
      buckets: CALL,
    }),
    modelTokens: registry.counter('tutti_model_tokens_total', {
      help: 'Tokens of model calls that were answered, as the provider counts them',
      labels: ['model', 'direction'],
    }),
    modelCachedTokens: registry.counter('tutti_model_cached_input_tokens_total', {
      help: 'Input tokens that the provider read from its cache; they are part of the input tokens',
      labels: ['model'],
    }),
    modelCost: registry.counter('tutti_model_cost_usd_total', {
      help: 'Cost of model calls in US dollars, as far as prices are known',
      labels: ['model'],
    }),
    modelUnpriced: registry.counter('tutti_model_unpriced_calls_total', {
      help: 'Model calls that were answered and whose price is not known',
      labels: ['model'],
    }),
    modelRetries: registry.counter('tutti_model_retries_total', {
      help: 'Model calls that failed and are made again with the same model',
      labels: ['model'],
    }),
    modelFallbacks: registry.counter('tutti_model_fallbacks_total', {
      help: 'Model calls that failed and are followed by one to another model',
      labels: ['model'],
    }),
    rateLimitWait: registry.histogram('tutti_rate_limit_wait_seconds', {
      help: 'Time that model calls waited for their turn under a rate limit; those that did not wait are not counted',
      buckets: CALL,
    }),
  } satisfies Record<string, Instrument>
}

function toolInstruments(registry: MetricRegistry) {
  return {
    toolCalls: registry.counter('tutti_tool_calls_total', {
      help: 'Tool calls that ended by outcome: success, failure when the tool said so, error when it broke. By agents, or by hand over the API. Those that were cancelled are not counted',
      labels: ['tool', 'outcome', 'by'],
    }),
    toolDuration: registry.histogram('tutti_tool_call_duration_seconds', {
      help: 'Time of a tool call',
      labels: ['tool'],
      buckets: CALL,
    }),
    toolCounter: registry.counter('tutti_tool_counter_total', {
      help: 'What tools count by themselves, by the name that they give it',
      labels: ['tool', 'name'],
    }),
    toolValue: registry.histogram('tutti_tool_value', {
      help: 'Values that tools record by themselves, by the name that they give them',
      labels: ['tool', 'name'],
      buckets: [],
    }),
    agentCalls: registry.counter('tutti_agent_calls_total', {
      help: 'Tries of tools that ask other agents, by how they ended',
      labels: ['tool', 'outcome'],
    }),
    agentTokens: registry.counter('tutti_agent_tokens_total', {
      help: 'Tokens that other agents say they used',
      labels: ['tool', 'direction'],
    }),
    agentCost: registry.counter('tutti_agent_cost_usd_total', {
      help: 'Cost in US dollars that other agents say they had',
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
      help: 'Reviews that were asked for',
      labels: ['timing'],
    }),
    reviewsClosed: registry.counter('tutti_gates_closed_total', {
      help: 'Reviews that are over by what became of them: the decision, timed_out or withdrawn',
      labels: ['outcome'],
    }),
    reviewWait: registry.histogram('tutti_gate_wait_seconds', {
      help: 'Time that a review was open, where this process saw it open or close a parked run',
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
      help: 'Events in one write of events',
      buckets: BATCH,
    }),
    commitRuns: registry.histogram('tutti_commit_runs', {
      help: 'Runs in one write of events',
      buckets: BATCH,
    }),
    durableLag: registry.histogram('tutti_event_durable_lag_seconds', {
      help: 'Time from an event to when it can be read, tokens left out',
      buckets: SHORT,
    }),
    readerLag: registry.histogram('tutti_event_reader_lag_seconds', {
      help: 'Time from an event to when it is given to a live reader, the newest of those given together, tokens left out',
      labels: ['transport'],
      buckets: SHORT,
    }),
    readers: registry.gauge('tutti_readers', {
      help: 'Live readers of events',
      labels: ['transport'],
    }),
    readerDrops: registry.counter('tutti_reader_drops_total', {
      help: 'Readers that were dropped because they did not read',
      labels: ['transport'],
    }),
  } satisfies Record<string, Instrument>
}

function storeInstruments(registry: MetricRegistry) {
  return {
    storeAvailable: registry.gauge('tutti_store_available', {
      help: '1 while the store can be reached, else 0; what is counted over all processes is not told then',
    }),
    storeDuration: registry.histogram('tutti_store_operation_duration_seconds', {
      help: 'Time of an operation of the store; commit is the write of events',
      labels: ['operation'],
      buckets: SHORT,
    }),
    storeErrors: registry.counter('tutti_store_errors_total', {
      help: 'Operations of the store that failed, and writes of runs that failed or could not be sent',
      labels: ['operation', 'code'],
    }),
    fencedWrites: registry.counter('tutti_fenced_writes_total', {
      help: 'Writes of runs that were refused as another process has the run',
    }),
    leasesHeld: registry.gauge('tutti_leases_held', {
      help: 'Runs that the store says this process has, when leases were renewed last',
    }),
    leaseRenewals: registry.counter('tutti_lease_renewals_total', {
      help: 'Renewals of the leases of this process, by outcome: renewed or failed',
      labels: ['outcome'],
    }),
    auditLost: registry.counter('tutti_audit_entries_lost_total', {
      help: 'Entries of the audit trail that are in the log only, as the store did not take them',
    }),
  } satisfies Record<string, Instrument>
}

function webhookInstruments(registry: MetricRegistry) {
  return {
    webhookBacklog: registry.gauge('tutti_webhook_backlog', {
      help: 'What webhooks are still to be told, over all processes',
    }),
    webhookAttempts: registry.counter('tutti_webhook_attempts_total', {
      help: 'Attempts to tell a webhook by outcome: done, retry when it failed and is tried again, given_up',
      labels: ['webhook', 'outcome'],
    }),
  } satisfies Record<string, Instrument>
}

function httpInstruments(registry: MetricRegistry) {
  return {
    httpRequests: registry.counter('tutti_http_requests_total', {
      help: 'HTTP requests that were answered; the route is none where there is no such address or the request was refused before it was looked up',
      labels: ['route', 'status'],
    }),
    httpDuration: registry.histogram('tutti_http_request_duration_seconds', {
      help: 'Time from a request to its answer; of a stream, to its beginning',
      labels: ['route'],
      buckets: SHORT,
    }),
    errorsAnswered: registry.counter('tutti_errors_answered_total', {
      help: 'Errors that callers were told, over every transport, by code; UNAUTHORIZED and FORBIDDEN are failures of keys',
      labels: ['code'],
    }),
    tooMany: registry.counter('tutti_too_many_total', {
      help: 'What was refused as too much, over every transport, by what there was too much of',
      labels: ['reason'],
    }),
    messagesReceived: registry.counter('tutti_websocket_messages_received_total', {
      help: 'Messages that came over WebSockets, by type; malformed when it is none',
      labels: ['type'],
    }),
    messagesSent: registry.counter('tutti_websocket_messages_sent_total', {
      help: 'Messages and events that were sent over WebSockets',
    }),
  } satisfies Record<string, Instrument>
}

function processInstruments(registry: MetricRegistry) {
  return {
    build: registry.gauge('tutti_build_info', {
      help: '1, with the version of the server and of Node',
      labels: ['version', 'node_version', 'role'],
    }),
    memory: registry.gauge('process_resident_memory_bytes', {
      help: 'Memory of the process',
    }),
    heap: registry.gauge('nodejs_heap_used_bytes', { help: 'Heap in use' }),
    external: registry.gauge('nodejs_external_memory_bytes', {
      help: 'Memory of buffers and other objects outside of the heap',
    }),
    cpu: registry.counter('process_cpu_seconds_total', {
      help: 'Time of the processor that the process has used',
    }),
    started: registry.gauge('process_start_time_seconds', {
      help: 'When the process was started, in seconds since 1970',
    }),
    loopLag: registry.gauge('nodejs_eventloop_lag_seconds', {
      help: 'How late timers came within the last seconds, by quantile; 1 is the latest',
      labels: ['quantile'],
    }),
    loopBusy: registry.counter('nodejs_eventloop_busy_seconds_total', {
      help: 'Time that the event loop was at work and not waiting; its rate is how busy the process is, from 0 to 1',
    }),
  } satisfies Record<string, Instrument>
}

// NOTE: any label names; an instrument takes exactly its own.
type Instrument = Counter<string> | Gauge<string> | Histogram<string> | Counter | Gauge | Histogram
