/** Lists the checks of the MCP conformance suite that this server fails, with reasons. The test requires an exact list. */

/** Checks that fail for one reason, as `scenario:check`, by revision of the specification. */
export interface Exception {
  readonly why: string
  readonly checks: Readonly<Partial<Record<Revision, readonly string[]>>>
}

/** A revision of the specification that is tested. */
export type Revision = '2025-11-25' | '2026-07-28'

/** Exceptions for version 0.2.0-alpha.12 of the suite. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    why: 'The resources of this server are its runs, not those that the suite reads by name; they cannot be subscribed to',
    checks: {
      '2025-11-25': [
        'resources-read-binary:resources-read-binary',
        'resources-read-text:resources-read-text',
        'resources-subscribe:resources-subscribe',
        'resources-templates-read:resources-templates-read',
        'resources-unsubscribe:resources-unsubscribe',
      ],
      '2026-07-28': [
        'resources-read-binary:resources-read-binary',
        'resources-read-text:resources-read-text',
        'resources-templates-read:resources-templates-read',
      ],
    },
  },
  {
    why: 'The prompts of this server are its ensembles, not those that the suite gets by name',
    checks: {
      '2025-11-25': [
        'prompts-get-embedded-resource:prompts-get-embedded-resource',
        'prompts-get-simple:prompts-get-simple',
        'prompts-get-with-args:prompts-get-with-args',
        'prompts-get-with-image:prompts-get-with-image',
      ],
      '2026-07-28': [
        'input-required-result-non-tool-request:sep-2322-non-tool-incomplete',
        'prompts-get-embedded-resource:prompts-get-embedded-resource',
        'prompts-get-simple:prompts-get-simple',
        'prompts-get-with-args:prompts-get-with-args',
        'prompts-get-with-image:prompts-get-with-image',
      ],
    },
  },
  {
    why: 'Arguments of prompts and ids of runs are not completed',
    checks: {
      '2025-11-25': ['completion-complete:completion-complete'],
      '2026-07-28': ['completion-complete:completion-complete'],
    },
  },
  {
    why: "Logs of the server are its operator's; what a client may know of a run comes as progress",
    checks: {
      '2025-11-25': [
        'logging-set-level:logging-set-level',
        'tools-call-with-logging:tools-call-with-logging',
      ],
    },
  },
  {
    why: 'Tools of Tutti give text and JSON values, no images, sounds or resources',
    checks: {
      '2025-11-25': [
        'tools-call-audio:tools-call-audio',
        'tools-call-embedded-resource:tools-call-embedded-resource',
        'tools-call-image:tools-call-image',
        'tools-call-mixed-content:tools-call-mixed-content',
      ],
      '2026-07-28': [
        'tools-call-audio:tools-call-audio',
        'tools-call-embedded-resource:tools-call-embedded-resource',
        'tools-call-image:tools-call-image',
        'tools-call-mixed-content:tools-call-mixed-content',
      ],
    },
  },
  {
    why: 'Agents have models of their own: no tool asks the client for one, for its roots, or for any capability it lacks',
    checks: {
      '2025-11-25': ['tools-call-sampling:tools-call-sampling'],
      '2026-07-28': [
        'input-required-result-basic-list-roots:sep-2322-list-roots-incomplete',
        'input-required-result-basic-sampling:sep-2322-sampling-incomplete',
        'input-required-result-capability-check:sep-2322-respect-client-capabilities',
        'server-stateless:sep-2575-missing-capability-http-400',
        'server-stateless:sep-2575-server-rejects-undeclared-capability',
      ],
    },
  },
  {
    why: 'The one form of this server is that of a review; the suite wants forms of its own making',
    checks: {
      '2025-11-25': [
        'elicitation-sep1034-defaults:elicitation-sep1034-general',
        'elicitation-sep1330-enums:elicitation-sep1330-general',
        'tools-call-elicitation:tools-call-elicitation',
      ],
      '2026-07-28': [
        'input-required-result-basic-elicitation:sep-2322-elicitation-incomplete',
        'input-required-result-multi-round:sep-2322-multi-round-r1',
        'input-required-result-multiple-input-requests:sep-2322-multiple-inputs-incomplete',
        'input-required-result-request-state:sep-2322-request-state-incomplete',
      ],
    },
  },
  {
    why: 'Answers without the requestState belong to no run, and to begin a second run for them would be worse than an error',
    checks: {
      '2026-07-28': [
        'input-required-result-ignore-extra-params:sep-2322-ignore-unexpected-params',
        'input-required-result-missing-input-response:sep-2322-missing-response-rerequests',
      ],
    },
  },
  {
    why: 'No tool asks for its arguments in headers',
    checks: {
      '2026-07-28': [
        'http-custom-header-server-validation:sep-2243-server-decode-base64',
        'http-custom-header-server-validation:sep-2243-server-no-xmcp-tool',
        'http-custom-header-server-validation:sep-2243-server-reject-invalid-param-chars',
        'http-custom-header-server-validation:sep-2243-server-reject-param-mismatch',
        'http-custom-header-server-validation:sep-2243-server-validate-param-match',
      ],
    },
  },
  {
    why: 'A stream is not closed on purpose before its result; what became of a run whose stream broke is read over REST',
    checks: {
      '2025-11-25': [
        'server-sse-polling:server-sse-priming-event',
        'server-sse-polling:server-sse-retry-field',
      ],
    },
  },
  {
    why: 'The tasks extension is not offered: a call holds its stream open, and a run that outlives it is read over REST',
    checks: {
      '2026-07-28': [
        'tasks-capability-negotiation:sep-2663-server-rejects-undeclared-client',
        'tasks-capability-negotiation:sep-2663-tasks-methods-non-declaring',
        'tasks-capability-negotiation:tasks-extension-advertised',
        'tasks-capability-negotiation:tasks-per-request-meta-opt-in',
        'tasks-dispatch-and-envelope:sep-2663-durable-create-strong-consistency',
        'tasks-dispatch-and-envelope:sep-2663-legacy-task-param-ignored',
        'tasks-dispatch-and-envelope:sep-2663-tasks-get-invalid-task-id-32602',
        'tasks-dispatch-and-envelope:tasks-immediate-result-shortcut',
        'tasks-dispatch-and-envelope:tasks-result-type-complete-on-non-task-responses',
        'tasks-dispatch-and-envelope:tasks-server-directed-creation-no-hint',
        'tasks-lifecycle:sep-2663-cancel-ack-empty-result',
        'tasks-lifecycle:sep-2663-result-type-task-on-create',
        'tasks-lifecycle:sep-2663-tasks-get-status-completed',
        'tasks-lifecycle:sep-2663-tasks-get-status-failed',
        'tasks-lifecycle:sep-2663-tasks-get-status-working',
        'tasks-lifecycle:sep-2663-tool-error-uses-completed-status',
        'tasks-lifecycle:tasks-cancel-terminal-idempotent-ack',
        'tasks-lifecycle:tasks-sync-tool-call',
        'tasks-mrtr-composition:sep-2663-mrtr-synchronous-before-task-creation',
        'tasks-mrtr-input:sep-2663-tasks-get-status-input-required',
        'tasks-mrtr-input:tasks-mrtr-partial-fulfillment',
        'tasks-mrtr-input:tasks-mrtr-tasks-update-resumes',
        'tasks-request-headers:sep-2663-routing-headers-accepted-on-tasks-get',
        'tasks-request-headers:sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get',
        'tasks-request-headers:tasks-headers-tolerate-mcp-method-on-tools-call',
        'tasks-request-state-removal:tasks-request-state-removal-setup',
        'tasks-required-task-error:sep-2663-server-returns-missing-capability-when-required',
        'tasks-wire-fields:tasks-no-early-ttl-expiry',
        'tasks-wire-fields:tasks-no-related-task-meta-on-inlined-result',
        'tasks-wire-fields:tasks-wire-field-renames',
      ],
    },
  },
]
