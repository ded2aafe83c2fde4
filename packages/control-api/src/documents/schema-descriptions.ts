/** Written by "npm run gen" from the docstrings of `packages/protocol/src`; do not edit. */
// oxlint-disable max-lines -- a table
export const SCHEMA_DESCRIPTIONS: Readonly<Record<string, string>> = {
  AddedTask: 'Task that the code of a resumed run adds to the plan.',
  'AddedTask.taskIndex': 'Number of the task in its run: after those of all earlier tasks.',
  AgentSummary: 'Agent of a trace or of a task graph.',
  'AgentSummary.background': 'Background of the agent; null when it has none.',
  'AgentSummary.allowDelegation': 'Whether the agent can delegate work.',
  AgentToolCompleted: 'Another agent answered.',
  'AgentToolCompleted.agentRole': 'Role of the calling agent.',
  'AgentToolCompleted.taskName': 'Name of the task; unique in its run.',
  'AgentToolCompleted.taskIndex': 'Number of the task in its run, from 1.',
  'AgentToolCompleted.attempt': 'Attempt of the task, from 1.',
  'AgentToolCompleted.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  'AgentToolCompleted.toolCallId': "The model's id of the call.",
  'AgentToolCompleted.timestamp_ms': 'Time in milliseconds since 1970.',
  'AgentToolCompleted.retry_index': 'Attempt of the call, from 0.',
  'AgentToolCompleted.cost_usd':
    'Cost since the previous event, in US dollars; absent when zero or not known.',
  'AgentToolCompleted.input_tokens':
    'Tokens read since the previous event; absent when zero or not known.',
  'AgentToolCompleted.output_tokens':
    'Tokens written since the previous event; absent when zero or not known.',
  'AgentToolCompleted.latency_ms': 'Duration of the attempt in milliseconds.',
  'AgentToolCompleted.chunks_received': 'Number of chunks received.',
  'AgentToolCompleted.total_turns': 'Number of turns that were answered.',
  'AgentToolCompleted.output': 'Answer of the agent.',
  'AgentToolCompleted.total_cost': 'Cost of the attempt, in US dollars, as reported by the agent.',
  AgentToolError: 'A call to another agent failed.',
  'AgentToolError.agentRole': 'Role of the calling agent.',
  'AgentToolError.taskName': 'Name of the task; unique in its run.',
  'AgentToolError.taskIndex': 'Number of the task in its run, from 1.',
  'AgentToolError.attempt': 'Attempt of the task, from 1.',
  'AgentToolError.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  'AgentToolError.toolCallId': "The model's id of the call.",
  'AgentToolError.timestamp_ms': 'Time in milliseconds since 1970.',
  'AgentToolError.retry_index': 'Attempt of the call, from 0.',
  'AgentToolError.cost_usd':
    'Cost since the previous event, in US dollars; absent when zero or not known.',
  'AgentToolError.input_tokens':
    'Tokens read since the previous event; absent when zero or not known.',
  'AgentToolError.output_tokens':
    'Tokens written since the previous event; absent when zero or not known.',
  'AgentToolError.latency_ms': 'Duration of the attempt in milliseconds.',
  'AgentToolError.chunks_received': 'Number of chunks received.',
  'AgentToolError.total_turns': 'Number of turns that were answered.',
  'AgentToolError.error': 'Description in one sentence.',
  'AgentToolError.failure_type':
    'Cause of the failure: the connection, the HTTP status, an invalid response, the agent itself, a required input, or the configuration.',
  'AgentToolError.accumulated_cost_usd':
    'Cost of the attempt so far, in US dollars, as reported by the agent.',
  'AgentToolError.partial_output': 'Output received so far; null when none.',
  'AgentToolError.retryable': 'Whether a retry of the same call may succeed.',
  AgentToolInvoked: 'A request is sent to another agent.',
  'AgentToolInvoked.agentRole': 'Role of the calling agent.',
  'AgentToolInvoked.taskName': 'Name of the task; unique in its run.',
  'AgentToolInvoked.taskIndex': 'Number of the task in its run, from 1.',
  'AgentToolInvoked.attempt': 'Attempt of the task, from 1.',
  'AgentToolInvoked.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  'AgentToolInvoked.toolCallId': "The model's id of the call.",
  'AgentToolInvoked.timestamp_ms': 'Time in milliseconds since 1970.',
  'AgentToolInvoked.retry_index': 'Attempt of the call, from 0.',
  'AgentToolInvoked.cost_usd':
    'Cost since the previous event, in US dollars; absent when zero or not known.',
  'AgentToolInvoked.input_tokens':
    'Tokens read since the previous event; absent when zero or not known.',
  'AgentToolInvoked.output_tokens':
    'Tokens written since the previous event; absent when zero or not known.',
  'AgentToolInvoked.agent_uri': 'Address of the agent, without secrets.',
  'AgentToolInvoked.input_hash': "SHA-256 in hex of the input's compact JSON, with sorted keys.",
  AgentToolMode:
    'Mode of a call to another agent: one request and one answer, a stream of chunks, or a conversation of several turns.',
  AgentToolProgress: 'A chunk arrived from another agent.',
  'AgentToolProgress.agentRole': 'Role of the calling agent.',
  'AgentToolProgress.taskName': 'Name of the task; unique in its run.',
  'AgentToolProgress.taskIndex': 'Number of the task in its run, from 1.',
  'AgentToolProgress.attempt': 'Attempt of the task, from 1.',
  'AgentToolProgress.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  'AgentToolProgress.toolCallId': "The model's id of the call.",
  'AgentToolProgress.timestamp_ms': 'Time in milliseconds since 1970.',
  'AgentToolProgress.retry_index': 'Attempt of the call, from 0.',
  'AgentToolProgress.cost_usd':
    'Cost since the previous event, in US dollars; absent when zero or not known.',
  'AgentToolProgress.input_tokens':
    'Tokens read since the previous event; absent when zero or not known.',
  'AgentToolProgress.output_tokens':
    'Tokens written since the previous event; absent when zero or not known.',
  'AgentToolProgress.chunk_index': 'Number of the chunk, from 0.',
  'AgentToolProgress.chunk': 'Content of the chunk.',
  'AgentToolProgress.accumulated_cost_usd':
    'Cost of the attempt so far, in US dollars, as reported by the agent.',
  AgentToolProtocol: 'Protocol of a call to another agent; `tasks` is the `/tasks` wire.',
  AgentToolTerminated: 'The run ended a call to another agent and notified the agent.',
  'AgentToolTerminated.agentRole': 'Role of the calling agent.',
  'AgentToolTerminated.taskName': 'Name of the task; unique in its run.',
  'AgentToolTerminated.taskIndex': 'Number of the task in its run, from 1.',
  'AgentToolTerminated.attempt': 'Attempt of the task, from 1.',
  'AgentToolTerminated.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  'AgentToolTerminated.toolCallId': "The model's id of the call.",
  'AgentToolTerminated.timestamp_ms': 'Time in milliseconds since 1970.',
  'AgentToolTerminated.retry_index': 'Attempt of the call, from 0.',
  'AgentToolTerminated.cost_usd':
    'Cost since the previous event, in US dollars; absent when zero or not known.',
  'AgentToolTerminated.input_tokens':
    'Tokens read since the previous event; absent when zero or not known.',
  'AgentToolTerminated.output_tokens':
    'Tokens written since the previous event; absent when zero or not known.',
  'AgentToolTerminated.latency_ms': 'Duration of the attempt in milliseconds.',
  'AgentToolTerminated.chunks_received': 'Number of chunks received.',
  'AgentToolTerminated.total_turns': 'Number of turns that were answered.',
  'AgentToolTerminated.reason': 'Reason why the call was ended.',
  'AgentToolTerminated.error': 'Description in one sentence.',
  'AgentToolTerminated.accumulated_cost_usd':
    'Cost of the attempt so far, in US dollars, as reported by the agent.',
  'AgentToolTerminated.partial_output': 'Output received so far; null when none.',
  'AgentToolTerminated.retryable': 'Whether a retry of the same call may succeed.',
  AgentToolTurn: 'A turn of a conversation with another agent was sent or answered.',
  'AgentToolTurn.agentRole': 'Role of the calling agent.',
  'AgentToolTurn.taskName': 'Name of the task; unique in its run.',
  'AgentToolTurn.taskIndex': 'Number of the task in its run, from 1.',
  'AgentToolTurn.attempt': 'Attempt of the task, from 1.',
  'AgentToolTurn.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  'AgentToolTurn.toolCallId': "The model's id of the call.",
  'AgentToolTurn.timestamp_ms': 'Time in milliseconds since 1970.',
  'AgentToolTurn.retry_index': 'Attempt of the call, from 0.',
  'AgentToolTurn.cost_usd':
    'Cost since the previous event, in US dollars; absent when zero or not known.',
  'AgentToolTurn.input_tokens':
    'Tokens read since the previous event; absent when zero or not known.',
  'AgentToolTurn.output_tokens':
    'Tokens written since the previous event; absent when zero or not known.',
  'AgentToolTurn.turn': 'Number of the turn, from 0.',
  'AgentToolTurn.direction': 'Whether the turn was sent or answered.',
  'AgentToolTurn.input': 'Content that was sent; present with `outbound`.',
  'AgentToolTurn.output': 'Answer; present with `inbound`.',
  AuditEntry: 'Action of a caller, and its outcome.',
  'AuditEntry.id': 'Number of the entry; grows over time.',
  'AuditEntry.at': 'Time of the action.',
  'AuditEntry.actor': 'Name of the key, or `anonymous` on a server without keys.',
  'AuditEntry.action':
    'Name of the route, such as `cancelRun`, or type of the message, such as `run_control`.',
  'AuditEntry.via': 'Protocol of the request.',
  'AuditEntry.remoteAddress': 'Address of the caller, as reported by the connection.',
  'AuditEntry.runId': 'Id of the run.',
  'AuditEntry.target': 'Review, tool or tag that the action was about.',
  'AuditEntry.cause': 'With `cancelRun`: what caused the cancel, unless a caller requested it.',
  'AuditEntry.outcome': 'Outcome of the action.',
  'AuditEntry.error': 'Error code; present unless the outcome is DONE.',
  AuditList: 'Response of `GET /api/audit`.',
  AuditQuery:
    'Query of `GET /api/audit`, newest first. A page can have fewer entries than `limit`; the last page is empty.',
  'AuditQuery.runId': 'Only entries about this run.',
  'AuditQuery.actor': 'Only entries of this key.',
  'AuditQuery.action': 'Only entries of this action.',
  'AuditQuery.limit':
    'Maximum number of entries; 100 when absent. A page ends earlier when it reaches 1 MB.',
  'AuditQuery.before': 'Only entries with a smaller `id`; pass the last one of the previous page.',
  AwaitedEvent: 'An external event that a wait accepts.',
  'AwaitedEvent.key':
    'Correlation key; only events with the same key match. Absent: only events without a key match.',
  BuildInfo: 'Code of one ensemble in a build.',
  'BuildInfo.build':
    'Id of the build: `TUTTI_BUILD_ID`, else a digest of the code of its ensembles.',
  'BuildInfo.code': "Digest of the ensemble's code.",
  'BuildInfo.firstStartedAt':
    'Time at which a process of the build started first. Of the builds that live, the newest gets new runs.',
  'BuildInfo.startedAt': 'Time at which a process of the build started last.',
  'BuildInfo.processes':
    'Number of its processes that execute runs now. A build without one does not live.',
  'BuildInfo.share':
    'Percentage of new runs that it gets while it lives; older builds get the others. The oldest living build gets the rest.',
  'BuildInfo.runs':
    'Number of its runs that have not ended, by status; a status without runs is absent.',
  BuildList: 'Response of `GET /api/builds`: the build that first started last comes first.',
  'BuildList.current': 'Build of the process that responds.',
  BuildShareSet: 'Response of `POST /api/builds/{build}/share`.',
  'BuildShareSet.build': 'Id of the build.',
  'BuildShareSet.share':
    'Percentage of new runs that it gets. Every process applies it within two seconds.',
  CancelAccepted:
    'Response to a cancel. CANCELLING: the run is CANCELLED once its work has stopped. CANCELLED: the run had not begun.',
  'CancelAccepted.runId': 'Id of the run.',
  CancelBody: 'Body of `POST /api/runs/{runId}/cancel`; optional.',
  'CancelBody.mode': '`abort` when absent.',
  CancelCause:
    'Cause of a cancel: - CALLER: a caller requested it; - CLIENT_LEFT: the only client that could read the result disconnected; - DEADLINE: the deadline of a caller passed; - LIMIT: the run exceeded the cost or tokens that a caller allows; - SERVER: code of the server, without a caller.',
  CancelMode:
    'Effect of a cancel: `abort` aborts work in flight, `boundary` stops before the next task.',
  CancelRunsBody:
    'Body of `POST /api/runs/cancel`: cancels every run with this tag that has not ended.',
  'CancelRunsBody.tag': '`key`, or `key:value`.',
  'CancelRunsBody.mode': '`abort` when absent.',
  Capabilities: 'Response of `GET /api/capabilities`.',
  'Capabilities.tools': 'Tools that requests can name.',
  'Capabilities.models': 'Models that requests can name.',
  'Capabilities.sharedTasks': 'Tasks that peers can request.',
  'Capabilities.sharedTools': 'Tools that peers can request.',
  'Capabilities.preconfiguredTasks': 'Tasks of the default ensemble.',
  'Capabilities.ensembles': 'All ensembles, the default one first.',
  CapabilityQuery: 'Requests the list of shared capabilities.',
  'CapabilityQuery.requestId':
    'Identifies the request in replies; a repeated request has no further effect.',
  'CapabilityQuery.from': 'Absent for a client that is not an ensemble.',
  'CapabilityQuery.toolName': 'Only capabilities of this name.',
  'CapabilityQuery.tag': 'Only capabilities with this tag.',
  'CapabilityQuery.capabilityType': 'Only capabilities of this kind.',
  CapabilityResponse: 'Reply to `capability_query`.',
  'CapabilityResponse.requestId': "The request's id.",
  'CapabilityResponse.ensemble': 'Name of the ensemble that replies.',
  'CapabilityResponse.capabilities': 'Capabilities that match the query.',
  CapabilityType: 'Kind of a shared capability.',
  CapacityUpdate:
    'Load of an ensemble, sent to connections that subscribed to it by name: at once and on every change. The server sends one update for all its ensembles, with the name of the default one and a status of AVAILABLE, BUSY, DRAINING or STORE_UNAVAILABLE.',
  'CapacityUpdate.currentLoad': 'Part of the capacity in use, from 0 to 1.',
  'CapacityUpdate.maxConcurrent': 'Maximum number of concurrent runs.',
  'CapacityUpdate.shareable': 'Whether requests of peers are accepted.',
  CaptureMode: 'Amount of detail that is stored for a trace. OFF stores no prompts.',
  ClientMessage: 'Message from client to server. Narrows by `type`.',
  ClientToolBody:
    'Tool that the client executes. A call of it is a review of the kind CLIENT_TOOL; the client decides the review with the result of the call.',
  'ClientToolBody.name':
    'Name of the tool: 1 to 64 letters, digits, `_` and `-`. Tools of the tasks cannot have the same name.',
  'ClientToolBody.description': 'Description of the tool, for models.',
  'ClientToolBody.inputSchema': 'JSON Schema of the arguments, an object.',
  'ClientToolBody.timeoutMs':
    'Maximum time to wait for a result, in milliseconds, up to 100 years; 0 means no limit, a day when absent. Then the call fails.',
  CodeDifference:
    'Difference between the codes of two builds, in one field of a task or of the ensemble. Long values are cut.',
  'CodeDifference.task': 'Name of the task; absent for a field of the ensemble.',
  'CodeDifference.field': 'Name of the field; `task` for a task that exists in one build only.',
  'CodeDifference.from': 'Value in the build of the run, as text or JSON; absent if there is none.',
  'CodeDifference.to': 'Value in the other build.',
  CommandAck: 'Reply to `command`, with the REST response.',
  'CommandAck.requestId': "The request's id.",
  CommandMessage:
    "Sends a command to a run, or decides a review, like the command's REST route. The reply is a `command_ack`.",
  'CommandMessage.requestId': 'Repeated in the reply.',
  'CommandMessage.target': 'Id of the run; for `decide`, id of the review.',
  'CommandMessage.body': 'Body of the REST route; optional where it is optional there.',
  CompareRunsQuery: 'Query of `GET /api/runs/compare`.',
  'CompareRunsQuery.a': 'Id of the first run, such as the parent.',
  'CompareRunsQuery.b':
    'Id of the second run. Differences are its values minus those of the first.',
  ComparedCall: 'Tool call of a task in a comparison, without the calls that the tool made itself.',
  'ComparedCall.input': 'Arguments as the model wrote them; absent when there are none.',
  'ComparedCall.durationMs': 'Duration of the call in milliseconds.',
  'ComparedCall.attempt': 'Attempt of the task, from 1.',
  'ComparedCall.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  'ComparedCall.reused':
    'True if the call was not made by this run: its result is taken from the parent.',
  ComparedCallPair:
    'Aligned tool calls of both runs; one is absent where only the other run made a call.',
  'ComparedCallPair.sameInput':
    'Whether both called with equal arguments, as JSON; absent if only one run made the call.',
  ComparedInput: 'Input that differs between two runs.',
  'ComparedInput.a': 'Value in the first run; absent if it does not have the input.',
  'ComparedInput.b': 'Value in the second run.',
  ComparedRun:
    'Run in a comparison. Calls that a fork or a replay took from its parent are not counted.',
  'ComparedRun.runId': 'Id of the run.',
  'ComparedRun.ensemble': 'Name of the ensemble.',
  'ComparedRun.startedAt':
    'Time at which work began; for a run that still waits, the time at which it was accepted.',
  'ComparedRun.durationMs': 'Duration in milliseconds; absent until the run has ended.',
  'ComparedRun.parent':
    'Run that it was forked from, and the `seq` of the last event that it copied from it; `replay` if it replays it.',
  'ComparedRun.build':
    'Build of the process that executed it last; absent until a process takes it.',
  'ComparedRun.code': 'Digest of the code of its ensemble in that build.',
  'ComparedRun.error': 'Reason of the failure; the start if it is long.',
  'ComparedRun.tokens': 'Tokens read and written, over all attempts; -1 when not known.',
  'ComparedRun.costUsd': 'Estimated cost in US dollars; absent when a price is not known.',
  'ComparedRun.modelCalls': 'Number of model calls that ended, failed ones included.',
  'ComparedRun.toolCalls':
    'Number of tool calls that ended, without the calls that a tool made itself.',
  'ComparedRun.partial':
    'True if the run has more calls than a comparison reads: `modelCalls` and the listed tool calls are then those of the first part of its log.',
  ComparedTask:
    'Task of both runs, by its name; one side is absent if the task exists in the other run only.',
  'ComparedTask.sameOutput': 'Whether the outputs are equal in full; absent if one run has none.',
  'ComparedTask.sameDescription':
    'Whether the descriptions are equal in full; absent if the task exists in one run only.',
  'ComparedTask.calls': 'Tool calls in order, aligned by tool and arguments.',
  ComparedTaskSide: 'Task of one run in a comparison.',
  'ComparedTaskSide.index': 'Number of the task in its run, from 1.',
  'ComparedTaskSide.agentRole': 'Role of the agent that works on the task.',
  'ComparedTaskSide.description': 'Description of the task, with its inputs filled in.',
  'ComparedTaskSide.attempt': 'Current attempt, from 1; 0 before the first.',
  'ComparedTaskSide.delegatedBy':
    'Name of the task that delegated it; absent for a task of the plan.',
  'ComparedTaskSide.reused':
    'True if the task was not executed by this run: its result is taken from the parent.',
  'ComparedTaskSide.output': 'Output of the task.',
  'ComparedTaskSide.error': 'Reason of the failure; the start if it is long.',
  'ComparedTaskSide.finishReason': 'Reason why the last answer of the model ended.',
  'ComparedTaskSide.durationMs': 'Duration of the current attempt in milliseconds.',
  'ComparedTaskSide.tokens': 'Tokens read and written, over all attempts; -1 when not known.',
  'ComparedTaskSide.costUsd': 'Estimated cost in US dollars; absent when a price is not known.',
  'ComparedTaskSide.modelCalls': 'Number of model calls that ended, failed ones included.',
  'ComparedTaskSide.toolCalls':
    'Number of tool calls that ended, without the calls that a tool made itself.',
  ComparedText: 'Text of a run in a comparison, cut at a limit.',
  'ComparedText.text': 'The text, or its start.',
  'ComparedText.bytes': 'Size of the whole text in bytes of UTF-8.',
  'ComparedText.cut': 'True if `text` is only the start of the text.',
  CostEstimate: 'Estimated cost in US dollars, by the prices that the server knows.',
  'CostEstimate.inputCost': 'Cost of the tokens read.',
  'CostEstimate.outputCost': 'Cost of the tokens written.',
  CreateScheduleBody: 'Body of `POST /api/schedules`.',
  'CreateScheduleBody.name': 'Name of the schedule: 1 to 100 letters, digits, `.`, `_` and `-`.',
  'CreateScheduleBody.cron':
    'Cron expression of five fields, or of six that begin with seconds, or `@daily` and the like.',
  'CreateScheduleBody.timeZone': 'Time zone of the expression, by its IANA name; UTC when absent.',
  'CreateScheduleBody.run':
    'Submission of each tick. Its run has the tags `schedule` and `tick` in addition.',
  'CreateScheduleBody.jitterMs':
    'Maximum delay of a tick in milliseconds, up to a day and to the next tick, derived from its time and the name; 0 when absent.',
  'CreateScheduleBody.catchUp':
    'Ticks that no process could submit within a minute, and that are submitted later; `last` when absent.',
  'CreateScheduleBody.overlap':
    'Action while the run of the last tick has not ended: `allow` another run, `skip` the tick, `cancel` that run, `queueOne` tick until it ends, or `queueAll`, up to 100; `allow` when absent.',
  'CreateScheduleBody.paused':
    'Whether the schedule has no ticks until it is resumed; false when absent.',
  CreateThreadBody:
    'Body of `POST /api/threads`. A repeated request with the same body returns the existing thread.',
  'CreateThreadBody.threadId': 'Id chosen by the client; the server generates one when absent.',
  'CreateThreadBody.title': 'Title for people.',
  'CreateThreadBody.tags': 'Metadata by which the thread can be found.',
  DagEdge: 'Edge of a state graph.',
  'DagEdge.unconditional': 'Whether the edge has no condition.',
  'DagEdge.fired': 'Whether the run followed the edge.',
  DagModel: 'Task graph of an ensemble or a run.',
  'DagModel.parallelGroups': 'Task ids by level.',
  'DagModel.criticalPath': 'Ids of the tasks on the longest path.',
  DagTask: 'Task of a task graph; a loop contains its body.',
  'DagTask.id': 'Id of the task.',
  'DagTask.dependsOn': 'Ids of the tasks that it waits for.',
  'DagTask.parallelGroup': 'Level in the graph; 0 for tasks that wait for no other.',
  'DagTask.onCriticalPath': 'Whether the task is on the longest path.',
  DecidingEvent: 'The external event that decided a review.',
  'DecidingEvent.id': 'Id of the event.',
  DelegationCompleted: 'A delegated task completed.',
  'DelegationCompleted.delegationId': 'Id of the delegation.',
  'DelegationCompleted.delegatingAgentRole': 'Role of the agent that delegates.',
  'DelegationCompleted.workerRole': 'Role of the agent that does the work.',
  'DelegationCompleted.durationMs': 'Duration of the delegation in milliseconds.',
  'DelegationCompleted.taskName': 'Name of the task; unique in its run.',
  'DelegationCompleted.attempt': 'Attempt of the task, from 1.',
  'DelegationCompleted.workerTask': 'Name of the task that the delegation added.',
  DelegationFailed: 'A delegated task failed, or a limit refused the delegation before it began.',
  'DelegationFailed.delegationId': 'Id of the delegation.',
  'DelegationFailed.delegatingAgentRole': 'Role of the agent that delegates.',
  'DelegationFailed.workerRole': 'Role of the agent that does the work.',
  'DelegationFailed.reason': 'Reason of the failure.',
  'DelegationFailed.taskName': 'Name of the task; unique in its run.',
  'DelegationFailed.attempt': 'Attempt of the task, from 1.',
  'DelegationFailed.workerTask':
    'Name of the task that the delegation added; absent when it was refused before it began.',
  DelegationStarted:
    'A manager or a peer delegates work to another agent, or a handler adds a task. The work is a separate task of the run, which this event adds; its `task_started` follows.',
  'DelegationStarted.delegationId': 'Id of the delegation.',
  'DelegationStarted.delegatingAgentRole': 'Role of the agent that delegates.',
  'DelegationStarted.workerRole': 'Role of the agent that does the work.',
  'DelegationStarted.taskDescription': 'Description of the delegated work.',
  'DelegationStarted.taskName': 'Name of the task; unique in its run.',
  'DelegationStarted.attempt': 'Attempt of the task, from 1.',
  'DelegationStarted.workerTask': 'Name of the task that the delegation adds; unique in the run.',
  'DelegationStarted.workerTaskIndex': 'Number of that task in its run.',
  'DelegationStarted.depth':
    'Nesting depth: 1 for a delegation by a task of the plan, 2 for one by a delegated task, and so on.',
  'DelegationStarted.handoff':
    'Present if the agent hands its conversation off: the other agent continues it, and its answer is that of the task. For a handoff, `depth` is the same for all agents of the conversation.',
  DeliverySpec: 'Delivery of a result; WEBSOCKET when absent.',
  DirectiveAck: 'Reply to `directive`; `accepted` is in lower case, unlike other statuses.',
  'DirectiveAck.requestId': 'Id of the message; absent when it had none.',
  'DirectiveAck.directiveId': 'Id of the directive; null when it was rejected.',
  'DirectiveAck.message': 'Reason of the rejection.',
  DirectiveAction: 'Action of a directive.',
  DirectiveActive: 'A directive took effect.',
  'DirectiveActive.directiveId': 'Id of the directive.',
  'DirectiveActive.from': 'Author, as stated by the caller.',
  'DirectiveActive.content': 'Text for the agents.',
  'DirectiveActive.action': 'Action of the directive.',
  'DirectiveActive.value': 'Argument of the action.',
  'DirectiveActive.expiresAt':
    'Time at which the directive expires; absent when it stays in force until the run ends.',
  'DirectiveActive.to': 'Task name or agent role that it applies to; absent for the whole run.',
  'DirectiveActive.actor': "Name of the caller's key; `from` is chosen by the caller.",
  'DirectiveActive.activeAt': 'Time at which it took effect.',
  DirectiveDelivered: 'A directive reached a task: its next model call includes it.',
  'DirectiveDelivered.directiveId': 'Id of the directive.',
  'DirectiveDelivered.agentRole': 'Role of the agent.',
  'DirectiveDelivered.taskName': 'Name of the task; unique in its run.',
  'DirectiveDelivered.taskIndex': 'Number of the task in its run, from 1.',
  'DirectiveDelivered.attempt': 'Attempt of the task, from 1.',
  'DirectiveDelivered.iterationIndex': 'Turn whose model call includes the directive.',
  DirectiveInput: 'Content of a directive: text for the agents, or an action.',
  'DirectiveInput.content': 'Text for the agents; either it or `action` is required.',
  'DirectiveInput.action': 'Action; `value` is its argument.',
  'DirectiveInput.value':
    'Name of a tier with SET_MODEL_TIER, name of a profile with APPLY_PROFILE.',
  'DirectiveInput.to': 'Name of a task, or role of an agent; every task when absent.',
  'DirectiveInput.from': 'Author that the agents see.',
  'DirectiveInput.actor': "Name of the caller's key, for the audit log.",
  'DirectiveInput.priority': 'NORMAL when absent.',
  'DirectiveInput.ttlMs': 'Time to live in milliseconds; as long as the run when absent.',
  'DirectiveInput.id': 'Id of the directive; random when absent.',
  DirectiveMessage: 'Sends a directive to running agents, or acts on the ensemble.',
  'DirectiveMessage.requestId': 'Repeated in the acknowledgement.',
  'DirectiveMessage.to': 'Task name, agent role or ensemble that gets the directive.',
  'DirectiveMessage.from': 'Author that the agents see.',
  'DirectiveMessage.content': 'Text for the agents.',
  'DirectiveMessage.action':
    'Action: SET_MODEL_TIER with the tier `value`, or APPLY_PROFILE with the profile `value`.',
  'DirectiveMessage.value': 'Argument of the action.',
  'DirectiveMessage.ttl': 'Time to live, up to 100 years; until the run ends when absent.',
  'DirectiveMessage.runId': 'Run that gets the directive; every running one when absent.',
  'DirectiveMessage.priority': 'NORMAL when absent.',
  DrainAccepted: 'Response of `POST /api/lifecycle/drain`; the drain continues after it.',
  EnsembleCompleted: 'The ensemble ended with any outcome; `run_result` follows.',
  'EnsembleCompleted.ensembleId': 'Id of the run.',
  'EnsembleCompleted.durationMs': 'Duration in milliseconds.',
  'EnsembleCompleted.exitReason': 'Reason why it ended.',
  'EnsembleCompleted.totalTokens': 'Tokens read and written; -1 when not known.',
  'EnsembleCompleted.totalToolCalls': 'Number of tool calls that ended.',
  EnsembleInfo: 'Ensemble that a run can select.',
  'EnsembleInfo.variables':
    'Names of the template variables of all its tasks: the inputs that a run needs.',
  'EnsembleInfo.inputs':
    'Names of further inputs that a run may have. With it, a run with any other input is refused; absent if its author lists none.',
  'EnsembleInfo.tasks': 'Tasks of the ensemble.',
  EnsembleStarted:
    'The ensemble begins: templates and agents are resolved, and no task has started. With HIERARCHICAL the tasks are the workers and, last, the manager; delegated work is added as separate tasks by `delegation_started`.',
  'EnsembleStarted.ensembleId': 'Id of the run.',
  'EnsembleStarted.totalTasks': 'Number of planned tasks.',
  'EnsembleStarted.ensemble': 'Name of the ensemble.',
  'EnsembleStarted.tasks': 'Planned tasks, in order.',
  'EnsembleStarted.outputTask': "Name of the planned task whose output is the run's output.",
  ErrorBody: 'Body of every response with a status of 400 or above.',
  'ErrorBody.message':
    'Readable description: what was refused and why, with the expected and the actual value.',
  'ErrorBody.problems': 'Every invalid value in the request; present when validation failed.',
  'ErrorBody.retryAfterMs':
    'Milliseconds to wait before a retry; absent when a retry does not help.',
  'ErrorBody.requestId':
    "Id of the request, under which the server logs details. Over WebSocket, the client's own `requestId`.",
  ErrorCodeName: 'A code of `ERROR_CODES`.',
  ErrorMessage: 'The server rejected a message of the client.',
  'ErrorMessage.message':
    'Readable description: what was refused and why, with the expected and the actual value.',
  'ErrorMessage.problems': 'Every invalid value in the request; present when validation failed.',
  'ErrorMessage.retryAfterMs':
    'Milliseconds to wait before a retry; absent when a retry does not help.',
  'ErrorMessage.requestId':
    "Id of the request, under which the server logs details. Over WebSocket, the client's own `requestId`.",
  EventLink:
    'A link with which a caller without a key sends one event: `POST` with the data as JSON.',
  'EventLink.path': 'Path on this server. Who knows it can send the event.',
  'EventLink.id': 'Id of the event.',
  'EventLink.expiresAt': 'Absent if the link is valid until its run ends.',
  EventLinkBody: 'Body of `POST /api/events/{name}/links`.',
  'EventLinkBody.key': 'Correlation key of the event.',
  'EventLinkBody.runId':
    'The only run whose waits get the event; the waits of all runs when absent.',
  'EventLinkBody.expiresInMs':
    'Time for which the link is valid, in milliseconds, at most the time for which events are stored. When absent: with `runId` until the run ends, otherwise that maximum.',
  EventLinkContent: 'Signed content of a link.',
  'EventLinkContent.issuer':
    'Name of the key that created the link; empty on a server without keys.',
  'EventLinkContent.expiresAt':
    'Time of expiry in milliseconds since 1970; absent if the link is valid until its run ends.',
  EventPosition: 'Position of an event in the log of its run.',
  'EventPosition.runId': 'Id of the run.',
  'EventPosition.seq': 'Number of the event in its run, from 0, without gaps.',
  'EventPosition.id': 'Id of the event, for SSE and deduplication.',
  EventReceived: 'Response to an external event.',
  'EventReceived.id': 'Id of the event.',
  'EventReceived.status':
    'DELIVERED: a wait has it. DELIVERING: it decides a wait as soon as the run confirms it. STORED: nothing waits for it yet; it is stored for 7 days.',
  'EventReceived.runId':
    'With DELIVERED and DELIVERING: run of the wait. Absent if the run was deleted since.',
  'EventReceived.reviewId': 'With DELIVERED and DELIVERING: id of the review that is the wait.',
  EventToAwaitBody:
    'External event that a task waits for: its name, or its name with a separate key.',
  EventUnreadable: 'Replaces a stored event that is damaged and cannot be read.',
  'EventUnreadable.eventType': 'Type of the stored event.',
  'EventUnreadable.reason': 'Reason why it cannot be read.',
  ExecutionTrace:
    'Trace of a whole run. Tasks that a handler executes have no entry in `taskTraces`.',
  'ExecutionTrace.ensembleId': 'Id of the run.',
  'ExecutionTrace.workflow': 'Workflow of the run, or MAP_REDUCE_ADAPTIVE.',
  'ExecutionTrace.totalDuration': 'Duration of the run.',
  'ExecutionTrace.taskTraces': 'Traces of the tasks, in order.',
  'ExecutionTrace.totalCostEstimate': 'Estimated cost; null when prices are not known.',
  'ExecutionTrace.loopTraces': 'Absent before schema version 1.1, like the next two fields.',
  ExternalEventKey: 'Correlation key of an external event, such as the id of an order.',
  ExternalEventName: 'Name of an external event.',
  FileChanged: 'A tool changed a file of the workspace.',
  'FileChanged.agentRole': 'Role of the agent.',
  'FileChanged.filePath': "Path of the file, relative to the tool's directory.",
  'FileChanged.timestamp': 'Time of the change.',
  FinishReason:
    'Reason why a model ended its answer: it was complete (`stop`), it requested tools, it reached its output limit (`length`), a filter of the provider blocked it, or the model refused. `unknown`: the provider gave no reason, or a different one.',
  ForEachBody: 'Adds a task to the run for each item of a list.',
  'ForEachBody.over':
    'Earlier task whose output is the list, such as `$topics`; or the name of an input that has it as JSON.',
  'ForEachBody.as':
    'Name of the template variable for the item; its fields are `{item.title}`. `item` when absent.',
  'ForEachBody.key':
    'Path of the field that has the key of an item, such as `id` or `author.id`: a text or a number. The index when absent.',
  'ForEachBody.maxItems':
    'Maximum number of items, up to 10,000; a longer list is refused before any of its tasks begins. 100 when absent.',
  'ForEachBody.maxParallel':
    'Maximum number of tasks at the same time; at most as many as the ensemble allows.',
  'ForEachBody.maxFailures':
    'Maximum number of failed tasks with `continue` and `collect`; no limit when absent.',
  'ForEachBody.until':
    'Number of completed tasks with which the task ends; the others are cancelled. All must end when absent.',
  'ForEachBody.onError':
    '`fail` ends the task with the first failure, `continue` leaves failures out, and `collect` has `{ key, ok, output }` or `{ key, ok, error }` for each item. `fail` when absent.',
  'ForEachBody.collect':
    'Output of the task: the `list` of all outputs, an object with the `outputs` by key, or their combination. With `onError` `collect`, an object has `{ ok, output }` or `{ ok, error }` for each key. `list` when absent.',
  ForkAction:
    'Part of a fork in a task: REUSED when the task completed in the copied part; ENDED when it failed or was skipped there; CONTINUED when it began there; EXECUTED when it begins in the fork; GIVEN when the request has its output.',
  ForkCallPreview: 'Call of a tool that is not idempotent, which a fork might repeat.',
  'ForkCallPreview.attempt': 'Attempt of the task, from 1.',
  ForkPreview: 'Response of `POST /api/runs/{runId}/fork` with `preview`: what the fork would do.',
  'ForkPreview.parentRunId': 'Id of the forked run.',
  'ForkPreview.at': '`seq` of the last event that the fork would copy.',
  'ForkPreview.tasks': 'Tasks of the plan in order, then delegated tasks of the forked run.',
  'ForkPreview.reused': 'Usage of all tasks in the copied part, which costs the fork nothing.',
  'ForkPreview.estimate': 'Usage of the forked run for all that the fork executes.',
  'ForkPreview.withoutEstimate':
    'Names of the tasks that the fork executes and that the forked run never began; `estimate` does not include them.',
  'ForkPreview.reviews':
    'Reviews that the fork would ask again: open ones, and decided ones of work that it executes.',
  'ForkPreview.repeatedCalls':
    'Calls of tools that are not idempotent, which the fork might repeat.',
  'ForkPreview.needsAllowSideEffects': 'Whether the fork needs `allowSideEffects`.',
  ForkPreviewed: 'Reply to `run_fork` with `preview`: what the fork would do.',
  'ForkPreviewed.requestId': "The request's id.",
  ForkReviewPreview: 'Open review that a fork asks again, with a new id.',
  'ForkReviewPreview.reviewId': 'Id of the review in the forked run.',
  ForkRunBody:
    'Body of `POST /api/runs/{runId}/fork`. What it does not set is as in the forked run, except for webhooks.',
  'ForkRunBody.at':
    '`seq` of the last event that the fork copies; or the task before whose first event the fork begins.',
  'ForkRunBody.results':
    'Outputs by task name, instead of the answers of their agents: text, or an object for a task with an output schema. Reviews and guardrails of the tasks apply as usual.',
  'ForkRunBody.directives': 'Directives that the fork has from its beginning.',
  'ForkRunBody.allowSideEffects':
    'Whether tools that are not idempotent may be called again; false when absent.',
  'ForkRunBody.preview':
    'Whether the response is a preview, and no run is created; false when absent.',
  ForkTaskPreview: 'Task of a previewed fork.',
  'ForkTaskPreview.delegatedBy':
    'Task whose agent delegated it in the forked run; absent for a task of the plan.',
  'ForkTaskPreview.reused':
    'Usage in the copied part, which costs the fork nothing; absent when the task did not begin there.',
  'ForkTaskPreview.estimate':
    'Usage in the forked run after the copied part; absent when the task has no such part there.',
  ForkUsage: 'Model and tool calls, with their usage.',
  'ForkUsage.modelCalls': 'Number of model calls that ended with a reply.',
  'ForkUsage.toolCalls': 'Number of tool calls that ended.',
  'ForkUsage.tokens': 'Tokens read and written; -1 when not known.',
  'ForkUsage.costUsd': 'Estimated cost in US dollars; absent when a price is not known.',
  HandlerStepEndedEvent: 'A try at a step of a handler, or at a compensation, ended.',
  'HandlerStepEndedEvent.taskName': 'Name of the task; unique in its run.',
  'HandlerStepEndedEvent.taskIndex': 'Number of the task in its run, from 1.',
  'HandlerStepEndedEvent.attempt': 'Attempt of the task, from 1.',
  'HandlerStepEndedEvent.step': 'Name of the step.',
  'HandlerStepEndedEvent.isCompensation':
    'Present for a compensation: it undoes a step after its handler failed or was cancelled.',
  'HandlerStepEndedEvent.tries':
    'Number of tries so far, with this one. An interrupted try does not count.',
  'HandlerStepEndedEvent.reason': 'Reason of the failure; absent if the step succeeded.',
  'HandlerStepEndedEvent.code': 'Failure code; absent if the step succeeded.',
  'HandlerStepEndedEvent.willRetry': 'Present if another try follows.',
  HandoffBody:
    'Agent of the same task to which an agent may hand off the conversation: its role, or its role with settings.',
  HandoffFilterName:
    'Messages of a conversation for the next agent: `all`, or only the texts of users and agents.',
  Heartbeat: 'Sent to every connection every 15 s.',
  'Heartbeat.serverTimeMs': "Server's clock in milliseconds since 1970.",
  Hello: 'First message on every connection; it contains only `type` when no run has started.',
  'Hello.ensembleId': 'Id of the newest run.',
  'Hello.startedAt': 'Time at which the newest run started.',
  'Hello.snapshotTrace':
    'Events of the runs so far, in order, without tokens, model turns and reviews.',
  'Hello.sharedCapabilities': 'Tasks and tools that peers can request.',
  'Hello.recentIterations': 'Recent model turns.',
  HistoryMessage:
    'Message of the conversation before a run. Each tool call of an assistant is followed by a `tool` message with its result, before the next message of the user or the assistant.',
  HistoryToolCall: 'Tool call in the conversation before a run.',
  'HistoryToolCall.id': 'Id of the call; the message with its result repeats it.',
  'HistoryToolCall.name': 'Name of the tool.',
  'HistoryToolCall.arguments': 'Arguments of the call as JSON text.',
  HubEvent:
    'Message of a producer with its origin. The inner message can be newer than its reader.',
  'HubEvent.sequence': 'Number of the message, counted by the producer; a gap means a loss.',
  HubHello: 'First message of a hub on every connection.',
  'HubHello.iterationsByProducer': 'Recent model turns by id of the producer.',
  HubMessage: 'Message of a hub. Narrows by `type`.',
  Identity: 'Response of `GET /api/me`: the key of the caller and its permissions.',
  'Identity.name':
    'Name of the key; null on a server without keys, where every caller has all permissions.',
  'Identity.scopes': 'Scopes of the key.',
  'Identity.roles':
    'Roles that reviews can require; null on a server without keys, where every caller can decide every review.',
  'Identity.expiresAt': 'Time at which the key expires; absent when it does not expire.',
  InjectAccepted: 'Response to an injected directive.',
  'InjectAccepted.directiveId': 'Id of the directive.',
  InjectBody: 'Body of `POST /api/runs/{runId}/inject`.',
  'InjectBody.content': 'Text for the agents; either it or `action` is required.',
  'InjectBody.action':
    'Action: SET_MODEL_TIER with the tier `value`, or APPLY_PROFILE with the profile `value`.',
  'InjectBody.value': 'Argument of the action; required with `action`.',
  'InjectBody.target':
    'Task name or agent role that gets the directive; all agents of the run when absent. An action takes a task name.',
  'InjectBody.priority': 'NORMAL when absent.',
  'InjectBody.ttl': 'Time to live, up to 100 years; until the run ends when absent.',
  InvokeToolBody: 'Body of `POST /api/tools/{name}/invoke`.',
  'InvokeToolBody.input': 'Text, or the object of a typed tool.',
  ItemErrorReaction: 'Reaction to a failed task of an item.',
  ItemLimitsBody: 'Changes to the limits of a task for each item of a list.',
  'ItemLimitsBody.maxItems':
    'Maximum number of items, up to 10,000; a longer list is refused before any of its tasks begins. 100 when absent.',
  'ItemLimitsBody.maxParallel':
    'Maximum number of tasks at the same time; at most as many as the ensemble allows.',
  'ItemLimitsBody.maxFailures':
    'Maximum number of failed tasks with `continue` and `collect`; no limit when absent.',
  'ItemLimitsBody.until':
    'Number of completed tasks with which the task ends; the others are cancelled. All must end when absent.',
  IterationSnapshot:
    'Model turn, for clients that connect during a run; without `completed` while it is in progress.',
  'IterationSnapshot.started': 'Start of the turn.',
  'IterationSnapshot.completed': 'End of the turn.',
  JudgeTaskBody: 'Task of a request that judges the output of a round. It has no context.',
  'JudgeTaskBody.name': 'Name of the task; other tasks refer to it as `$name`.',
  'JudgeTaskBody.description':
    'Instructions for the agent; `{name}` is replaced by the input of that name.',
  'JudgeTaskBody.expectedOutput': 'Description of the expected output, for the agent.',
  'JudgeTaskBody.tools': "Names of tools in the server's catalog.",
  'JudgeTaskBody.model': "Alias of a model in the server's catalog.",
  'JudgeTaskBody.maxIterations': 'Maximum number of model turns; 25 when absent.',
  'JudgeTaskBody.outputSchema':
    'JSON Schema that the output must match; the server also validates the schema itself.',
  'JudgeTaskBody.review': 'Review of the output.',
  'JudgeTaskBody.beforeReview': 'Review before the task begins.',
  'JudgeTaskBody.additionalContext': 'Additional text for the agent.',
  'JudgeTaskBody.instructions':
    'System message of the agent. With it, the model gets the description as it is, without headings: plain chat. An empty text sends no system message.',
  'JudgeTaskBody.maxOutputTokens':
    'Maximum number of output tokens of each model call. A longer answer is cut, and fails the task.',
  'JudgeTaskBody.allowEmptyOutput':
    'Whether an empty last answer of the agent is a valid output. False when absent: the task then fails with OUTPUT_EMPTY.',
  LifecycleState: 'Lifecycle state of the server.',
  LinkedEventData: 'Body of `POST /api/event-links/{token}`: the data of the event.',
  LinkedEventReceived: 'Response to an event that was sent with a link; see `EventReceived`.',
  ListReviewsQuery: 'Query of `GET /api/reviews`.',
  'ListReviewsQuery.runId': 'Only reviews of this run; all runs when absent.',
  'ListReviewsQuery.kind':
    'Only reviews of this kind; all kinds but CLIENT_TOOL when absent, because no person decides those.',
  ListRunsQuery:
    'Query of `GET /api/runs`, and `filter` of a `state_query`. Numbers of the query string are converted before validation.',
  'ListRunsQuery.status': 'One status, or several separated by commas.',
  'ListRunsQuery.tag': '`key`, or `key:value`.',
  'ListRunsQuery.ensemble': 'Full name of the ensemble.',
  'ListRunsQuery.threadId': 'Id of the thread.',
  'ListRunsQuery.q':
    "Search text, case-insensitive: matches the start of a run's id, or any part of the value of one of its tags or inputs.",
  'ListRunsQuery.limit': 'Maximum number of runs; 100 when absent.',
  'ListRunsQuery.offset':
    'Number of runs to skip, newest first; 0 when absent. For more, use `cursor`.',
  'ListRunsQuery.cursor':
    '`nextCursor` of the page before; the page continues there, also when runs were created or deleted meanwhile.',
  ListThreadsQuery: 'Query of `GET /api/threads`.',
  'ListThreadsQuery.tag': '`key`, or `key:value`.',
  'ListThreadsQuery.limit': 'Maximum number of threads; 100 when absent.',
  'ListThreadsQuery.cursor':
    '`nextCursor` of the page before. A thread that gets a run meanwhile moves to the first page.',
  Liveness: 'Response of `GET /api/health/live`.',
  LlmInteraction: 'Model turn of a trace, with the tool calls that it requested.',
  'LlmInteraction.latency': 'Duration of the model call.',
  'LlmInteraction.inputTokens': 'Tokens read; -1 when not known.',
  'LlmInteraction.outputTokens': 'Tokens written; -1 when not known.',
  'LlmInteraction.responseType': 'Whether the model requested tools or gave its final answer.',
  'LlmInteraction.messages': 'Messages that the model got.',
  'LlmInteraction.model': 'Alias of the model; absent in traces of other servers.',
  'LlmInteraction.finishReason': 'Reason why the answer ended; absent in traces of other servers.',
  'LlmInteraction.refusal': 'Text of the provider about a refusal or a blocked answer.',
  'LlmInteraction.cachedInputTokens':
    'Part of `inputTokens` that the provider read from its cache; absent when it does not report it.',
  'LlmInteraction.reasoningTokens':
    'Part of `outputTokens` that the model used to reason; absent when the provider does not report it.',
  'LlmInteraction.reasoning':
    'Readable reasoning of the model before and between the parts of its answer; absent when there is none.',
  'LlmInteraction.reasoningTruncated':
    'True when the reasoning was longer than 256 KiB and `reasoning` is only its start.',
  LlmIterationCompleted: 'A model call ended with an answer.',
  'LlmIterationCompleted.agentRole': 'Role of the agent.',
  'LlmIterationCompleted.taskDescription': 'Description of the task, with its inputs filled in.',
  'LlmIterationCompleted.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  'LlmIterationCompleted.responseType':
    'Whether the model requested tools or gave its final answer.',
  'LlmIterationCompleted.responseText': 'Text of the answer.',
  'LlmIterationCompleted.toolRequests': 'Tool calls that the model requests.',
  'LlmIterationCompleted.inputTokens': 'Tokens read; -1 when not known.',
  'LlmIterationCompleted.outputTokens': 'Tokens written; -1 when not known.',
  'LlmIterationCompleted.latencyMs': 'Duration of the call in milliseconds.',
  'LlmIterationCompleted.taskName': 'Name of the task; unique in its run.',
  'LlmIterationCompleted.taskIndex': 'Number of the task in its run, from 1.',
  'LlmIterationCompleted.attempt': 'Attempt of the task, from 1.',
  'LlmIterationCompleted.model': 'Alias of the model.',
  'LlmIterationCompleted.costUsd': 'Estimated cost in US dollars; absent when no price is known.',
  'LlmIterationCompleted.completedAt': 'Time at which the answer was complete.',
  'LlmIterationCompleted.finishReason': 'Reason why the answer ended.',
  'LlmIterationCompleted.refusal': 'Text of the provider about a refusal or a blocked answer.',
  'LlmIterationCompleted.cachedInputTokens':
    'Part of `inputTokens` that the provider read from its cache; absent when it does not report it.',
  'LlmIterationCompleted.cacheWriteInputTokens':
    'Part of `inputTokens` that the provider wrote to its cache; absent when it does not report it.',
  'LlmIterationCompleted.countedTokens':
    'Tokens that budgets count for the call, when `inputTokens` or `outputTokens` is not known: the sum that the provider reports, otherwise an estimate by the length of the texts.',
  'LlmIterationCompleted.reasoningTokens':
    'Part of `outputTokens` that the model used to reason; absent when the provider does not report it.',
  'LlmIterationCompleted.reasoning':
    'Readable reasoning of the model before and between the parts of its answer; absent when there is none.',
  'LlmIterationCompleted.reasoningTruncated':
    'True when the reasoning was longer than 256 KiB and `reasoning` is only its start.',
  LlmIterationFailed:
    'A model call failed. Another call of the same turn can follow: `llm_iteration_started` of that turn then begins it again, and the tokens and the reasoning of the failed call are void.',
  'LlmIterationFailed.agentRole': 'Role of the agent.',
  'LlmIterationFailed.taskDescription': 'Description of the task, with its inputs filled in.',
  'LlmIterationFailed.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  'LlmIterationFailed.taskName': 'Name of the task; unique in its run.',
  'LlmIterationFailed.taskIndex': 'Number of the task in its run, from 1.',
  'LlmIterationFailed.attempt': 'Attempt of the task, from 1.',
  'LlmIterationFailed.model': 'Alias of the model.',
  'LlmIterationFailed.reason': 'Message of the error.',
  'LlmIterationFailed.code': 'Failure code, as open text.',
  'LlmIterationFailed.latencyMs': 'Duration of the call in milliseconds.',
  'LlmIterationFailed.retryInMs':
    'Milliseconds until the same model is called again; absent when it is not.',
  'LlmIterationFailed.retryAfterMs':
    "Milliseconds to wait that the provider asked for. The model is not called again after a wait longer than the ensemble's `maxRetryAfterMs`.",
  'LlmIterationFailed.nextModel':
    'Alias of the fallback that is called next; absent when there is none.',
  LlmIterationStarted:
    'A model call begins. After `llm_iteration_failed` or `run_resumed`, the same task, attempt and turn can begin again; its earlier tokens and reasoning are then void.',
  'LlmIterationStarted.agentRole': 'Role of the agent.',
  'LlmIterationStarted.taskDescription': 'Description of the task, with its inputs filled in.',
  'LlmIterationStarted.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  'LlmIterationStarted.messages': 'The last 20 messages that the model gets.',
  'LlmIterationStarted.totalMessageCount': 'Number of all messages that the model gets.',
  'LlmIterationStarted.taskName': 'Name of the task; unique in its run.',
  'LlmIterationStarted.taskIndex': 'Number of the task in its run, from 1.',
  'LlmIterationStarted.attempt': 'Attempt of the task, from 1.',
  'LlmIterationStarted.model': 'Alias of the model.',
  'LlmIterationStarted.startedAt': 'Time just before the model is called.',
  LlmMessage: 'Message of the conversation that is sent to the model.',
  'LlmMessage.role': 'Author of the message.',
  'LlmMessage.content': 'Text of the message; null for a message that only requests tools.',
  'LlmMessage.toolCalls': 'Tool calls that the message requests; null when none.',
  'LlmMessage.toolName': 'Tool whose result this is; null for other messages.',
  LoggedRunEvent:
    'Event of a run with its position in the log: the form in which events are stored and sent.',
  LoopBody:
    'Repeats the task in rounds. A round has the variables `{round}`, `{previous}`, `{feedback}` and `{history}`.',
  'LoopBody.max': 'Maximum number of rounds, up to 1,000.',
  'LoopBody.until':
    'Ends the loop after a round: an expression in CEL over `output`, `outputs`, `round` and `inputs`, such as `output.score > 7 || round == 5`, or a judge. All `max` rounds when absent.',
  'LoopBody.onMax':
    'After `max` rounds: `accept` takes the last output, `fail` fails the task, and `review` asks a person, who can order more rounds. When absent: `fail`, or `accept` without `until` and `stopWhenUnchanged`.',
  'LoopBody.stopWhenUnchanged':
    'Whether the loop ends when a round has the same output as the one before. False when absent.',
  'LoopBody.history': 'Rounds in the variable `{history}` of the next round. `last` when absent.',
  'LoopBody.result':
    'Output of the task: that of the last round, or the list of all. `last` when absent.',
  LoopHistoryBody: 'Limits of the rounds in the variable `{history}`.',
  'LoopHistoryBody.window': 'Maximum number of rounds; no limit when absent.',
  'LoopHistoryBody.maxTokens':
    'Maximum size in tokens of 4 characters; older rounds are left out, and the text says which. 32,000 when absent.',
  LoopJudgeBody: 'Ends a loop by the answer of a task.',
  'LoopJudgeBody.judge':
    'Task that gets `{output}` and the variables of the round. Its `outputSchema` is a boolean, or an object with the boolean `done` and the text `feedback`, which is `{feedback}` in the next round.',
  LoopLimitsBody: 'Changes to the limits of a task that is repeated.',
  'LoopLimitsBody.max': 'Maximum number of rounds, up to 1,000.',
  LoopResult: 'Output of a task that is repeated.',
  LoopReviewBody: 'Asks a person after the last round.',
  'LoopReviewBody.review':
    'CONTINUE accepts the output, EDIT replaces it, and REJECT with feedback orders another round, up to `maxRevisions` times.',
  MessagePart:
    'Part of a message or of an output, as in A2A 1.0. Exactly one of `text`, `raw`, `url` and `data` is present.',
  'MessagePart.raw': 'Content of a file, as base64.',
  'MessagePart.url': 'URL of a file.',
  'MessagePart.data': 'Structured data.',
  MetricsSnapshot: 'Running totals of one task. Dashboards show the newest one.',
  'MetricsSnapshot.agentRole': 'Role of the agent.',
  'MetricsSnapshot.taskIndex': 'Number of the task in its run, from 1.',
  'MetricsSnapshot.inputTokens': 'Tokens read in this attempt; -1 when not known.',
  'MetricsSnapshot.outputTokens': 'Tokens written in this attempt; -1 when not known.',
  'MetricsSnapshot.llmLatencyMs': 'Duration of all model calls in milliseconds.',
  'MetricsSnapshot.toolExecutionTimeMs': 'Duration of all tool calls in milliseconds.',
  'MetricsSnapshot.iterationCount': 'Number of model turns.',
  'MetricsSnapshot.costEstimate': 'Estimated cost in US dollars, as a decimal number in text.',
  'MetricsSnapshot.cachedInputTokens':
    'Part of `inputTokens` that was read from a cache of the provider; absent when not known.',
  'MetricsSnapshot.reasoningTokens':
    'Part of `outputTokens` that models used to reason; absent when not known.',
  'MetricsSnapshot.taskName': 'Name of the task; unique in its run.',
  'MetricsSnapshot.attempt': 'Attempt of the task, from 1.',
  MigrateRunBody: 'Body of `POST /api/runs/{runId}/migrate`.',
  'MigrateRunBody.to': 'Build whose code continues the run.',
  'MigrateRunBody.preview':
    'Whether only the differences are returned and the run is not moved; false when absent.',
  ModelInfo: 'Model of the catalog.',
  'ModelInfo.alias': 'Name by which requests select the model.',
  'ModelInfo.provider': 'Provider of the model.',
  ModelSwitched: 'Response to a model switch; the next model call uses the new model.',
  'ModelSwitched.runId': 'Id of the run.',
  'ModelSwitched.model':
    'Alias of the model; the name of the tier when each task has its own model of it.',
  'ModelSwitched.tier': 'The tier, when one was requested.',
  'ModelSwitched.previousModel': 'Alias of the model before.',
  'ModelSwitched.status':
    'Always APPLIED; for a run that is not running, the server responds with the error RUN_NOT_RUNNING.',
  ModelSwitchedEvent: 'The next model calls of the run, or of one task, use another model.',
  'ModelSwitchedEvent.model': 'Alias of the new model.',
  'ModelSwitchedEvent.previousModel': 'Alias of the model before.',
  'ModelSwitchedEvent.taskName': 'The only task that switched; absent for the whole run.',
  'ModelSwitchedEvent.actor': 'Name of the key that requested the switch.',
  'ModelSwitchedEvent.tier': 'Requested tier; absent for a switch to a model by its alias.',
  'ModelSwitchedEvent.rule':
    'Rule of the ensemble that switched the model, as text; absent when a caller requested it.',
  ModelTierInfo: 'Model tier that a run can be switched to, in addition to PRIMARY and FALLBACK.',
  'ModelTierInfo.model': 'Alias of its model.',
  PendingReview: 'Review that waits for a decision. `timeoutMs` is its full time limit.',
  'PendingReview.reviewId': 'Id of the review.',
  'PendingReview.taskDescription':
    'Description of the task, with its inputs filled in; with DURING_EXECUTION, of the tool call or the question.',
  'PendingReview.taskOutput': 'Output under review; empty before execution.',
  'PendingReview.prompt':
    'Question for the reviewer; always a text with QUESTION. The server sends null instead of omitting it: some dashboards show an empty line for an absent prompt.',
  'PendingReview.timeoutMs': 'Time limit in milliseconds; 0 means no limit.',
  'PendingReview.requiredRole': 'Role that the key of the reviewer must have.',
  'PendingReview.runId': 'Id of the run.',
  'PendingReview.createdAt': 'Time at which the review opened.',
  'PendingReview.expiresAt':
    'Time at which the timeout action applies; absent when the review has no time limit.',
  'PendingReview.taskName': 'Name of the task that waits.',
  'PendingReview.agentRole': 'Role of the agent that works on the task.',
  'PendingReview.attempt': 'Attempt of the task, from 1.',
  'PendingReview.ensemble': 'Ensemble of the run; only in the list of reviews.',
  'PendingReview.inputs':
    'Inputs of the run, each truncated after 200 characters; only in the list of reviews.',
  'PendingReview.tags': 'Tags of the run; only in the list of reviews.',
  'PendingReview.mayDecide':
    "Whether the caller's key has the scope and the role to decide the review; only in the list of reviews.",
  'PendingReview.unreadable':
    'Reason why a part of the stored record cannot be read; the fields of that part are empty. Absent when all can be.',
  'PendingReview.toolName': 'With DURING_EXECUTION: name of the tool.',
  'PendingReview.toolCallId': 'With DURING_EXECUTION: id of the call.',
  'PendingReview.toolInput': 'With TOOL_CALL and CLIENT_TOOL: input that the tool would get.',
  'PendingReview.answerSchema':
    'With QUESTION: JSON Schema of the answer; `{ "type": "string" }` for any text. With EVENT: that of the event data.',
  'PendingReview.waitsFor':
    'External events that decide the review, each alone. Absent for a review that no event decides.',
  Ping: 'Requests a `pong`.',
  PlannedTask: 'Task of the plan, as announced by `ensemble_started`.',
  'PlannedTask.description': 'Description of the task, with its inputs filled in.',
  'PlannedTask.agentRole': 'Role of the agent that works on the task.',
  'PlannedTask.context': 'Names of the tasks whose output it waits for.',
  Pong: 'Reply to `ping`.',
  PreconfiguredTask: "Task that is defined in the server's code.",
  'PreconfiguredTask.tools': "Names of the task's tools.",
  'PreconfiguredTask.variables':
    'Names of the template variables in its description and expected output.',
  Priority: 'Urgency of a directive or of a request from a peer; NORMAL when absent.',
  Problem: 'One validation problem. An invalid value can have several.',
  'Problem.path':
    'JSON pointer (RFC 6901) to the part, such as `/inputs/topic`; empty for the whole value.',
  'Problem.message': 'Readable description, such as `must be a string, got 42`.',
  'Problem.expected': 'Description of a valid value; absent when there is nothing to add.',
  'Problem.received': 'Received value, truncated when long; absent when it is missing.',
  ProcessToolRequest: 'JSON object that a process tool reads from stdin.',
  'ProcessToolRequest.input': 'Input of the tool, as the model wrote it.',
  ProcessToolResponse:
    'JSON object that a process tool writes to stdout before it exits with code 0.',
  'ProcessToolResponse.output': 'Text for the model. The raw stdout is used when it is absent.',
  'ProcessToolResponse.success': 'True when absent.',
  'ProcessToolResponse.error': 'Reason of the failure; used with `success: false`.',
  'ProcessToolResponse.structured': 'Result as a JSON value, for programs.',
  ProducerInfo: 'Process that publishes its events to a hub.',
  ProducerJoined: 'A producer connected.',
  ProducerLeft: 'A producer disconnected.',
  ProfileApplied: 'A profile was applied; sent to connections that subscribed to it by name.',
  'ProfileApplied.capacities': 'Capacity by ensemble name.',
  'ProfileApplied.runId': 'Run that it was applied to.',
  ProfileInfo: 'Profile that can be applied.',
  'ProfileInfo.modelTier':
    'Tier that the profile switches runs to; absent for a profile that changes only the server.',
  Readiness: 'Response of `GET /api/health/ready`: 200 with READY, 503 with NOT_READY.',
  'Readiness.lifecycleState': 'Lifecycle state of the server.',
  'Readiness.reason': 'Reason why the server is not ready.',
  'Readiness.dispatcher':
    'Engine that dispatches runs in addition to the store, if there is one. The server is ready without it.',
  Reasoning:
    'Part of the readable reasoning of a model. It is not part of the answer. The reasoning of an answered call is also in `llm_iteration_completed`; a run with the capture mode OFF has neither.',
  'Reasoning.text': 'Text to append to the reasoning of the turn.',
  'Reasoning.agentRole': 'Role of the agent.',
  'Reasoning.taskName': 'Name of the task; unique in its run.',
  'Reasoning.taskIndex': 'Number of the task in its run, from 1.',
  'Reasoning.attempt': 'Attempt of the task, from 1.',
  'Reasoning.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  ReduceBody: 'Combines the outputs of all items in levels of tasks, each time as many as fit.',
  'ReduceBody.reduce': 'Task that combines outputs; the one of the last level has the output.',
  'ReduceBody.maxTokens':
    'Maximum size of the outputs that one task gets, in tokens of 4 characters; a longer output is alone.',
  'ReduceBody.as': 'Name of the template variable for the outputs; `items` when absent.',
  ReduceTaskBody: 'Task of a request that combines outputs. It has no context.',
  'ReduceTaskBody.name': 'Name of the task; other tasks refer to it as `$name`.',
  'ReduceTaskBody.description':
    'Instructions for the agent; `{name}` is replaced by the input of that name.',
  'ReduceTaskBody.expectedOutput': 'Description of the expected output, for the agent.',
  'ReduceTaskBody.tools': "Names of tools in the server's catalog.",
  'ReduceTaskBody.model': "Alias of a model in the server's catalog.",
  'ReduceTaskBody.maxIterations': 'Maximum number of model turns; 25 when absent.',
  'ReduceTaskBody.outputSchema':
    'JSON Schema that the output must match; the server also validates the schema itself.',
  'ReduceTaskBody.review': 'Review of the output.',
  'ReduceTaskBody.beforeReview': 'Review before the task begins.',
  'ReduceTaskBody.additionalContext': 'Additional text for the agent.',
  'ReduceTaskBody.instructions':
    'System message of the agent. With it, the model gets the description as it is, without headings: plain chat. An empty text sends no system message.',
  'ReduceTaskBody.maxOutputTokens':
    'Maximum number of output tokens of each model call. A longer answer is cut, and fails the task.',
  'ReduceTaskBody.allowEmptyOutput':
    'Whether an empty last answer of the agent is a valid output. False when absent: the task then fails with OUTPUT_EMPTY.',
  RepeatedText: 'Reference to the text of an earlier event of the same stream.',
  'RepeatedText.at':
    'JSON Pointer of the omitted text in this event, which has an empty text there.',
  'RepeatedText.seq': '`seq` of the earlier event.',
  'RepeatedText.from':
    'JSON Pointer of the text in the earlier event. For a `token` or `reasoning` event, the text continues with all later events of this type, task, attempt and turn up to this event.',
  RepeatedTexts: 'Field of an event in a stream with `repeats=omit`.',
  'RepeatedTexts.repeats':
    'Texts that the reader got in earlier events of this stream; absent when there are none.',
  ReplaceScheduleBody: 'Body of `POST /api/schedules/{name}`: the complete definition.',
  'ReplaceScheduleBody.cron':
    'Cron expression of five fields, or of six that begin with seconds, or `@daily` and the like.',
  'ReplaceScheduleBody.timeZone': 'Time zone of the expression, by its IANA name; UTC when absent.',
  'ReplaceScheduleBody.run':
    'Submission of each tick. Its run has the tags `schedule` and `tick` in addition.',
  'ReplaceScheduleBody.jitterMs':
    'Maximum delay of a tick in milliseconds, up to a day and to the next tick, derived from its time and the name; 0 when absent.',
  'ReplaceScheduleBody.catchUp':
    'Ticks that no process could submit within a minute, and that are submitted later; `last` when absent.',
  'ReplaceScheduleBody.overlap':
    'Action while the run of the last tick has not ended: `allow` another run, `skip` the tick, `cancel` that run, `queueOne` tick until it ends, or `queueAll`, up to 100; `allow` when absent.',
  'ReplaceScheduleBody.paused':
    'Whether the schedule has no ticks until it is resumed; false when absent.',
  ReplayRunBody: 'Body of `POST /api/runs/{runId}/replay`.',
  'ReplayRunBody.mode':
    '`frozen` takes everything from the record; `models` calls models, and takes everything else from the record.',
  RequestedToolCall: 'Tool call that a model requested.',
  'RequestedToolCall.arguments': 'Arguments as the model wrote them: JSON text.',
  'RequestedToolCall.id': "The model's id of the call; the server always sends it.",
  ReviewDecided: 'A review was decided.',
  'ReviewDecided.reviewId': 'Id of the review.',
  'ReviewDecided.decidedBy': 'Name of the key that decided.',
  'ReviewDecided.feedback': 'With REJECT: feedback for the agent.',
  'ReviewDecided.revisedOutput':
    "With EDIT: output that replaces the task's, the answer to a question, or the data of an event.",
  'ReviewDecided.event': 'External event that decided it.',
  ReviewDecision: 'Decides a review, like `POST /api/reviews/{reviewId}`.',
  'ReviewDecision.requestId': 'Repeated in the reply.',
  'ReviewDecision.reviewId': 'Id of the review.',
  'ReviewDecision.revisedOutput':
    'Text that replaces the reviewed one: the description or output of the task, the input of the tool call as JSON, the result of a client tool, or the answer to a question. An answer is the text itself if the schema of the answer has the type `string`; with another schema it is the JSON value of the text, or the text if the schema accepts only that. Required with EDIT, and not allowed with other decisions.',
  'ReviewDecision.feedback':
    'Feedback for the next attempt of the agent; required with REJECT, not blank, and not allowed with other decisions.',
  ReviewDecisionAck: 'Reply to `review_decision`, with the REST response.',
  'ReviewDecisionAck.requestId': 'Id of the message; absent when it had none.',
  ReviewDecisionApplied: 'Response to the first decision of a review.',
  'ReviewDecisionApplied.reviewId': 'Id of the review.',
  'ReviewDecisionApplied.waitsForBuild':
    'Build that the run waits for: the decision is stored, but no process has the code with which the run can continue. Absent when the run can continue.',
  ReviewDecisionBody: 'Body of `POST /api/reviews/{reviewId}`.',
  'ReviewDecisionBody.revisedOutput':
    'Text that replaces the reviewed one: the description or output of the task, the input of the tool call as JSON, the result of a client tool, or the answer to a question. An answer is the text itself if the schema of the answer has the type `string`; with another schema it is the JSON value of the text, or the text if the schema accepts only that. Required with EDIT, and not allowed with other decisions.',
  'ReviewDecisionBody.feedback':
    'Feedback for the next attempt of the agent; required with REJECT, not blank, and not allowed with other decisions.',
  ReviewDecisionKind:
    "Decision of a reviewer. CONTINUE accepts, EDIT replaces the reviewed value, REJECT repeats the task with the reviewer's feedback, EXIT_EARLY ends the run and keeps its results.",
  ReviewKind:
    'Kind of a review, by the request to its reviewer: - TASK_INPUT: whether a task may begin with its description; - TASK_OUTPUT: whether the output of a task is accepted; - TOOL_CALL: whether a tool may be called with its input; - QUESTION: an answer to the question of a tool, in `prompt`; - CLIENT_TOOL: the result of a tool that the client of the run executes. No person decides it; - EVENT: an external event, or the end of a time. No person decides it. A wait that people may decide too is a QUESTION.',
  ReviewList: 'Response of `GET /api/reviews`.',
  'ReviewList.total': 'Number of reviews.',
  ReviewPolicy: 'Tasks that are reviewed when they have no review setting.',
  ReviewRequested:
    'A review opened and waits for a decision; `timeoutMs` is the time left when the event was sent. A BEFORE_EXECUTION review opens while its task is pending, before `task_started`.',
  'ReviewRequested.reviewId': 'Id of the review.',
  'ReviewRequested.taskDescription':
    'Description of the task, with its inputs filled in; with DURING_EXECUTION, of the tool call or the question.',
  'ReviewRequested.taskOutput': 'Output under review; empty before execution.',
  'ReviewRequested.prompt':
    'Question for the reviewer; always a text with QUESTION. The server sends null instead of omitting it: some dashboards show an empty line for an absent prompt.',
  'ReviewRequested.timeoutMs': 'Time limit in milliseconds; 0 means no limit.',
  'ReviewRequested.requiredRole': 'Role that the key of the reviewer must have.',
  'ReviewRequested.taskName': 'Name of the task; unique in its run.',
  'ReviewRequested.taskIndex': 'Number of the task in its run, from 1.',
  'ReviewRequested.attempt': 'Attempt of the task, from 1.',
  'ReviewRequested.agentRole': 'Role of the agent.',
  'ReviewRequested.toolName': 'With DURING_EXECUTION: name of the tool.',
  'ReviewRequested.toolCallId': 'With DURING_EXECUTION: id of the call.',
  'ReviewRequested.toolInput': 'With TOOL_CALL and CLIENT_TOOL: input that the tool would get.',
  'ReviewRequested.answerSchema':
    'With QUESTION: JSON Schema of the answer; `{ "type": "string" }` for any text. With EVENT: that of the event data.',
  'ReviewRequested.waitsFor':
    'External events that decide the review, each alone. Absent for a review that no event decides.',
  ReviewTimedOut:
    'A review timed out. Also sent when a review was decided elsewhere, so that viewers close their panels.',
  'ReviewTimedOut.reviewId': 'Id of the review.',
  'ReviewTimedOut.action': 'Action that was taken.',
  ReviewTimeoutAction: 'Action taken when a review times out.',
  ReviewTiming: 'Time at which a review opens, relative to its task.',
  ReviewVerdict: 'Decision of a review, as a command carries it.',
  ReviewWithdrawn: 'A review ended without a decision because its task or its run ended.',
  'ReviewWithdrawn.reviewId': 'Id of the review.',
  'ReviewWithdrawn.reason': 'Reason why the review was withdrawn.',
  RunAccepted: 'Response 202 of `POST /api/runs`: the run is queued.',
  'RunAccepted.runId': 'Id of the run.',
  'RunAccepted.tasks': 'Number of tasks.',
  'RunAccepted.startAt':
    'Time before which the run does not start; absent for a run that may start at once.',
  RunAck: 'Reply to `run_request`, `run_fork` and `run_replay`.',
  'RunAck.requestId': "The request's id.",
  'RunAck.runId': 'Id of the run; absent when the request was rejected.',
  'RunAck.tasks': 'Number of tasks.',
  'RunAck.error': 'Reason of the rejection.',
  'RunAck.message': 'Readable reason of the rejection.',
  'RunAck.problems': 'Every invalid value in the request; present when validation failed.',
  'RunAck.retryAfterMs': 'Milliseconds to wait before a retry; absent when a retry does not help.',
  RunBudgetBody: "Limits of a run, in addition to its ensemble's: the smaller of both applies.",
  'RunBudgetBody.maxTokens': 'Maximum number of tokens, read and written.',
  'RunBudgetBody.maxCostUsd':
    'Maximum cost in US dollars; rejected when the price of a model is not known.',
  'RunBudgetBody.maxDurationMs':
    'Maximum working time in milliseconds, up to 100 years; waiting for reviewers does not count.',
  'RunBudgetBody.maxModelCalls': 'Maximum number of model calls.',
  'RunBudgetBody.maxToolCalls': 'Maximum number of tool calls.',
  RunBudgetGiven: 'Limits with which a run was submitted.',
  'RunBudgetGiven.maxTokens': 'Maximum number of tokens, read and written.',
  'RunBudgetGiven.maxCostUsd':
    'Maximum cost in US dollars; rejected when the price of a model is not known.',
  'RunBudgetGiven.maxDurationMs':
    'Maximum working time in milliseconds, up to 100 years; waiting for reviewers does not count.',
  'RunBudgetGiven.maxModelCalls': 'Maximum number of model calls.',
  'RunBudgetGiven.maxToolCalls': 'Maximum number of tool calls.',
  RunCancelling: 'A cancel was requested and the work in flight is stopping.',
  'RunCancelling.actor':
    'Key name of the caller that requested the cancel, left, or set the deadline or limit.',
  RunComparison:
    'Response of `GET /api/runs/compare`. Its size is limited: long texts have `cut`, long runs `partial`, and a comparison of many tasks `omitted`.',
  'RunComparison.relation':
    'Relation of the first run to the second: `PARENT` if the second was forked or replayed from it, `CHILD` for the reverse, `SIBLINGS` if both have the same parent, `SAME` for one run; absent when there is none.',
  'RunComparison.inputs': 'Inputs that differ, sorted by name; at most 100.',
  'RunComparison.tasks':
    'Tasks in the order of the first run, then those that only the second has; at most 2,000, first those that differ.',
  'RunComparison.omitted':
    'Number of tasks that are not listed, and of those of them that differ; absent when all are listed.',
  RunControl: 'Cancels a run or switches its model.',
  'RunControl.requestId': 'Repeated in the acknowledgement.',
  'RunControl.runId': 'Id of the run.',
  'RunControl.model':
    'Alias of a model in the catalog; `switch_model` requires either it or `tier`.',
  'RunControl.tier': 'Name of a model tier; used instead of `model`.',
  'RunControl.mode': '`abort` when absent.',
  'RunControl.taskName': 'Name of the only task that switches; the whole run when absent.',
  RunControlAck: 'Reply to `run_control`; subscribers also get it for commands of other clients.',
  'RunControlAck.requestId':
    "Id of the message; absent when it had none, and on acknowledgements of other callers' commands.",
  'RunControlAck.runId': 'Id of the run.',
  'RunControlAck.model': 'Alias of the new model.',
  'RunControlAck.previousModel': 'Alias of the model before.',
  'RunControlAck.tier': 'The tier, when one was requested.',
  'RunControlAck.message': 'Readable reason of a rejection.',
  RunDetail: 'Response of `GET /api/runs/{runId}`.',
  'RunDetail.runId': 'Id of the run.',
  'RunDetail.startedAt':
    'Time at which work began; for a run that still waits, the time at which it was accepted.',
  'RunDetail.startAt':
    'Time before which the run does not start; absent for a run that could start at once.',
  'RunDetail.startBy':
    'Time by which its work must have begun, or it fails with QUEUE_TIMEOUT; absent without a limit.',
  'RunDetail.priority': 'Priority with which it waits to start; absent for `normal`.',
  'RunDetail.fairnessKey':
    'Key by which it takes turns with other waiting runs; absent for the key that submitted it.',
  'RunDetail.queuedMs':
    'Time from the submission, or from `startAt`, to the start of its work, in milliseconds; absent until then.',
  'RunDetail.completedAt': 'Time at which the run ended.',
  'RunDetail.durationMs': 'Duration in milliseconds; absent until the run has ended.',
  'RunDetail.inputs': 'Values of the template variables.',
  'RunDetail.tags': 'Tags of the run.',
  'RunDetail.tasks': 'Tasks of the run, in order.',
  'RunDetail.pendingReviews': 'Reviews that wait for a decision.',
  'RunDetail.error': 'Reason of the failure.',
  'RunDetail.cancel': 'Cause of the cancel; absent unless the run has ended as CANCELLED.',
  'RunDetail.ensemble': 'Name of the ensemble.',
  'RunDetail.lastSeq':
    '`seq` of the newest event; to follow the run without a gap, begin at the next one.',
  'RunDetail.options': 'Options with which the run was submitted.',
  'RunDetail.budget': "Limits with which the run was submitted, in addition to the ensemble's.",
  'RunDetail.submittedBy': 'Name of the key that submitted the run.',
  'RunDetail.webhooks': 'Names of the webhooks that are notified about the run.',
  'RunDetail.threadId': 'Id of the thread that the run belongs to.',
  'RunDetail.parent':
    'Run that it was forked from, and the `seq` of the last event that it copied from it; `replay` if it replays it.',
  'RunDetail.build':
    'Build chosen for it, then the build of the process that took it last; absent while there is none.',
  'RunDetail.code': 'Digest of the code of its ensemble in that build.',
  'RunDetail.resumableBy':
    'Builds that have this code: a process of one of them must start. Only while the run is WAITING_FOR_BUILD.',
  'RunDetail.unreadable':
    'Reason why a part of the stored record cannot be read; the fields of that part are empty. Absent when all can be.',
  RunDifference:
    "Second run's values minus those of the first; a value is absent if either is unknown.",
  'RunDifference.durationMs': 'In milliseconds; absent until both runs have ended.',
  'RunDifference.costUsd': 'In US dollars.',
  RunEvent: 'Event of a run, without its position in the log. Narrows by `type`.',
  RunEventsQuery: 'Query of `GET /api/runs/{runId}/events`.',
  'RunEventsQuery.events': 'Event types separated by commas; all when absent.',
  'RunEventsQuery.from':
    'First `seq` to send; a negative number counts from the end. `Last-Event-ID` takes precedence.',
  'RunEventsQuery.repeats':
    'With `omit`, each long text is sent once; events that repeat it refer to it in `repeats`.',
  'RunEventsQuery.ticket': 'Ticket, for browsers that cannot send a key.',
  RunFork: 'Forks a run, like `POST /api/runs/{runId}/fork`.',
  'RunFork.requestId': 'Repeated in the reply.',
  'RunFork.parentRunId': 'Id of the run to fork; `runId` is that of the fork.',
  'RunFork.idempotencyKey':
    'Key that identifies the submission, like the header `Idempotency-Key` over REST.',
  'RunFork.traceContext':
    'W3C trace context, like the headers `traceparent` and `tracestate` over REST.',
  RunForked:
    'The run is a fork: the events before this one, except `run_queued`, are copied from another run, and the run continues from there. Calls in flight are discarded, as by `run_resumed`. The copied part costs nothing: totals count from here.',
  'RunForked.parentRunId': 'Id of the run that the events are copied from.',
  'RunForked.at': '`seq` of the last copied event.',
  'RunForked.replay':
    'Mode in which the run replays the other one, whose events are then not copied; absent for a fork.',
  RunList:
    'Response of `GET /api/runs`: one page, newest first. A page ends early at 1 MB; the next page begins at `nextCursor`.',
  'RunList.total': 'Number of matching runs on all pages, up to 10,000.',
  'RunList.totalCapped': 'Whether more than 10,000 runs match.',
  'RunList.nextCursor': 'Cursor of the next page; absent on the last one.',
  RunMetrics: 'Totals of a run so far.',
  'RunMetrics.totalTokens': 'Tokens read and written; -1 when not known.',
  'RunMetrics.totalToolCalls': 'Number of tool calls that ended.',
  'RunMetrics.costUsd': 'Estimated cost so far in US dollars; absent when a price is not known.',
  RunMigrate:
    'Moves a run that waits to the code of another build, like `POST /api/runs/{runId}/migrate`.',
  'RunMigrate.requestId': 'Repeated in the reply.',
  'RunMigrate.runId': 'Id of the run.',
  RunMigrateAck: 'Reply to `run_migrate`, with the REST response.',
  'RunMigrateAck.requestId': "The request's id.",
  RunMigrated: 'Response of `POST /api/runs/{runId}/migrate`.',
  'RunMigrated.runId': 'Id of the run.',
  'RunMigrated.from': 'Build that executed the run last.',
  'RunMigrated.differences': 'Differences between the codes; at most 100.',
  'RunMigrated.moved': 'Whether the run was moved; false for a preview.',
  RunOptionsBody: 'Settings of a run.',
  'RunOptionsBody.maxToolOutputLength':
    "Maximum number of characters of a tool output that reach the model; -1 for no limit, the ensemble's setting when absent.",
  'RunOptionsBody.toolLogTruncateLength':
    "Maximum number of characters of a tool output in the server's log; -1 for no limit, the ensemble's setting when absent.",
  'RunOptionsBody.verbose': 'Whether the server logs every model turn and tool call of the run.',
  'RunOptionsBody.reviewPolicy':
    "Tasks that are reviewed. The server rejects a policy that is less strict than the operator's.",
  'RunOptionsBody.captureMode':
    "Amount of detail that is stored for the trace; the ensemble's setting when absent. OFF stores no prompts.",
  'RunOptionsBody.review': 'Defaults for the reviews of the run.',
  RunOptionsGiven: 'Settings with which a run was submitted.',
  'RunOptionsGiven.maxToolOutputLength':
    "Maximum number of characters of a tool output that reach the model; -1 for no limit, the ensemble's setting when absent.",
  'RunOptionsGiven.toolLogTruncateLength':
    "Maximum number of characters of a tool output in the server's log; -1 for no limit, the ensemble's setting when absent.",
  'RunOptionsGiven.verbose': 'Whether the server logs every model turn and tool call of the run.',
  'RunOptionsGiven.reviewPolicy':
    "Tasks that are reviewed. The server rejects a policy that is less strict than the operator's.",
  'RunOptionsGiven.captureMode':
    "Amount of detail that is stored for the trace; the ensemble's setting when absent. OFF stores no prompts.",
  RunOutcome: 'Final status of a run that was started, as in `run_result`.',
  RunOutput: 'Output of one task of a run, as listed by `run_result`.',
  'RunOutput.durationMs': 'Duration of the task in milliseconds.',
  RunPriority: 'Priority of a run among the runs that wait to start.',
  RunQueued:
    'The run is accepted and waits to start. Always the first event of a log, with `seq` 0.',
  'RunQueued.ensemble': 'Name of the ensemble.',
  'RunQueued.totalTasks': 'Number of planned tasks.',
  'RunQueued.inputs': 'Values of the template variables.',
  'RunQueued.tags': 'Tags of the run.',
  'RunQueued.actor': 'Name of the key that submitted the run.',
  'RunQueued.threadId': 'Id of the thread that the run belongs to.',
  'RunQueued.startAt': 'Time before which the run does not start.',
  RunReplay: 'Replays a run, like `POST /api/runs/{runId}/replay`.',
  'RunReplay.requestId': 'Repeated in the reply.',
  'RunReplay.parentRunId': 'Id of the run to replay; `runId` is that of the replay.',
  'RunReplay.idempotencyKey':
    'Key that identifies the submission, like the header `Idempotency-Key` over REST.',
  'RunReplay.traceContext':
    'W3C trace context, like the headers `traceparent` and `tracestate` over REST.',
  RunRequest: 'Submits a run, like `POST /api/runs`.',
  'RunRequest.requestId': 'Repeated in `run_ack`.',
  'RunRequest.inputs': 'Values of the template variables.',
  'RunRequest.tasks': "Tasks to run instead of the ensemble's.",
  'RunRequest.taskOverrides': 'Changes by task name, or by the start of a task description.',
  'RunRequest.options': 'Settings of the run.',
  'RunRequest.budget': 'Limits of the run; a run that exceeds one fails and keeps its results.',
  'RunRequest.tags': 'Metadata by which the run can be found.',
  'RunRequest.ensemble': 'Name of the ensemble; the first one when absent.',
  'RunRequest.runId': 'Id chosen by the client; the server generates one when absent.',
  'RunRequest.build':
    'Build that executes the run, which must live; chosen by the shares of the builds when absent.',
  'RunRequest.history':
    'Messages of the conversation before this run, oldest first. Every agent of the run gets them.',
  'RunRequest.clientTools': 'Tools that the client executes. Every agent of the run may call them.',
  'RunRequest.threadId':
    'Id of an existing thread: the run becomes its next one, and its agents get the messages of the earlier runs. Cannot be combined with `history`.',
  'RunRequest.webhooks': 'Names of registered webhooks that are notified of the run.',
  'RunRequest.startAt':
    'Time before which the run does not start, at most 366 days ahead. A time in the past starts it at once.',
  'RunRequest.startAfterMs':
    'The same as a delay in milliseconds, up to 366 days. Cannot be combined with `startAt`.',
  'RunRequest.priority':
    'Runs of a higher priority start before all others that wait; `normal` when absent.',
  'RunRequest.fairnessKey':
    'Runs of one priority take turns by this key when they wait, one run each, such as by customer; the name of the key that submits the run when absent.',
  'RunRequest.maxQueueMs':
    'Maximum time from the time at which the run may start to the start of its work, in milliseconds, up to 366 days. A run that has not begun by then fails with QUEUE_TIMEOUT. No limit when absent.',
  'RunRequest.idempotencyKey':
    'Key that identifies the submission, like the header `Idempotency-Key` over REST.',
  'RunRequest.traceContext':
    'W3C trace context, like the headers `traceparent` and `tracestate` over REST.',
  RunResultEvent: 'The final event of a run.',
  'RunResultEvent.runId': 'Id of the run.',
  'RunResultEvent.outputs': 'Outputs of the tasks that completed.',
  'RunResultEvent.outputTask':
    "Name of the task in `outputs` whose output is the run's output; present with COMPLETED if a task completed. It differs from that of `ensemble_started` when a reviewer ended the run before that task.",
  'RunResultEvent.durationMs': 'Duration of the run in milliseconds.',
  'RunResultEvent.error': 'Reason of the failure; absent unless the run failed.',
  'RunResultEvent.code': 'Failure code, as open text; present with `error`.',
  'RunResultEvent.cancel': 'Cause of the cancel; absent unless the run was cancelled.',
  RunResumed:
    'Another process resumes the run after a crash or a handover. A running task continues in the same attempt. Calls in flight (a model call or tool call that began and did not end) are discarded, and `llm_iteration_started` of the same task, attempt and turn begins that turn again.',
  'RunResumed.epoch': 'Number of the process that owns the run; grows by one with each handover.',
  'RunResumed.completedTasks': 'Names of the tasks that are completed and will not run again.',
  'RunResumed.addedTasks':
    'Tasks that the code of the process adds to the plan; absent when there are none. Tasks that it no longer has follow as `task_skipped`.',
  'RunResumed.outputTask':
    "Name of the task whose output is the run's output from now on: the code of the process may have another one.",
  RunReviewBody: 'Defaults for the reviews of a run.',
  'RunReviewBody.timeoutMs':
    'Time limit for the reviewer in milliseconds, up to 100 years; 0 means no limit.',
  'RunReviewBody.onTimeout': 'Action when no decision arrives in time.',
  'RunReviewBody.requiredRole': 'Role that the key of the reviewer must have.',
  RunStatus:
    'Status of a run. CANCELLING: a cancel was requested and work is still stopping. WAITING_REVIEW: every task that could continue waits, and a person or the caller can decide at least one open review. WAITING: every task that could continue waits, for external events or times only. WAITING_FOR_BUILD: no process has the code that began the run. REJECTED: the submission was refused; such a run is never stored.',
  RunStatusList:
    'One status of a run, or several separated by commas, such as `RUNNING,WAITING_REVIEW`.',
  RunSummary: 'Run as listed.',
  'RunSummary.runId': 'Id of the run.',
  'RunSummary.startedAt':
    'Time at which work began; for a run that still waits, the time at which it was accepted.',
  'RunSummary.startAt':
    'Time before which the run does not start; absent for a run that could start at once.',
  'RunSummary.startBy':
    'Time by which its work must have begun, or it fails with QUEUE_TIMEOUT; absent without a limit.',
  'RunSummary.priority': 'Priority with which it waits to start; absent for `normal`.',
  'RunSummary.fairnessKey':
    'Key by which it takes turns with other waiting runs; absent for the key that submitted it.',
  'RunSummary.queuedMs':
    'Time from the submission, or from `startAt`, to the start of its work, in milliseconds; absent until then.',
  'RunSummary.durationMs': 'Duration in milliseconds; null until the run has ended.',
  'RunSummary.taskCount': 'Number of tasks.',
  'RunSummary.completedTasks': 'Number of completed tasks.',
  'RunSummary.skippedTasks':
    'Number of skipped tasks: by a condition, by a failure before them, or by an early end.',
  'RunSummary.tags': 'Tags of the run.',
  'RunSummary.currentTask': 'Task that is running, with its index from 0; absent when none is.',
  'RunSummary.ensemble': 'Name of the ensemble.',
  'RunSummary.totalTokens': 'Tokens used so far by all attempts of all tasks; -1 when not known.',
  'RunSummary.totalToolCalls': 'Tool calls so far of all attempts of all tasks.',
  'RunSummary.costUsd': 'Estimated cost so far in US dollars; absent when a price is not known.',
  'RunSummary.openReviews':
    'Number of reviews that wait for a decision, without waits for events and times.',
  'RunSummary.submittedBy': 'Name of the key that submitted the run.',
  'RunSummary.completedAt': 'Time at which the run ended.',
  'RunSummary.error': 'Reason of the failure; the first 300 characters.',
  'RunSummary.threadId': 'Id of the thread that the run belongs to.',
  'RunSummary.build':
    'Build of the process that executed it last; absent until a process takes it.',
  'RunSummary.code': 'Digest of the code of its ensemble in that build.',
  'RunSummary.unreadable':
    'Reason why a part of the stored record cannot be read; the fields of that part are empty. Absent when all can be.',
  RunTaskDetail: 'Task of a run.',
  'RunTaskDetail.description': 'Description of the task, with its inputs filled in.',
  'RunTaskDetail.agentRole': 'Role of the agent that works on the task.',
  'RunTaskDetail.durationMs': 'Duration of the current attempt in milliseconds.',
  'RunTaskDetail.tokenCount': 'Tokens read and written in the current attempt; -1 when not known.',
  'RunTaskDetail.toolCallCount': 'Number of tool calls of the current attempt.',
  'RunTaskDetail.output': 'Output of the task.',
  'RunTaskDetail.outputOmitted':
    'Whether `output` was left out because the outputs of later tasks are long; the events of the run contain it.',
  'RunTaskDetail.index': 'Number of the task in its run (`taskIndex` of events), from 1.',
  'RunTaskDetail.attempt': 'Current attempt, from 1; 0 before the first.',
  'RunTaskDetail.error': 'Reason of the failure.',
  'RunTaskDetail.finishReason':
    'Reason why the last answer of the model ended; absent before the end and for a task without a model.',
  'RunTaskDetail.unreadable':
    'Reason why a part of the stored record cannot be read; the fields of that part are empty. Absent when all can be.',
  RunsCancelled:
    'Response of `POST /api/runs/cancel`: the status of each run that had the tag and had not ended.',
  'RunsCancelled.total': 'Number of runs.',
  ScheduleDetail: 'Schedule with the submission of its ticks.',
  'ScheduleDetail.run': 'Submission of each tick, as it was saved.',
  ScheduleList: 'Response of `GET /api/schedules`: all schedules, by name.',
  ScheduleQuery: 'Query of `GET /api/schedules/{name}`.',
  'ScheduleQuery.next': 'Maximum number of next ticks; 5 when absent.',
  ScheduleSummary: 'Schedule, as listed.',
  'ScheduleSummary.timeZone': 'Time zone of the expression.',
  'ScheduleSummary.ensemble': 'Name of the ensemble; absent for the first one.',
  'ScheduleSummary.jitterMs': 'Maximum delay of a tick in milliseconds.',
  'ScheduleSummary.paused': 'Whether the schedule has no ticks until it is resumed.',
  'ScheduleSummary.readOnly':
    'Whether the configuration of the server defines it, so that it cannot be changed here.',
  'ScheduleSummary.savedBy': 'Name of the key that saved it last, to which its runs belong.',
  'ScheduleSummary.next': 'Times of the next ticks, without jitter; empty while it is paused.',
  'ScheduleSummary.queued':
    'Times of earlier ticks that wait until the run of the last one has ended.',
  'ScheduleSummary.lastRun': 'The last tick that submitted a run.',
  'ScheduleSummary.problem':
    'The last tick without a run, if it is later than `lastRun`, and the reason.',
  Scope:
    'Permission of an API key. `admin` includes all others, and is required to drain the server and to read its audit log.',
  SendEventBody: 'Body of `POST /api/events/{name}`.',
  'SendEventBody.key':
    'Correlation key; only waits with the same key get the event. Absent: only waits without a key.',
  'SendEventBody.runId':
    'The only run whose waits get the event; the waits of all runs when absent.',
  'SendEventBody.data':
    'Data, up to 262,144 bytes of JSON; null when absent. It must match the schema of the wait.',
  'SendEventBody.id':
    'Id of the event, under which it counts once for 7 days, with `runId` until the run ends; random when absent.',
  ServerMessage:
    'Any message from server to client: replies, announcements, and every logged event. Narrows by `type`.',
  ServerStatus: 'Response of `GET /api/status`. Network pages read the last three fields.',
  'ServerStatus.clients': 'Number of open WebSocket connections.',
  'ServerStatus.port': 'Port on which the server listens.',
  'ServerStatus.queueDepth': 'Number of waiting runs, over all processes.',
  'ServerStatus.activeTasks': 'Number of tasks that run in the answering process.',
  'ServerStatus.sharedCapabilities': 'Tasks and tools that peers can request.',
  SetBuildShareBody: 'Body of `POST /api/builds/{build}/share`.',
  'SetBuildShareBody.share': 'Percentage of new runs that the build gets while older builds live.',
  SharedCapability: 'Task or tool that an ensemble shares with its peers.',
  'SharedCapability.tags': 'Tags by which a `capability_query` finds it.',
  SharedInfo: 'Task or tool that peers can request.',
  'SharedInfo.tags': 'Tags by which a `capability_query` finds it.',
  SocketQuery: 'Query of the URL of a WebSocket.',
  'SocketQuery.ticket': 'Ticket, for browsers that cannot send a key.',
  'SocketQuery.snapshot':
    'With `none`, `hello` contains no runs, turns or reviews, and no event is sent before `subscribe` requests it; `all` when absent.',
  StateQuery:
    'Requests runs, one run, a comparison, the builds or the capabilities, in the form of the REST responses.',
  'StateQuery.requestId': 'Repeated in the reply.',
  'StateQuery.runId': 'Id of the run; required for `run_detail`.',
  'StateQuery.filter': 'Filter for `runs`.',
  'StateQuery.compare': 'Runs to compare; required for `comparison`.',
  StateResponse: 'Reply to `state_query`, in the form of the REST response of that name.',
  'StateResponse.requestId': "The request's id.",
  StreamedRunEvent: 'Event as a stream sends it.',
  SubmitRunBody: 'Body of `POST /api/runs`.',
  'SubmitRunBody.inputs': 'Values of the template variables.',
  'SubmitRunBody.tasks': "Tasks to run instead of the ensemble's.",
  'SubmitRunBody.taskOverrides': 'Changes by task name, or by the start of a task description.',
  'SubmitRunBody.options': 'Settings of the run.',
  'SubmitRunBody.budget': 'Limits of the run; a run that exceeds one fails and keeps its results.',
  'SubmitRunBody.tags': 'Metadata by which the run can be found.',
  'SubmitRunBody.ensemble': 'Name of the ensemble; the first one when absent.',
  'SubmitRunBody.runId': 'Id chosen by the client; the server generates one when absent.',
  'SubmitRunBody.build':
    'Build that executes the run, which must live; chosen by the shares of the builds when absent.',
  'SubmitRunBody.history':
    'Messages of the conversation before this run, oldest first. Every agent of the run gets them.',
  'SubmitRunBody.clientTools':
    'Tools that the client executes. Every agent of the run may call them.',
  'SubmitRunBody.threadId':
    'Id of an existing thread: the run becomes its next one, and its agents get the messages of the earlier runs. Cannot be combined with `history`.',
  'SubmitRunBody.webhooks': 'Names of registered webhooks that are notified of the run.',
  'SubmitRunBody.startAt':
    'Time before which the run does not start, at most 366 days ahead. A time in the past starts it at once.',
  'SubmitRunBody.startAfterMs':
    'The same as a delay in milliseconds, up to 366 days. Cannot be combined with `startAt`.',
  'SubmitRunBody.priority':
    'Runs of a higher priority start before all others that wait; `normal` when absent.',
  'SubmitRunBody.fairnessKey':
    'Runs of one priority take turns by this key when they wait, one run each, such as by customer; the name of the key that submits the run when absent.',
  'SubmitRunBody.maxQueueMs':
    'Maximum time from the time at which the run may start to the start of its work, in milliseconds, up to 366 days. A run that has not begun by then fails with QUEUE_TIMEOUT. No limit when absent.',
  SubmitRunQuery: 'Query of `POST /api/runs`.',
  'SubmitRunQuery.wait':
    'Seconds to wait for the end of the run. The response is 200 with the run if it ends in time, else 202. The run continues when the caller disconnects.',
  'SubmitRunQuery.events':
    'Event types to stream, separated by commas; all when absent. Only with `Accept: text/event-stream`.',
  'SubmitRunQuery.repeats':
    'With `omit`, each long text is sent once; events that repeat it refer to it in `repeats`. Only with `Accept: text/event-stream`.',
  Subscribe: 'Selects the messages that this connection gets.',
  'Subscribe.requestId': 'Repeated in the reply.',
  'Subscribe.events': 'Message types; empty or with `*` for all.',
  'Subscribe.runId': 'Only messages of this run; all runs when absent.',
  'Subscribe.from':
    "First `seq` to send from the run's log; a negative number counts from the end. Only new events when absent.",
  'Subscribe.repeats':
    'With `omit`, each long text is sent once; events that repeat it refer to it in `repeats`. Requires `from`.',
  SubscribeAck: 'Reply to `subscribe`: the subscription that is now in effect.',
  'SubscribeAck.requestId': "The request's id.",
  'SubscribeAck.events': 'Message types; empty for all.',
  'SubscribeAck.runId': 'Only messages of this run; all runs when absent.',
  'SubscribeAck.from':
    '`seq` of the first event that will be sent; present when a position was requested.',
  SwitchModelBody: 'Body of `POST /api/runs/{runId}/model`.',
  'SwitchModelBody.model': 'Alias of a model in the catalog; either it or `tier` is required.',
  'SwitchModelBody.tier':
    'Name of a model tier, such as PRIMARY or FALLBACK; used instead of `model`.',
  'SwitchModelBody.taskName': 'Name of the only task that switches; the whole run when absent.',
  TaskAccepted: 'A `task_request` was accepted; `task_response` follows.',
  'TaskAccepted.requestId': "The request's id.",
  'TaskAccepted.runId': 'Run that executes the task; it can be cancelled by this id.',
  'TaskAccepted.queuePosition': 'Position in the queue.',
  TaskAgentBody: 'Agent of a task.',
  'TaskAgentBody.role': 'Role, unique among the agents of the task.',
  'TaskAgentBody.goal': 'Goal, as part of the system message.',
  'TaskAgentBody.background': 'Background, as context for its work.',
  'TaskAgentBody.instructions': 'System message instead of the role, the goal and the background.',
  'TaskAgentBody.tools':
    "Names of tools in the server's catalog. The first agent also has those of the task.",
  'TaskAgentBody.model':
    "Alias of a model in the server's catalog. That of the task, else that of the ensemble when absent.",
  'TaskAgentBody.maxIterations': 'Maximum number of model turns. That of the task when absent.',
  'TaskAgentBody.handoffs': 'Agents to which it may hand off the conversation. None when absent.',
  TaskAttemptFailed:
    'An attempt failed or was rejected by a reviewer (code REVIEW_REJECTED), and another one follows: a `task_started` with the next attempt. It is a separate event because viewers show a task as finally failed after `task_failed`.',
  'TaskAttemptFailed.taskIndex': 'Number of the task in its run, from 1.',
  'TaskAttemptFailed.taskDescription': 'Description of the task, with its inputs filled in.',
  'TaskAttemptFailed.agentRole': 'Role of the agent that works on the task.',
  'TaskAttemptFailed.reason': 'Reason of the failure.',
  'TaskAttemptFailed.taskName': 'Name of the task; unique in its run.',
  'TaskAttemptFailed.attempt': 'Attempt of the task, from 1.',
  'TaskAttemptFailed.durationMs': 'Duration of this attempt in milliseconds.',
  'TaskAttemptFailed.code':
    'Failure code; open text, so that an older reader can read a newer log.',
  'TaskAttemptFailed.inputTokens': 'Tokens read in this attempt; -1 when not known.',
  'TaskAttemptFailed.outputTokens': 'Tokens written in this attempt; -1 when not known.',
  'TaskAttemptFailed.toolCallCount': 'Number of tool calls of this attempt.',
  'TaskAttemptFailed.costUsd':
    'Estimated cost of this attempt in US dollars; absent when no price is known.',
  'TaskAttemptFailed.cachedInputTokens':
    'Part of `inputTokens` that was read from a cache of the provider; absent when not known.',
  'TaskAttemptFailed.reasoningTokens':
    'Part of `outputTokens` that models used to reason; absent when not known.',
  'TaskAttemptFailed.finishReason':
    'Reason why the last answer of the model ended; present when that failed the attempt.',
  'TaskAttemptFailed.refusal': 'Text of the provider about a refusal or a blocked answer.',
  'TaskAttemptFailed.willRetry': 'Always true.',
  TaskCompleted:
    'A task completed, after its review. Tokens, tool calls and cost are those of this attempt.',
  'TaskCompleted.taskIndex': 'Number of the task in its run, from 1.',
  'TaskCompleted.totalTasks': 'Number of tasks of the run.',
  'TaskCompleted.taskDescription': 'Description of the task, with its inputs filled in.',
  'TaskCompleted.agentRole': 'Role of the agent that works on the task.',
  'TaskCompleted.durationMs': 'Duration of this attempt in milliseconds.',
  'TaskCompleted.tokenCount': 'Tokens read and written in this attempt; -1 when not known.',
  'TaskCompleted.toolCallCount': 'Number of tool calls of this attempt.',
  'TaskCompleted.taskName': 'Name of the task; unique in its run.',
  'TaskCompleted.attempt': 'Attempt of the task, from 1.',
  'TaskCompleted.output': 'Output of the task.',
  'TaskCompleted.structuredOutput':
    'Output as a JSON value; present when the task declares an output schema.',
  'TaskCompleted.parts':
    'Files, URLs and data that a handler returned; A2A clients get them instead of `output`.',
  'TaskCompleted.inputTokens': 'Tokens read in this attempt; -1 when not known.',
  'TaskCompleted.outputTokens': 'Tokens written in this attempt; -1 when not known.',
  'TaskCompleted.iterationLimitReached':
    'Whether the agent had to answer because its model turns were used up.',
  'TaskCompleted.costUsd':
    'Estimated cost of this attempt in US dollars; absent when no price is known.',
  'TaskCompleted.cachedInputTokens':
    'Part of `inputTokens` that was read from a cache of the provider; absent when not known.',
  'TaskCompleted.reasoningTokens':
    'Part of `outputTokens` that models used to reason; absent when not known.',
  'TaskCompleted.finishReason':
    'Reason why the last answer of the model ended; `length` when a truncated answer was accepted. Absent for a task without a model.',
  'TaskCompleted.outputGiven':
    'Present if the request of a fork gave the output, so no agent was called.',
  TaskDefinitionBody: 'Task that a request defines.',
  'TaskDefinitionBody.name': 'Name of the task; other tasks refer to it as `$name`.',
  'TaskDefinitionBody.description':
    'Instructions for the agent; `{name}` is replaced by the input of that name. Required unless the task runs an ensemble.',
  'TaskDefinitionBody.expectedOutput': 'Description of the expected output, for the agent.',
  'TaskDefinitionBody.tools': "Names of tools in the server's catalog.",
  'TaskDefinitionBody.model': "Alias of a model in the server's catalog.",
  'TaskDefinitionBody.maxIterations': 'Maximum number of model turns; 25 when absent.',
  'TaskDefinitionBody.outputSchema':
    'JSON Schema that the output must match; the server also validates the schema itself.',
  'TaskDefinitionBody.review': 'Review of the output.',
  'TaskDefinitionBody.beforeReview': 'Review before the task begins.',
  'TaskDefinitionBody.additionalContext': 'Additional text for the agent.',
  'TaskDefinitionBody.instructions':
    'System message of the agent. With it, the model gets the description as it is, without headings: plain chat. An empty text sends no system message.',
  'TaskDefinitionBody.maxOutputTokens':
    'Maximum number of output tokens of each model call. A longer answer is cut, and fails the task.',
  'TaskDefinitionBody.allowEmptyOutput':
    'Whether an empty last answer of the agent is a valid output. False when absent: the task then fails with OUTPUT_EMPTY.',
  'TaskDefinitionBody.agents':
    'Agents of the task. The first one begins; the one that has the conversation last gives the answer. If the task itself has `model`, `maxIterations` or `instructions`, the first agent has these. When absent, the description decides the role.',
  'TaskDefinitionBody.maxHandoffs':
    'Maximum number of handoffs between the agents of the task; after them an agent must answer itself. 10 when absent.',
  'TaskDefinitionBody.context': 'Tasks whose output this task gets; it waits for them.',
  'TaskDefinitionBody.forEach':
    'Adds a task for each item of a list. The other fields define the task of one item; the output is the list of all outputs.',
  'TaskDefinitionBody.loop':
    'Repeats the task in rounds. The other fields define a round. With `forEach`, the task of each item is repeated.',
  'TaskDefinitionBody.waitFor':
    'Waits for external events instead of calling a model. The output is `{ arrived, data, name, eventId }`, and with `all` `{ arrived, events }` with that of each event.',
  'TaskDefinitionBody.ensemble':
    'Name of an ensemble of the server whose tasks the task adds to the run. It has no agent, so it has no fields for one.',
  'TaskDefinitionBody.inputs':
    'Inputs of its ensemble by name: a text such as `{city}`, an output as `$task`, or a field of one as `$task.field`. Text that begins with `$` begins with `$$`. The run has the other inputs.',
  'TaskDefinitionBody.output':
    'Name of the task of its ensemble whose output it has. It fails if conditions skip that one. The last completed task when absent.',
  'TaskDefinitionBody.when':
    "Condition in CEL, such as `outputs.classify.kind == 'bug'`, over `inputs` (texts) and `outputs` of other tasks. The task is skipped if it is false. The task always runs when absent.",
  'TaskDefinitionBody.switch':
    'Name of a switch. Of the tasks with this name only the first one whose `when` is true runs; one without `when` is the last.',
  TaskFailed:
    'A task failed or was rejected by a reviewer (code REVIEW_REJECTED). Tokens, tool calls and cost are those of its last attempt.',
  'TaskFailed.taskIndex': 'Number of the task in its run, from 1.',
  'TaskFailed.taskDescription': 'Description of the task, with its inputs filled in.',
  'TaskFailed.agentRole': 'Role of the agent that works on the task.',
  'TaskFailed.reason': 'Reason of the failure.',
  'TaskFailed.taskName': 'Name of the task; unique in its run.',
  'TaskFailed.attempt': 'Attempt of the task, from 1.',
  'TaskFailed.durationMs': 'Duration of this attempt in milliseconds.',
  'TaskFailed.code': 'Failure code; open text, so that an older reader can read a newer log.',
  'TaskFailed.inputTokens': 'Tokens read in this attempt; -1 when not known.',
  'TaskFailed.outputTokens': 'Tokens written in this attempt; -1 when not known.',
  'TaskFailed.toolCallCount': 'Number of tool calls of this attempt.',
  'TaskFailed.costUsd':
    'Estimated cost of this attempt in US dollars; absent when no price is known.',
  'TaskFailed.cachedInputTokens':
    'Part of `inputTokens` that was read from a cache of the provider; absent when not known.',
  'TaskFailed.reasoningTokens':
    'Part of `outputTokens` that models used to reason; absent when not known.',
  'TaskFailed.finishReason':
    'Reason why the last answer of the model ended; present when that failed the attempt.',
  'TaskFailed.refusal': 'Text of the provider about a refusal or a blocked answer.',
  'TaskFailed.willRetry': 'Always false.',
  TaskInput: 'Input of the agent, before its first model call.',
  'TaskInput.taskIndex':
    'Number of the task in its run, from 1; 0 from servers that do not number delegated tasks.',
  'TaskInput.taskDescription': 'Description of the task, with its inputs filled in.',
  'TaskInput.expectedOutput': 'Expected output, with its inputs filled in.',
  'TaskInput.agentRole': 'Role of the agent.',
  'TaskInput.agentGoal': 'Goal of the agent; the description of the task if the agent has none.',
  'TaskInput.agentBackground': 'Background of the agent; null when it has none.',
  'TaskInput.toolNames': "Names of the agent's tools.",
  'TaskInput.assembledContext':
    'Outputs of other tasks as the agent gets them; truncated at 8,000 characters.',
  'TaskInput.taskName': 'Name of the task; unique in its run.',
  'TaskInput.attempt': 'Attempt of the task, from 1.',
  TaskOverrideBody:
    'Changes to one task of the ensemble, for this run. Those to a task that adds tasks apply to the task of each item or round.',
  'TaskOverrideBody.description':
    'Instructions for the agent; `{name}` is replaced by the input of that name.',
  'TaskOverrideBody.expectedOutput': 'Description of the expected output, for the agent.',
  'TaskOverrideBody.model': "Alias of a model in the server's catalog.",
  'TaskOverrideBody.maxIterations': 'Maximum number of model turns.',
  'TaskOverrideBody.maxHandoffs': 'Maximum number of handoffs between the agents of the task.',
  'TaskOverrideBody.additionalContext': 'Additional text for the agent.',
  'TaskOverrideBody.tools': 'Tools to add or remove, by name.',
  'TaskOverrideBody.review': 'Review of the output.',
  'TaskOverrideBody.beforeReview': 'Review before the task begins.',
  'TaskOverrideBody.forEach': 'Limits of a task for each item of a list.',
  'TaskOverrideBody.loop': 'Limits of a task that is repeated.',
  TaskProgress: 'Progress of a requested task.',
  'TaskProgress.requestId': "The request's id.",
  'TaskProgress.percentComplete': 'Completed part in percent.',
  TaskRequest: 'Requests a shared task.',
  'TaskRequest.requestId':
    'Identifies the request in replies; a repeated request has no further effect.',
  'TaskRequest.task': 'Name of the task.',
  'TaskRequest.context': 'Input for the task, in natural language.',
  'TaskRequest.deadline': 'Time from now until the result is needed, up to 100 years.',
  'TaskRequest.maxAge': 'Maximum age of a cached result, up to 100 years: a duration, or seconds.',
  TaskResponse: 'End of a requested task.',
  'TaskResponse.requestId': "The request's id.",
  'TaskResponse.result': 'Result; present with COMPLETED.',
  'TaskResponse.error': 'Reason of the failure or rejection.',
  'TaskResponse.durationMs': 'Duration in milliseconds.',
  TaskReviewBody: 'Review of a task.',
  'TaskReviewBody.timeoutMs':
    'Time limit for the reviewer in milliseconds, up to 100 years; 0 means no limit.',
  'TaskReviewBody.onTimeout': 'Action when no decision arrives in time.',
  'TaskReviewBody.requiredRole': 'Role that the key of the reviewer must have.',
  'TaskReviewBody.prompt': 'Question for the reviewer.',
  'TaskReviewBody.maxRevisions':
    'Number of times that REJECT repeats the task before it fails; 5 when absent.',
  TaskReviewSetting: 'Whether and how a task is reviewed.',
  TaskSkipped:
    'A task will not run: by a condition, because a task that it needs failed, or because the run ends.',
  'TaskSkipped.taskIndex': 'Number of the task in its run, from 1.',
  'TaskSkipped.taskName': 'Name of the task; unique in its run.',
  'TaskSkipped.taskDescription': 'Description of the task, with its inputs filled in.',
  'TaskSkipped.reason': 'Reason why the task is skipped.',
  'TaskSkipped.cause':
    'CONDITION if a condition skips the task: its own, or those of all tasks that it needs. The run can still be completed. Absent otherwise.',
  TaskStarted: 'An attempt of a task begins.',
  'TaskStarted.taskIndex': 'Number of the task in its run, from 1.',
  'TaskStarted.totalTasks': 'Number of tasks of the run.',
  'TaskStarted.taskDescription': 'Description of the task, with its inputs filled in.',
  'TaskStarted.agentRole': 'Role of the agent that works on the task.',
  'TaskStarted.taskName': 'Name of the task; unique in its run.',
  'TaskStarted.attempt': 'Attempt of the task, from 1.',
  TaskStatus: 'Status of one task of a run.',
  TaskTrace: "Task of a trace. Recursive: a delegation contains the trace of the worker's task.",
  'TaskTrace.prompts': 'Prompts of the task; null when they are not captured.',
  'TaskTrace.finalOutput': 'Output of the task; null unless the attempt completed.',
  'TaskTrace.parsedOutput': 'Output as a JSON value.',
  'TaskTrace.nodeType':
    'Role in an adaptive map-reduce run: `map`, `reduce`, `final-reduce` or `direct`.',
  Thread: 'Conversation that consists of runs; each knows the messages of the earlier ones.',
  'Thread.threadId': 'Id of the thread.',
  'Thread.title': 'Title for people.',
  'Thread.tags': 'Tags of the thread.',
  'Thread.updatedAt':
    'Time at which its newest run was submitted; for a thread without one, the time at which it was created.',
  'Thread.createdBy': 'Name of the key that created the thread.',
  'Thread.runCount': 'Number of its stored runs.',
  'Thread.newestRun': 'Its newest run; absent when it has none.',
  'Thread.unreadable':
    'Reason why a part of the stored record cannot be read; the fields of that part are empty. Absent when all can be.',
  ThreadList:
    'Response of `GET /api/threads`: one page, the thread with the newest submission first. A page ends early at 1 MB.',
  'ThreadList.nextCursor': 'Cursor of the next page; absent on the last one.',
  ThreadRun: 'Run of a thread, as messages.',
  'ThreadRun.runId': 'Id of the run.',
  'ThreadRun.ensemble': 'Name of the ensemble.',
  'ThreadRun.submittedAt': 'Time at which the run was accepted.',
  'ThreadRun.completedAt': 'Time at which the run ended.',
  'ThreadRun.error': 'Reason of the failure; the first 300 characters.',
  'ThreadRun.userMessage':
    'The run as a message of the user: its only input, else all inputs as JSON, else the description of its first task.',
  'ThreadRun.assistantMessage':
    'Output of its output task, or of a run that ended without one the text so far; absent when there is none.',
  'ThreadRun.unreadable':
    'Reason why a part of the stored record cannot be read; the fields of that part are empty. Absent when all can be.',
  ThreadRunList:
    'Response of `GET /api/threads/{threadId}/runs`: one page, newest first. A page ends early at 1 MB; the next page begins at `nextCursor`.',
  'ThreadRunList.nextCursor': 'Cursor of the next page; absent on the last one.',
  ThreadRunsQuery: 'Query of `GET /api/threads/{threadId}/runs`.',
  'ThreadRunsQuery.limit': 'Maximum number of runs; 50 when absent.',
  'ThreadRunsQuery.cursor': '`nextCursor` of the page before.',
  Ticket:
    'Response of `POST /api/tickets`. A ticket replaces a key in the query `ticket` of a WebSocket or an event stream, where browsers cannot send headers. Until it expires it has all permissions of its key.',
  'Ticket.ticket': 'Ticket to send.',
  'Ticket.expiresAt': 'Time at which the ticket expires.',
  Token: 'Part of a streamed answer; it can contain several tokens of the model.',
  'Token.token': 'Text to append.',
  'Token.agentRole': 'Role of the agent.',
  'Token.taskDescription': 'Description of the task, with its inputs filled in.',
  'Token.taskName': 'Name of the task; unique in its run.',
  'Token.taskIndex': 'Number of the task in its run, from 1.',
  'Token.attempt': 'Attempt of the task, from 1.',
  'Token.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  ToolCallTrace: 'Tool call of a trace.',
  'ToolCallTrace.arguments': 'Arguments as the model wrote them: JSON text.',
  'ToolCallTrace.result': 'Text that the model receives.',
  'ToolCallTrace.structuredOutput': 'Result as a JSON value.',
  'ToolCallTrace.outcome':
    'SUCCESS, FAILURE, ERROR or SKIPPED_MAX_ITERATIONS; readers must accept other values.',
  'ToolCallTrace.parsedInput': 'Present only with capture mode FULL.',
  ToolCalled:
    'A tool call ended. The steps of a tool that calls other tools come before its own event.',
  'ToolCalled.agentRole': 'Role of the agent.',
  'ToolCalled.taskIndex':
    'Number of the task in its run, from 1; 0 from servers that do not number delegated tasks.',
  'ToolCalled.durationMs': 'Duration of the call in milliseconds.',
  'ToolCalled.toolArguments': 'Arguments as the model wrote them: JSON text.',
  'ToolCalled.toolResult': 'Text that the model receives; `Error: …` after a failure.',
  'ToolCalled.structuredResult': 'Result as a JSON value; null when there is none.',
  'ToolCalled.taskName': 'Name of the task; unique in its run.',
  'ToolCalled.attempt': 'Attempt of the task, from 1.',
  'ToolCalled.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  'ToolCalled.toolCallId': 'Tool-call id assigned by the model.',
  'ToolCalled.parentToolCallId':
    'Id of the call that this step belongs to; absent on a call of the model.',
  'ToolCalled.completedAt': 'Time at which the call ended; it began `durationMs` earlier.',
  ToolInfo: 'Tool of the catalog.',
  'ToolInfo.inputSchema': "JSON Schema of the tool's input.",
  ToolInvocation:
    'Response of a tool call. A failure that the tool reports has the status FAILED, with HTTP status 200.',
  'ToolInvocation.tool': 'Name of the tool.',
  'ToolInvocation.output': 'Output of the tool; present with SUCCESS.',
  'ToolInvocation.durationMs': 'Duration of the call in milliseconds.',
  'ToolInvocation.errorMessage': 'Error of the tool; present with FAILED.',
  'ToolInvocation.structured': 'Result as a JSON value, for tools that return one.',
  ToolOutcome: 'Outcome of a tool call of a run, as in `tool_called`.',
  ToolProgressed: 'A tool reports the progress of its call.',
  'ToolProgressed.agentRole': 'Role of the agent.',
  'ToolProgressed.taskName': 'Name of the task; unique in its run.',
  'ToolProgressed.taskIndex': 'Number of the task in its run, from 1.',
  'ToolProgressed.attempt': 'Attempt of the task, from 1.',
  'ToolProgressed.iterationIndex': 'Number of the turn, from 0 in each attempt.',
  'ToolProgressed.toolCallId': 'Tool-call id assigned by the model.',
  'ToolProgressed.message': 'Description of the progress.',
  'ToolProgressed.fraction': 'Completed part, from 0 to 1; absent when the tool does not know it.',
  ToolRequest: 'Requests one call of a shared tool.',
  'ToolRequest.requestId':
    'Identifies the request in replies; a repeated request has no further effect.',
  'ToolRequest.from': 'Absent for a client that is not an ensemble.',
  'ToolRequest.tool': 'Name of the tool.',
  'ToolRequest.input': 'Input of the tool.',
  ToolResponse: 'End of a requested tool call.',
  'ToolResponse.requestId': "The request's id.",
  'ToolResponse.result': 'Result; present with COMPLETED.',
  'ToolResponse.error': 'Reason of the failure or rejection.',
  'ToolResponse.durationMs': 'Duration in milliseconds.',
  TraceContextFields: 'W3C trace context, as in the headers of the same names.',
  TraceCost: 'Estimated cost. Exporters write numbers; the types of some viewers declare text.',
  TraceMetrics: 'Metrics of the whole run.',
  'TraceMetrics.totalInputTokens': '-1 when not known.',
  'TraceMetrics.totalOutputTokens': '-1 when not known.',
  'TraceMetrics.totalTokens': '-1 when not known.',
  'TraceMetrics.taskMetrics': 'Metrics of the last task of each agent, by agent role.',
  'TraceMetrics.totalCostEstimate': 'Estimated cost; null when prices are not known.',
  TraceTaskMetrics: 'Metrics of one task.',
  'TraceTaskMetrics.inputTokens': '-1 when not known.',
  'TraceTaskMetrics.outputTokens': '-1 when not known.',
  'TraceTaskMetrics.totalTokens': '-1 when not known.',
  'TraceTaskMetrics.llmLatency': 'Duration of all model calls.',
  'TraceTaskMetrics.toolExecutionTime': 'Duration of all tool calls.',
  'TraceTaskMetrics.costEstimate': 'Estimated cost; null when prices are not known.',
  WaitForBody: 'Wait for external events, at most until a time.',
  'WaitForBody.event': 'One event, any of several, or all of several.',
  'WaitForBody.key':
    'Correlation key of the events; `{name}` is replaced by the input of that name. Events without a key when absent.',
  'WaitForBody.schema': 'JSON Schema of the event data; any JSON when absent.',
  'WaitForBody.timeoutMs':
    'Maximum time from the opening of the wait, in milliseconds; no limit when absent.',
  'WaitForBody.until': 'Time at which the wait ends; no limit when absent.',
  'WaitForBody.review':
    'Whether people may answer too, with data that matches the schema; false when absent.',
  WebhookDelivery:
    'Body of a delivery. Its headers are `webhook-id`, `webhook-timestamp` and `webhook-signature`.',
  WebhookEventType: 'Event that a webhook can be notified about.',
  Workflow: 'Order in which the tasks of a run execute.',
  WorkspaceEntry: 'File or directory of the workspace.',
  'WorkspaceEntry.size': 'Size in bytes; absent for directories.',
  'WorkspaceEntry.lastModified': 'Time of the last change.',
  WorkspaceFileQuery: 'Query of `GET /api/workspace/file`.',
  'WorkspaceFileQuery.path': 'File relative to the root of the workspace.',
  WorkspaceFiles: 'Response of `GET /api/workspace/files`, an array.',
  WorkspaceFilesQuery: 'Query of `GET /api/workspace/files`.',
  'WorkspaceFilesQuery.path':
    'Directory relative to the root of the workspace; the root when absent.',
}
