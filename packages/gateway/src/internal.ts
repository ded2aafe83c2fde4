/**
 * Runs as tasks of other protocols. The server mounts the routes behind its own authentication, limits and audit trail, and
 * shares the building blocks below.
 *
 * For the other packages of Tutti only: its names may change in every version.
 */
export { gatewayRoutes } from './gateway-routes.ts'
export { isOpenAiPath, toOpenAiResponse } from './openai/errors.ts'
export { cancelOrphans, OrphanWatch } from './service/orphans.ts'
export {
  assertShared,
  findShared,
  sharedCapabilities,
  sharedEnsembles,
  sharedTagsOf,
  sharedTools,
} from './service/sharing.ts'
export type {
  ConnectionDialect,
  ExtensionConnection,
  ExtensionMessage,
  ExtensionMessageType,
  Greeting,
  MessageOf,
  ServerExtension,
} from './extension.ts'
export { type BeginRequest, GatewayService } from './service/gateway-service.ts'
export { type GatewayCall, recordedCall } from './service/gateway-call.ts'
export {
  describeExceededLimit,
  resolveLimits,
  type RunLimits,
  type UsageLimits,
} from './service/caller-limits.ts'
export { readMessageDecision, type ReviewAsked } from './service/decision-in-text.ts'
export { describeCancel } from './service/describe-cancel.ts'
export { parseInputs } from './service/inputs-in-text.ts'
export { toCacheKey, toRequestKey } from './service/request-key.ts'
export {
  API_VERSION,
  type GatewayOptions,
  type Shared,
  type Sharing,
  type Signer,
} from './gateway-options.ts'
export { actorOf, anyone, assertScope, type Caller, hasScope, mayDecide } from './caller.ts'
export {
  type AddSubject,
  audited,
  type AuditSubject,
  isAudited,
  TASK_WITHOUT_RESULT,
} from './http/audited.ts'
export { cancelUnlessOver } from './runs/cancel-run.ts'
export { deleteRun } from './runs/delete-run.ts'
export { createThreadAs } from './runs/create-thread.ts'
export { deleteThread } from './runs/delete-thread.ts'
export { decideReview } from './runs/decide-review.ts'
export { assertMayRead, assertMayReadThread } from './runs/run-rights.ts'
export { cancelScope, decisionScope, findDecisionScope, isOwn } from './runs/run-rights.ts'
export {
  findPlace,
  findRecord,
  findRun,
  locateRun,
  type ReadingPlace,
  resolvePlace,
  runNotFound,
} from './runs/find-run.ts'
export {
  type ForkContent,
  forkRunAs,
  previewForkAs,
  replayRunAs,
  type SubmissionOptions,
  submitAndFollowAs,
  submitRunAs,
  assertWebhooks,
} from './runs/submit-run.ts'
export { waitForEnd, type WaitOptions } from './runs/wait-for-end.ts'
export { findTool, invokeCatalogTool } from './tools/invoke-tool.ts'
export { durationMs, WANTED_DURATION } from './duration-ms.ts'
export { badRequest, type WireError } from './http/api-error.ts'
export { setBodySource } from './http/body-source.ts'
export {
  encodeEventBytes,
  runEventsEncoder,
  STREAM_HEADERS,
  type StreamAnswer,
  writeEvents,
} from './http/event-stream.ts'
export { largeJson, largeResponse } from './http/large-json.ts'
export { LargeReads } from './http/large-reads.ts'
export { RepeatOmitter } from './http/omit-repeats.ts'
export {
  errorHeaders,
  type ErrorReporting,
  type Redactor,
  reportError,
  toResponse,
} from './http/on-error.ts'
export { parseJsonBytes } from './http/parse-json.ts'
export {
  assertJson,
  LARGE_BODY_BYTES,
  readJsonBody,
  readUntypedJsonBody,
} from './http/read-body.ts'
export type { HttpRoute, HttpRouteCall, RouteAnswer } from './http/route.ts'
export { readIdempotencyKey, readTrace } from './http/request-headers.ts'
